CREATE TABLE meters (
  id    TEXT PRIMARY KEY,
  total INTEGER NOT NULL -- kWh
);

CREATE TABLE positions (
  topic       TEXT NOT NULL,
  partition   INTEGER NOT NULL,
  next_offset INTEGER NOT NULL,
  PRIMARY KEY (topic, partition)
);
