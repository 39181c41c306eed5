-- +goose Up
-- A run that a link names is looked up by its source, also while the submission
-- it belongs to is still being graded.
CREATE INDEX submissions_by_any_source ON submissions (source_hash, exercise, state);
DROP INDEX submissions_by_source;

-- +goose Down
CREATE INDEX submissions_by_source ON submissions (source_hash, exercise) WHERE state = 'graded';
DROP INDEX submissions_by_any_source;
