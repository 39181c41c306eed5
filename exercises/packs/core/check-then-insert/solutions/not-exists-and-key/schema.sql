CREATE TABLE accounts (
  id      TEXT PRIMARY KEY,
  balance INTEGER NOT NULL -- cents
);

CREATE TABLE charges (
  id         INTEGER PRIMARY KEY,
  payment_id TEXT NOT NULL UNIQUE,
  account    TEXT NOT NULL,
  amount     INTEGER NOT NULL -- cents
);
