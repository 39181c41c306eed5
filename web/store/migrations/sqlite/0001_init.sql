-- +goose Up
-- Times are milliseconds since 1970. A browser is known by the hash of its
-- cookie, so nobody who reads this table can act as one.
CREATE TABLE browsers (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash TEXT   NOT NULL UNIQUE,
  created_at BIGINT NOT NULL,
  seen_at    BIGINT NOT NULL
);
CREATE INDEX browsers_by_seen ON browsers (seen_at);

-- Only ever appended to; thinned from the oldest.
CREATE TABLE drafts (
  browser_id BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise   TEXT   NOT NULL,
  version    BIGINT NOT NULL CHECK (version >= 1),
  files      TEXT   NOT NULL,
  size       BIGINT NOT NULL CHECK (size >= 0),
  created_at BIGINT NOT NULL,
  PRIMARY KEY (browser_id, exercise, version)
);

CREATE TABLE submissions (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id        TEXT   NOT NULL UNIQUE,
  browser_id       BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise         TEXT   NOT NULL,
  exercise_version TEXT   NOT NULL,
  engine           TEXT   NOT NULL,
  seed             BIGINT NOT NULL,
  files            TEXT   NOT NULL,
  source_hash      TEXT   NOT NULL,
  state            TEXT   NOT NULL CHECK (state IN ('queued', 'graded')),
  outcome          TEXT   NOT NULL DEFAULT '' CHECK (outcome IN ('', 'passed', 'failed', 'rejected', 'inconclusive')),
  verdict          TEXT   NOT NULL DEFAULT '',
  job_id           BIGINT,
  attempt          BIGINT NOT NULL DEFAULT 0,
  created_at       BIGINT NOT NULL,
  started_at       BIGINT,
  finished_at      BIGINT,
  CHECK ((outcome <> '') = (state = 'graded')),
  CHECK ((verdict <> '') = (state = 'graded')),
  CHECK ((finished_at IS NOT NULL) = (state = 'graded'))
);
CREATE INDEX submissions_by_browser ON submissions (browser_id, exercise, id);
CREATE INDEX submissions_by_source ON submissions (source_hash, exercise) WHERE state = 'graded';
CREATE INDEX submissions_queued ON submissions (id) WHERE state = 'queued';
CREATE UNIQUE INDEX submissions_one_unfinished ON submissions (browser_id, exercise) WHERE state = 'queued';

-- How far a grading has come. The numbers of one submission only grow, also
-- when a second attempt replaces the rows of the first: streams resume by them.
CREATE TABLE submission_steps (
  submission_id BIGINT NOT NULL REFERENCES submissions (id) ON DELETE CASCADE,
  number        BIGINT NOT NULL CHECK (number >= 1),
  step          TEXT   NOT NULL,
  created_at    BIGINT NOT NULL,
  PRIMARY KEY (submission_id, number)
);

-- +goose Down
DROP TABLE submission_steps;
DROP TABLE submissions;
DROP TABLE drafts;
DROP TABLE browsers;
