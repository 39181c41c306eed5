CREATE TABLE accounts (
  id      TEXT PRIMARY KEY,
  balance INTEGER NOT NULL -- cents
);

CREATE TABLE charges (
  id         INTEGER PRIMARY KEY,
  payment_id TEXT NOT NULL,
  account    TEXT NOT NULL,
  amount     INTEGER NOT NULL -- cents
);

CREATE TABLE processed_events (
  event_id     TEXT PRIMARY KEY,
  processed_at TEXT NOT NULL
);
