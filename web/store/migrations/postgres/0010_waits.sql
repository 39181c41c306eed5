-- +goose Up
-- What the clock of a sitting gives back does not change with a later verdict, so it
-- is kept beside it: until when the submission waited for us. The time before the
-- first attempt is the queue's; what follows are attempts without a result.
ALTER TABLE submissions ADD COLUMN begun_at BIGINT;     -- the first attempt
ALTER TABLE submissions ADD COLUMN waited_until BIGINT; -- NULL: it waits or runs
UPDATE submissions SET begun_at = started_at;
UPDATE submissions SET waited_until = CASE WHEN outcome = 'inconclusive' OR started_at IS NULL THEN finished_at ELSE started_at END
WHERE state = 'graded';

-- A submission that waited or ran when the same browser handed in a newer one for the
-- same exercise is not graded any more. It stays "queued", as on
-- SQLite, which changes no CHECK of a table to which others refer.
ALTER TABLE submissions ADD COLUMN replaced_at BIGINT CHECK (replaced_at IS NULL OR state = 'queued');
DROP INDEX submissions_queued;
CREATE INDEX submissions_queued ON submissions (id) WHERE state = 'queued' AND replaced_at IS NULL;
DROP INDEX submissions_one_unfinished;
CREATE UNIQUE INDEX submissions_one_unfinished ON submissions (browser_id, exercise) WHERE state = 'queued' AND replaced_at IS NULL;
CREATE INDEX submissions_finished ON submissions (finished_at) WHERE started_at IS NOT NULL;

-- For thinning, which does not read the texts.
CREATE INDEX drafts_sizes ON drafts (browser_id, exercise, version, auto, created_at, size);

-- +goose Down
DROP INDEX drafts_sizes;
DROP INDEX submissions_finished;
DROP INDEX submissions_one_unfinished;
DROP INDEX submissions_queued;
DELETE FROM submissions WHERE replaced_at IS NOT NULL;
ALTER TABLE submissions DROP COLUMN replaced_at;
ALTER TABLE submissions DROP COLUMN waited_until;
ALTER TABLE submissions DROP COLUMN begun_at;
CREATE INDEX submissions_queued ON submissions (id) WHERE state = 'queued';
CREATE UNIQUE INDEX submissions_one_unfinished ON submissions (browser_id, exercise) WHERE state = 'queued';
