-- name: MergePractised :exec
-- MergePractised keeps the first time of each.
INSERT INTO practised (browser_id, exercise, tried_at, passed_at)
VALUES (@browser_id, @exercise, @tried_at, @passed_at)
ON CONFLICT (browser_id, exercise) DO UPDATE SET
  tried_at = CASE WHEN excluded.tried_at < practised.tried_at THEN excluded.tried_at ELSE practised.tried_at END,
  passed_at = CASE WHEN practised.passed_at IS NULL OR excluded.passed_at < practised.passed_at
    THEN excluded.passed_at ELSE practised.passed_at END;

-- name: NoteMistake :exec
INSERT INTO mistakes (browser_id, exercise, kind, times, last_at)
VALUES (@browser_id, @exercise, @kind, 1, @last_at)
ON CONFLICT (browser_id, exercise, kind) DO UPDATE SET times = mistakes.times + 1, last_at = excluded.last_at;

-- name: MergeMistake :exec
-- MergeMistake keeps the larger number and the later time.
INSERT INTO mistakes (browser_id, exercise, kind, times, last_at)
VALUES (@browser_id, @exercise, @kind, @times, @last_at)
ON CONFLICT (browser_id, exercise, kind) DO UPDATE SET
  times = CASE WHEN excluded.times > mistakes.times THEN excluded.times ELSE mistakes.times END,
  last_at = CASE WHEN excluded.last_at > mistakes.last_at THEN excluded.last_at ELSE mistakes.last_at END;

-- name: Predict :execrows
-- Predict keeps what is said until the starter has shown what it does.
INSERT INTO predictions (browser_id, exercise, guess, source_hash, made_at)
VALUES (@browser_id, @exercise, @guess, @source_hash, @made_at)
ON CONFLICT (browser_id, exercise) DO UPDATE SET
  guess = excluded.guess, source_hash = excluded.source_hash, made_at = excluded.made_at
WHERE predictions.came = '';

-- name: ResolvePrediction :exec
UPDATE predictions SET came = @came, came_at = @came_at
WHERE browser_id = @browser_id AND exercise = @exercise AND source_hash = @source_hash AND came = '';

-- name: MergePrediction :exec
-- MergePrediction prefers a prediction that has come out; of two such the one that is there.
INSERT INTO predictions (browser_id, exercise, guess, source_hash, made_at, came, came_at)
VALUES (@browser_id, @exercise, @guess, @source_hash, @made_at, @came, @came_at)
ON CONFLICT (browser_id, exercise) DO UPDATE SET
  guess = excluded.guess, source_hash = excluded.source_hash, made_at = excluded.made_at,
  came = excluded.came, came_at = excluded.came_at
WHERE predictions.came = '' AND excluded.came <> '';

-- name: GetCard :one
SELECT * FROM cards WHERE browser_id = @browser_id AND card = @card;

-- name: SaveCard :exec
-- SaveCard stores a card as it is now; of what is there only the day of the first rating stays.
INSERT INTO cards (browser_id, card, stability, difficulty, reps, lapses, created_at, reviewed_at, due_at)
VALUES (@browser_id, @card, @stability, @difficulty, @reps, @lapses, @created_at, @reviewed_at, @due_at)
ON CONFLICT (browser_id, card) DO UPDATE SET
  stability = excluded.stability, difficulty = excluded.difficulty, reps = excluded.reps, lapses = excluded.lapses,
  reviewed_at = excluded.reviewed_at, due_at = excluded.due_at;

-- name: MergeCard :exec
-- MergeCard keeps the card that was rated last.
INSERT INTO cards (browser_id, card, stability, difficulty, reps, lapses, created_at, reviewed_at, due_at)
VALUES (@browser_id, @card, @stability, @difficulty, @reps, @lapses, @created_at, @reviewed_at, @due_at)
ON CONFLICT (browser_id, card) DO UPDATE SET
  stability = excluded.stability, difficulty = excluded.difficulty, reps = excluded.reps, lapses = excluded.lapses,
  reviewed_at = excluded.reviewed_at, due_at = excluded.due_at
WHERE excluded.reviewed_at > cards.reviewed_at;

-- name: ListPractised :many
SELECT p.* FROM practised p JOIN browsers b ON b.id = p.browser_id
WHERE b.token_hash = @token_hash ORDER BY p.exercise;

-- name: ListPredictions :many
SELECT p.* FROM predictions p JOIN browsers b ON b.id = p.browser_id
WHERE b.token_hash = @token_hash ORDER BY p.exercise;

-- name: ListMistakes :many
SELECT m.* FROM mistakes m JOIN browsers b ON b.id = m.browser_id
WHERE b.token_hash = @token_hash ORDER BY m.exercise, m.kind;

-- name: ListCards :many
SELECT c.* FROM cards c JOIN browsers b ON b.id = c.browser_id
WHERE b.token_hash = @token_hash ORDER BY c.card;

-- name: ListJobsOfBrowser :many
SELECT CAST(s.id AS BIGINT) AS id, CAST(s.job_id AS BIGINT) AS job_id
FROM submissions s JOIN browsers b ON b.id = s.browser_id
WHERE b.token_hash = @token_hash AND s.job_id IS NOT NULL;

-- name: DeleteBrowser :exec
-- DeleteBrowser deletes all that a browser wrote: every table refers to it.
DELETE FROM browsers WHERE token_hash = @token_hash;

-- name: SaveOwnAnswer :exec
INSERT INTO own_answers (browser_id, question, answer, saved_at)
VALUES (@browser_id, @question, @answer, @saved_at)
ON CONFLICT (browser_id, question) DO UPDATE SET answer = excluded.answer, saved_at = excluded.saved_at;

-- name: DeleteOwnAnswer :exec
DELETE FROM own_answers WHERE browser_id = @browser_id AND question = @question;

-- name: GetOwnAnswer :one
SELECT a.* FROM own_answers a JOIN browsers b ON b.id = a.browser_id
WHERE b.token_hash = @token_hash AND a.question = @question;
