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
SELECT s.public_id, s.exercise, s.state, s.outcome, s.created_at, s.started_at, s.finished_at, s.waited_until, s.replaced_at
FROM submissions s JOIN browsers b ON b.id = s.browser_id
WHERE b.token_hash = @token_hash AND (CAST(@exercise AS TEXT) = '' OR s.exercise = CAST(@exercise AS TEXT))
ORDER BY s.id DESC LIMIT @max_rows;

-- name: UnfinishedSubmission :one
SELECT id, public_id, source_hash, job_id FROM submissions
WHERE browser_id = @browser_id AND exercise = @exercise AND state = 'queued' AND replaced_at IS NULL;

-- name: ReplaceSubmission :exec
-- ReplaceSubmission ends one that a newer one takes the place of.
UPDATE submissions SET replaced_at = @replaced_at, waited_until = COALESCE(started_at, CAST(@replaced_at AS BIGINT))
WHERE id = @id AND state = 'queued';

-- name: NextSubmission :one
-- NextSubmission is what the same browser handed in after one for the same exercise.
SELECT n.public_id FROM submissions s JOIN submissions n ON n.browser_id = s.browser_id AND n.exercise = s.exercise AND n.id > s.id
WHERE s.id = @id ORDER BY n.id LIMIT 1;

-- name: CountRunning :one
SELECT count(*) FROM submissions WHERE state = 'queued' AND replaced_at IS NULL AND started_at IS NOT NULL;

-- name: ListTimes :many
-- ListTimes lists how long the newest gradings took, the last attempt of each.
SELECT CAST(s.finished_at - s.started_at AS BIGINT) AS took FROM submissions s
WHERE s.finished_at IS NOT NULL AND s.started_at IS NOT NULL
ORDER BY s.finished_at DESC LIMIT @max_rows;

-- name: FindGraded :one
-- FindGraded finds a verdict for the same source, the browser's own first.
SELECT * FROM submissions
WHERE source_hash = @source_hash AND exercise = @exercise AND exercise_version = @exercise_version
  AND engine = @engine AND seed = @seed AND state = 'graded' AND outcome <> 'inconclusive'
ORDER BY CASE WHEN browser_id = @browser_id THEN 0 ELSE 1 END, id DESC LIMIT 1;

-- name: CountSubmissionsSince :one
SELECT count(*) FROM submissions WHERE browser_id = @browser_id AND created_at >= @since;

-- name: CountQueued :one
SELECT count(*) FROM submissions WHERE state = 'queued' AND replaced_at IS NULL;

-- name: CountWaitingBefore :one
-- CountWaitingBefore goes by the jobs: a newer submission takes over the place of the
-- one that it replaces.
SELECT count(*) FROM submissions w
WHERE w.state = 'queued' AND w.replaced_at IS NULL AND w.started_at IS NULL
  AND w.job_id < (SELECT s.job_id FROM submissions s WHERE s.id = @id);

-- name: StartSubmission :execrows
UPDATE submissions SET attempt = @attempt, started_at = @started_at, begun_at = COALESCE(begun_at, CAST(@started_at AS BIGINT))
WHERE id = @id AND state = 'queued' AND replaced_at IS NULL;

-- name: FinishSubmission :one
-- FinishSubmission stores a verdict once: a grading may run twice, and only the
-- first result is kept. The version and the engine are those that judged.
UPDATE submissions
SET state = 'graded', outcome = @outcome, verdict = @verdict, exercise_version = @exercise_version,
  engine = @engine, finished_at = @finished_at,
  waited_until = CASE WHEN @outcome = 'inconclusive' OR started_at IS NULL THEN @finished_at ELSE started_at END
WHERE id = @id AND state = 'queued' AND replaced_at IS NULL
RETURNING browser_id, exercise, source_hash;

-- name: ReplaceVerdict :one
-- ReplaceVerdict changes what a submission was judged; the time of the first
-- verdict stays.
UPDATE submissions
SET outcome = @outcome, verdict = @verdict, exercise_version = @exercise_version, engine = @engine
WHERE id = @id AND state = 'graded'
RETURNING browser_id, exercise;

-- name: ThinSubmissions :execrows
-- ThinSubmissions deletes the oldest submissions of a browser that wait for nothing,
-- beyond a number and a size in bytes.
DELETE FROM submissions
WHERE submissions.browser_id = @browser_id AND (submissions.state = 'graded' OR submissions.replaced_at IS NOT NULL) AND submissions.id IN (
  SELECT k.id FROM (
    SELECT s.id, ROW_NUMBER() OVER (ORDER BY s.id DESC) AS place,
      SUM(octet_length(s.files) + octet_length(s.verdict)) OVER (ORDER BY s.id DESC) AS total
    FROM submissions s WHERE s.browser_id = @browser_id
  ) k WHERE k.place > CAST(@max_rows AS BIGINT) OR k.total > CAST(@max_bytes AS BIGINT)
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

-- name: ListCounted :many
-- ListCounted lists for each candidate of an assignment and each exercise the submission
-- that counts: the one with the best outcome, of equals the newest.
SELECT k.candidate_id, k.name, k.exercise, k.id, k.public_id, k.source_hash FROM (
  SELECT c.id AS candidate_id, c.name, s.exercise, s.id, s.public_id, s.source_hash,
    ROW_NUMBER() OVER (PARTITION BY s.browser_id, s.exercise ORDER BY
      CASE s.outcome WHEN 'passed' THEN 4 WHEN 'failed' THEN 3 WHEN 'rejected' THEN 2 WHEN 'inconclusive' THEN 1 ELSE 0 END DESC, s.id DESC) AS place
  FROM candidates c JOIN submissions s ON s.browser_id = c.browser_id
  WHERE c.assignment_id = @assignment_id
) k WHERE k.place = 1 ORDER BY k.candidate_id, k.exercise;
