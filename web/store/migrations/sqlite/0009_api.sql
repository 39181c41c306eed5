-- +goose Up
-- With a token a program acts as a person. Who is removed, signed out everywhere or
-- given a new password has none any more.
CREATE TABLE api_tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  person_id  BIGINT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  token_hash TEXT   NOT NULL UNIQUE,
  name       TEXT   NOT NULL CHECK (name <> ''),
  created_at BIGINT NOT NULL,
  expires_at BIGINT, -- NULL: it does not end by itself
  used_at    BIGINT
);
CREATE INDEX api_tokens_by_person ON api_tokens (person_id, id);

-- Addresses that are told what happens in sittings.
CREATE TABLE webhooks (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  url        TEXT   NOT NULL CHECK (url <> ''),
  secret     TEXT   NOT NULL CHECK (secret <> ''), -- as it is: requests are signed with it
  created_at BIGINT NOT NULL
);

-- What an address is told, written in the transaction in which it happened. It names
-- the candidate by number, and goes with the candidate.
CREATE TABLE webhook_deliveries (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id   BIGINT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  candidate_id BIGINT REFERENCES candidates (id) ON DELETE CASCADE, -- NULL: a test
  message_id   TEXT   NOT NULL, -- the same in every attempt
  event        TEXT   NOT NULL CHECK (event IN ('test', 'sitting.started', 'submission.graded', 'sitting.ended')),
  body         TEXT   NOT NULL,
  state        TEXT   NOT NULL CHECK (state IN ('waits', 'delivered', 'failed')),
  attempts     BIGINT NOT NULL DEFAULT 0,
  status       BIGINT NOT NULL DEFAULT 0, -- of the last answer; 0: there was none
  error        TEXT   NOT NULL DEFAULT '',
  created_at   BIGINT NOT NULL,
  tried_at     BIGINT,
  job_id       BIGINT,
  UNIQUE (webhook_id, message_id)
);
CREATE INDEX webhook_deliveries_by_candidate ON webhook_deliveries (candidate_id);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (job_id) WHERE state = 'waits';

-- +goose Down
DROP TABLE webhook_deliveries;
DROP TABLE webhooks;
DROP TABLE api_tokens;
