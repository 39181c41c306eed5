CREATE TABLE balances (
  customer TEXT PRIMARY KEY,
  points   INTEGER NOT NULL
);

CREATE TABLE processed_events (
  event_id TEXT PRIMARY KEY
);
