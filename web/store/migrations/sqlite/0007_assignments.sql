-- +goose Up
-- What interviewers ask of candidates.
CREATE TABLE assignments (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  person_id   BIGINT  REFERENCES people (id) ON DELETE SET NULL, -- owners see what nobody else does
  title       TEXT    NOT NULL CHECK (title <> ''),              -- for the interviewer
  note        TEXT    NOT NULL,                                  -- to the candidate
  lang        TEXT    NOT NULL CHECK (lang <> ''),
  minutes     BIGINT  NOT NULL CHECK (minutes = 0 OR (minutes >= 30 AND minutes <= 180)), -- 0: no limit
  opens_at    BIGINT,
  closes_at   BIGINT, -- when candidates begin at the latest; without a limit also the end
  warm_up     TEXT    NOT NULL,   -- an exercise before the clock, or ''
  hints       BOOLEAN NOT NULL,   -- what candidates see
  approaches  BOOLEAN NOT NULL,
  all_phases  BOOLEAN NOT NULL,   -- FALSE: of a verdict only the happy path
  retain_days BIGINT  NOT NULL CHECK (retain_days >= 1 AND retain_days <= 1000),
  open_hash   TEXT    UNIQUE,     -- of the token of a link for everybody
  created_at  BIGINT  NOT NULL,
  CHECK (closes_at IS NULL OR opens_at IS NULL OR closes_at > opens_at)
);
CREATE INDEX assignments_by_person ON assignments (person_id, id);

CREATE TABLE assignment_exercises (
  assignment_id BIGINT NOT NULL REFERENCES assignments (id) ON DELETE CASCADE,
  place         BIGINT NOT NULL CHECK (place >= 1),
  exercise      TEXT   NOT NULL,
  PRIMARY KEY (assignment_id, place),
  UNIQUE (assignment_id, exercise)
);

-- One row for each link that a candidate has, and the sitting behind it. What is
-- written in it belongs to a browser of its own, which no cookie can name; a
-- candidate is deleted with that browser.
CREATE TABLE candidates (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  assignment_id BIGINT  NOT NULL REFERENCES assignments (id) ON DELETE CASCADE,
  browser_id    BIGINT  NOT NULL UNIQUE REFERENCES browsers (id) ON DELETE CASCADE,
  token_hash    TEXT    NOT NULL UNIQUE,
  name          TEXT    NOT NULL CHECK (name <> ''),
  self          BOOLEAN NOT NULL, -- came by the open link and typed the name
  extra_minutes BIGINT  NOT NULL CHECK (extra_minutes >= 0 AND extra_minutes <= 180),
  created_at    BIGINT  NOT NULL,
  cancelled_at  BIGINT,
  started_at    BIGINT,
  ended_at      BIGINT,
  ended_by      TEXT    NOT NULL DEFAULT '' CHECK (ended_by IN ('', 'time', 'candidate', 'cancelled')),
  given_back    BIGINT  NOT NULL DEFAULT 0 CHECK (given_back >= 0), -- milliseconds, as it was at the end
  -- Everything is handed in as it stood at the end.
  handed_in     BOOLEAN NOT NULL DEFAULT FALSE,
  CHECK (ended_at IS NULL OR started_at IS NOT NULL),
  CHECK ((ended_by <> '') = (ended_at IS NOT NULL)),
  CHECK (NOT handed_in OR ended_at IS NOT NULL)
);
CREATE INDEX candidates_by_assignment ON candidates (assignment_id, id);
CREATE INDEX candidates_sitting ON candidates (started_at) WHERE started_at IS NOT NULL AND NOT handed_in;

-- When the site was down: nobody's time runs then.
CREATE TABLE outages (
  began_at BIGINT PRIMARY KEY,
  ended_at BIGINT NOT NULL,
  CHECK (ended_at > began_at)
);
CREATE TABLE alive (
  only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
  at       BIGINT NOT NULL -- the last sign of life
);

-- What an interviewer says about one exercise of a candidate; '' stands for the
-- sitting as a whole.
CREATE TABLE candidate_notes (
  candidate_id BIGINT NOT NULL REFERENCES candidates (id) ON DELETE CASCADE,
  exercise     TEXT   NOT NULL,
  met          TEXT   NOT NULL, -- the numbers of the rubric's lines, from 1, with spaces between
  note         TEXT   NOT NULL,
  noted_at     BIGINT NOT NULL,
  PRIMARY KEY (candidate_id, exercise)
);

-- +goose Down
DROP TABLE candidate_notes;
DROP TABLE alive;
DROP TABLE outages;
DROP TABLE candidates;
DROP TABLE assignment_exercises;
DROP TABLE assignments;
