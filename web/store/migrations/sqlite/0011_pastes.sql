-- +goose Up
-- The editor of a sitting notes pastes; a form that was sent without a script does
-- not, and what was saved before this migration has no notes either.
ALTER TABLE drafts ADD COLUMN by_editor BOOLEAN NOT NULL DEFAULT FALSE;

-- Where text was pasted in a sitting: how much and when, not what or from where. The
-- editor draws the name of a mark, so that a save that is repeated marks nothing twice.
-- A mark outlives its draft where that was thinned out.
CREATE TABLE pastes (
  browser_id BIGINT  NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  exercise   TEXT    NOT NULL,
  mark       TEXT    NOT NULL CHECK (mark <> ''),
  version    BIGINT  NOT NULL CHECK (version >= 1), -- of the draft that the lines are of
  file       TEXT    NOT NULL,
  from_line  BIGINT  NOT NULL CHECK (from_line >= 1),
  to_line    BIGINT  NOT NULL CHECK (to_line >= from_line),
  lines      BIGINT  NOT NULL CHECK (lines >= 1),   -- as it was pasted
  size       BIGINT  NOT NULL CHECK (size >= 1),    -- the same in characters
  moved      BOOLEAN NOT NULL,                      -- the text was in the editor or in the task before
  pasted_at  BIGINT  NOT NULL,
  PRIMARY KEY (browser_id, exercise, mark)
);

-- +goose Down
DROP TABLE pastes;
ALTER TABLE drafts DROP COLUMN by_editor;
