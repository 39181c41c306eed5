-- +goose Up
-- What a browser has practised. These rows outlive submissions, of which only the
-- newest are kept, and hold no code. All go with the browser.
CREATE TABLE practised (
  browser_id BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise   TEXT   NOT NULL,
  tried_at   BIGINT NOT NULL, -- the first verdict
  passed_at  BIGINT,          -- the first one that is a pass
  PRIMARY KEY (browser_id, exercise)
);
INSERT INTO practised (browser_id, exercise, tried_at, passed_at)
SELECT browser_id, exercise, MIN(finished_at), MIN(CASE WHEN outcome = 'passed' THEN finished_at END)
FROM submissions WHERE state = 'graded' AND outcome <> 'inconclusive'
GROUP BY browser_id, exercise;

-- What a browser said a starter would do, and what it did: "passed", or the kinds
-- of the findings with spaces between. Empty until the starter has a verdict.
CREATE TABLE predictions (
  browser_id  BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise    TEXT   NOT NULL,
  guess       TEXT   NOT NULL CHECK (guess IN ('passed', 'duplicate', 'lost', 'misordered', 'stuck', 'other')),
  source_hash TEXT   NOT NULL, -- of the starter
  made_at     BIGINT NOT NULL,
  came        TEXT   NOT NULL DEFAULT '',
  came_at     BIGINT,
  PRIMARY KEY (browser_id, exercise),
  CHECK ((came <> '') = (came_at IS NOT NULL))
);

-- The kinds of findings that a browser's submissions had.
CREATE TABLE mistakes (
  browser_id BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise   TEXT   NOT NULL,
  kind       TEXT   NOT NULL,
  times      BIGINT NOT NULL CHECK (times >= 1), -- submissions
  last_at    BIGINT NOT NULL,
  PRIMARY KEY (browser_id, exercise, kind)
);

-- The cards that a browser has rated; FSRS knows the two numbers.
CREATE TABLE cards (
  browser_id  BIGINT           NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  card        TEXT             NOT NULL, -- question/slug, pitfall/slug/id, prediction/pack/slug
  stability   DOUBLE PRECISION NOT NULL CHECK (stability > 0),
  difficulty  DOUBLE PRECISION NOT NULL CHECK (difficulty >= 1 AND difficulty <= 10),
  reps        BIGINT           NOT NULL CHECK (reps >= 1),
  lapses      BIGINT           NOT NULL CHECK (lapses >= 0),
  created_at  BIGINT           NOT NULL, -- the first rating
  reviewed_at BIGINT           NOT NULL, -- the last one
  due_at      BIGINT           NOT NULL,
  PRIMARY KEY (browser_id, card)
);

-- +goose Down
DROP TABLE cards;
DROP TABLE mistakes;
DROP TABLE predictions;
DROP TABLE practised;
