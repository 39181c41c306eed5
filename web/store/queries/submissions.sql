-- name: CreateSubmission :one
INSERT INTO submissions (public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash, state, created_at)
VALUES (@public_id, @browser_id, @exercise, @exercise_version, @engine, @seed, @files, @source_hash, 'queued', @created_at)
RETURNING id;

-- name: SetSubmissionJob :exec
UPDATE submissions SET job_id = @job_id WHERE id = @id;

-- name: GetSubmission :one
SELECT * FROM submissions WHERE id = @id;

-- name: GetOwnSubmission :one
-- GetOwnSubmission finds a submission only for the browser that made it.
SELECT s.* FROM submissions s JOIN browsers b ON b.id = s.browser_id
WHERE s.public_id = @public_id AND b.token_hash = @token_hash;

-- name: ListOwnSubmissions :many
SELECT s.public_id, s.exercise, s.state, s.outcome, s.created_at, s.started_at, s.finished_at
FROM submissions s JOIN browsers b ON b.id = s.browser_id
WHERE b.token_hash = @token_hash AND (CAST(@exercise AS TEXT) = '' OR s.exercise = CAST(@exercise AS TEXT))
ORDER BY s.id DESC LIMIT @max_rows;

-- name: UnfinishedSubmission :one
SELECT public_id FROM submissions
WHERE browser_id = @browser_id AND exercise = @exercise AND state = 'queued';

-- name: FindGraded :one
-- FindGraded finds a verdict for the same source, the browser's own first.
SELECT * FROM submissions
WHERE source_hash = @source_hash AND exercise = @exercise AND exercise_version = @exercise_version
  AND engine = @engine AND seed = @seed AND state = 'graded' AND outcome <> 'inconclusive'
ORDER BY CASE WHEN browser_id = @browser_id THEN 0 ELSE 1 END, id DESC LIMIT 1;

-- name: CountSubmissionsSince :one
SELECT count(*) FROM submissions WHERE browser_id = @browser_id AND created_at >= @since;

-- name: CountQueued :one
SELECT count(*) FROM submissions WHERE state = 'queued';

-- name: CountWaitingBefore :one
SELECT count(*) FROM submissions WHERE state = 'queued' AND started_at IS NULL AND id < @id;

-- name: StartSubmission :execrows
UPDATE submissions SET attempt = @attempt, started_at = @started_at WHERE id = @id AND state = 'queued';

-- name: FinishSubmission :one
-- FinishSubmission stores a verdict once: a grading may run twice, and only the
-- first result is kept. The version and the engine are those that judged.
UPDATE submissions
SET state = 'graded', outcome = @outcome, verdict = @verdict, exercise_version = @exercise_version,
  engine = @engine, finished_at = @finished_at
WHERE id = @id AND state = 'queued'
RETURNING browser_id, exercise, source_hash;

-- name: ReplaceVerdict :one
-- ReplaceVerdict changes what a submission was judged; the time of the first
-- verdict stays.
UPDATE submissions
SET outcome = @outcome, verdict = @verdict, exercise_version = @exercise_version, engine = @engine
WHERE id = @id AND state = 'graded'
RETURNING browser_id, exercise;

-- name: ThinSubmissions :execrows
-- ThinSubmissions deletes the oldest graded submissions of a browser beyond a number.
DELETE FROM submissions
WHERE submissions.browser_id = @browser_id AND submissions.state = 'graded' AND submissions.id NOT IN (
  SELECT s.id FROM submissions s WHERE s.browser_id = @browser_id ORDER BY s.id DESC LIMIT @max_rows
);

-- name: FindSource :one
-- FindSource finds a submission whose source hash lies between two bounds, one
-- with a verdict first: all that match have the same source.
SELECT files, verdict FROM submissions WHERE id = (
  SELECT s.id FROM submissions s
  WHERE s.source_hash >= @from_hash AND s.source_hash < @to_hash AND s.exercise = @exercise
  ORDER BY s.state LIMIT 1
);

-- name: ListGraded :many
-- ListGraded pages through everything that was judged, in the order of arrival.
SELECT * FROM submissions WHERE state = 'graded' AND id > @after ORDER BY id LIMIT @max_rows;
