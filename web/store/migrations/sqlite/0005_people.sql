-- +goose Up
-- Who has an account. Candidates have none: their browser is theirs.
CREATE TABLE people (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  login        TEXT   NOT NULL UNIQUE CHECK (login <> ''),
  name         TEXT   NOT NULL CHECK (name <> ''),
  role         TEXT   NOT NULL CHECK (role IN ('owner', 'interviewer')),
  password     TEXT   NOT NULL, -- argon2id in its usual form, never the password
  created_at   BIGINT NOT NULL,
  signed_in_at BIGINT
);

-- Links that work once: who follows one gets a role or, for a person who is
-- there already, a new password. What was used is deleted, which no second
-- request can do, and stands in the table audit.
CREATE TABLE invitations (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash TEXT    NOT NULL UNIQUE,
  role       TEXT    NOT NULL CHECK (role IN ('owner', 'interviewer')),
  person_id  BIGINT  REFERENCES people (id) ON DELETE CASCADE,
  -- Printed by a start without an owner. They end together.
  first      BOOLEAN NOT NULL,
  note       TEXT    NOT NULL,
  made_by    BIGINT  REFERENCES people (id) ON DELETE CASCADE,
  created_at BIGINT  NOT NULL,
  expires_at BIGINT  NOT NULL,
  CHECK (NOT first OR (role = 'owner' AND person_id IS NULL))
);

CREATE TABLE sessions (
  token_hash  TEXT   PRIMARY KEY,
  person_id   BIGINT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  created_at  BIGINT NOT NULL,
  expires_at  BIGINT NOT NULL, -- moves on while the session is used
  deadline_at BIGINT NOT NULL, -- does not
  CHECK (expires_at <= deadline_at)
);
CREATE INDEX sessions_by_person ON sessions (person_id, created_at);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- Who did what with accounts. Names are copied: the log outlives the person.
CREATE TABLE audit (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  at        BIGINT NOT NULL,
  person_id BIGINT REFERENCES people (id) ON DELETE SET NULL,
  who       TEXT   NOT NULL,
  action    TEXT   NOT NULL CHECK (action <> ''),
  subject   TEXT   NOT NULL,
  network   TEXT   NOT NULL
);
CREATE INDEX audit_by_action ON audit (action, id);
CREATE INDEX audit_by_person ON audit (person_id, action);

-- +goose Down
DROP TABLE audit;
DROP TABLE sessions;
DROP TABLE invitations;
DROP TABLE people;
