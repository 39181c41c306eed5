CREATE TABLE orders (
  id     TEXT PRIMARY KEY,
  amount INTEGER NOT NULL -- cents
);

CREATE TABLE outbox (
  id       INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE,
  topic    TEXT NOT NULL,
  key      TEXT NOT NULL,
  value    TEXT NOT NULL,
  sent     INTEGER NOT NULL DEFAULT 0
);
