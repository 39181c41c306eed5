CREATE TABLE orders (
  id      TEXT PRIMARY KEY,
  status  TEXT NOT NULL,
  version INTEGER NOT NULL
);
