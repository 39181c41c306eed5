-- name: CreateAssignment :one
INSERT INTO assignments (person_id, title, note, lang, minutes, opens_at, closes_at, warm_up, hints, approaches, all_phases, retain_days, created_at)
VALUES (@person_id, @title, @note, @lang, @minutes, @opens_at, @closes_at, @warm_up, @hints, @approaches, @all_phases, @retain_days, @created_at)
RETURNING id;

-- name: CountAssignments :one
SELECT count(*) FROM assignments;

-- name: AddAssignmentExercise :exec
INSERT INTO assignment_exercises (assignment_id, place, exercise) VALUES (@assignment_id, @place, @exercise);

-- name: ListAssignmentExercises :many
SELECT exercise FROM assignment_exercises WHERE assignment_id = @assignment_id ORDER BY place;

-- name: GetAssignment :one
SELECT * FROM assignments WHERE id = @id;

-- name: GetAssignmentFor :one
-- GetAssignmentFor finds an assignment only for who made it and for owners.
SELECT a.* FROM assignments a JOIN people p ON p.id = @person_id
WHERE a.id = @id AND (p.role = 'owner' OR a.person_id = p.id);

-- name: ListAssignmentsFor :many
SELECT a.id, a.title, a.minutes, a.opens_at, a.closes_at, a.created_at, CAST(COALESCE(m.name, '') AS TEXT) AS maker,
  (SELECT count(*) FROM candidates c WHERE c.assignment_id = a.id) AS candidates,
  (SELECT count(*) FROM candidates c WHERE c.assignment_id = a.id AND c.started_at IS NOT NULL AND c.ended_at IS NULL) AS sitting,
  (SELECT count(*) FROM candidates c WHERE c.assignment_id = a.id AND c.ended_at IS NOT NULL) AS ended
FROM assignments a JOIN people p ON p.id = @person_id LEFT JOIN people m ON m.id = a.person_id
WHERE (p.role = 'owner' OR a.person_id = p.id) AND a.id < @before
ORDER BY a.id DESC LIMIT @max_rows;

-- name: FindOpenAssignment :one
SELECT * FROM assignments WHERE open_hash = CAST(@open_hash AS TEXT);

-- name: SetOpenHash :exec
UPDATE assignments SET open_hash = @open_hash WHERE id = @id;

-- name: CloseAssignment :execrows
-- CloseAssignment lets nobody begin any more. What would have opened later never does.
UPDATE assignments SET closes_at = CAST(@now AS BIGINT), open_hash = NULL,
  opens_at = CASE WHEN opens_at >= CAST(@now AS BIGINT) THEN NULL ELSE opens_at END
WHERE id = @id AND (closes_at IS NULL OR closes_at > CAST(@now AS BIGINT));

-- name: DeleteAssignment :exec
DELETE FROM assignments WHERE id = @id;

-- name: CreateCandidate :one
INSERT INTO candidates (assignment_id, browser_id, token_hash, name, self, extra_minutes, created_at)
VALUES (@assignment_id, @browser_id, @token_hash, @name, @self, @extra_minutes, @created_at)
RETURNING id;

-- name: CountCandidates :one
SELECT count(*) FROM candidates WHERE assignment_id = @assignment_id;

-- name: FindCandidate :one
SELECT sqlc.embed(c), b.token_hash AS browser FROM candidates c JOIN browsers b ON b.id = c.browser_id
WHERE c.token_hash = @token_hash;

-- name: GetCandidate :one
SELECT sqlc.embed(c), b.token_hash AS browser FROM candidates c JOIN browsers b ON b.id = c.browser_id
WHERE c.id = @id;

-- name: GetCandidateFor :one
-- GetCandidateFor finds a candidate only for who made the assignment and for owners.
SELECT sqlc.embed(c), b.token_hash AS browser FROM candidates c JOIN browsers b ON b.id = c.browser_id
JOIN assignments a ON a.id = c.assignment_id JOIN people p ON p.id = @person_id
WHERE c.id = @id AND c.assignment_id = @assignment_id AND (p.role = 'owner' OR a.person_id = p.id);

-- name: ListCandidates :many
SELECT sqlc.embed(c), b.token_hash AS browser FROM candidates c JOIN browsers b ON b.id = c.browser_id
WHERE c.assignment_id = @assignment_id ORDER BY c.id;

-- name: LockCandidate :exec
-- LockCandidate makes what happens in one sitting follow each other, as TouchBrowser does.
UPDATE browsers SET seen_at = browsers.seen_at
WHERE browsers.id = (SELECT c.browser_id FROM candidates c WHERE c.id = @id);

-- name: SittingOpen :one
-- SittingOpen tells of the browser of a sitting whether something may be written: who
-- was deleted meanwhile has none.
SELECT EXISTS (
  SELECT 1 FROM candidates c WHERE c.browser_id = @browser_id AND c.ended_at IS NULL AND c.cancelled_at IS NULL
);

-- name: StartCandidate :execrows
UPDATE candidates SET started_at = @started_at WHERE id = @id AND started_at IS NULL AND cancelled_at IS NULL;

-- name: EndCandidate :execrows
UPDATE candidates SET ended_at = @ended_at, ended_by = @ended_by, given_back = @given_back
WHERE id = @id AND started_at IS NOT NULL AND ended_at IS NULL;

-- name: SetHandedIn :exec
UPDATE candidates SET handed_in = TRUE WHERE id = @id AND ended_at IS NOT NULL;

-- name: CancelCandidate :execrows
UPDATE candidates SET cancelled_at = @cancelled_at WHERE id = @id AND cancelled_at IS NULL AND ended_at IS NULL;

-- name: SetExtraMinutes :execrows
UPDATE candidates SET extra_minutes = @extra_minutes WHERE id = @id AND ended_at IS NULL AND cancelled_at IS NULL;

-- name: ListSitting :many
-- ListSitting lists who has started and has not handed everything in.
SELECT id FROM candidates WHERE started_at IS NOT NULL AND NOT handed_in ORDER BY id;

-- name: ListCandidatesPast :many
-- ListCandidatesPast lists whose time to be kept is over: it begins with the end of
-- the sitting, or with the last that was written where there was none. Who came by the
-- link for everybody and has not begun keeps the place for a while only.
SELECT c.id, b.token_hash FROM candidates c JOIN assignments a ON a.id = c.assignment_id JOIN browsers b ON b.id = c.browser_id
WHERE c.id > @after
  AND ((COALESCE(c.ended_at, b.seen_at) + a.retain_days * 86400000 < CAST(@now AS BIGINT)
      AND (a.closes_at IS NULL OR a.closes_at < CAST(@now AS BIGINT) OR c.ended_at IS NOT NULL))
    OR (c.self AND c.started_at IS NULL AND b.seen_at < CAST(@idle AS BIGINT)
      AND (a.opens_at IS NULL OR a.opens_at < CAST(@idle AS BIGINT))))
ORDER BY c.id LIMIT @max_rows;

-- name: ListWaits :many
-- ListWaits lists when submissions of a browser waited. A grading that was repeated
-- counts as waiting until the last attempt; one without a result was all in vain.
SELECT created_at, begun_at, started_at, waited_until FROM submissions
WHERE browser_id = @browser_id AND created_at >= @since ORDER BY id;

-- name: ListOutages :many
SELECT began_at, ended_at FROM outages WHERE ended_at > @since ORDER BY began_at;

-- name: LastAlive :one
SELECT at FROM alive WHERE only_row = 1;

-- name: SetAlive :exec
INSERT INTO alive (only_row, at) VALUES (1, @at)
ON CONFLICT (only_row) DO UPDATE SET at = excluded.at WHERE excluded.at > alive.at;

-- name: AddOutage :exec
INSERT INTO outages (began_at, ended_at) VALUES (@began_at, @ended_at) ON CONFLICT (began_at) DO NOTHING;

-- name: DeleteOutagesBefore :exec
DELETE FROM outages WHERE ended_at < @before;

-- name: SourceSubmitted :one
SELECT EXISTS (SELECT 1 FROM submissions WHERE browser_id = @browser_id AND exercise = @exercise AND source_hash = @source_hash);

-- name: SaveCandidateNote :exec
INSERT INTO candidate_notes (candidate_id, exercise, met, note, noted_at) VALUES (@candidate_id, @exercise, @met, @note, @noted_at)
ON CONFLICT (candidate_id, exercise) DO UPDATE SET met = excluded.met, note = excluded.note, noted_at = excluded.noted_at;

-- name: ListCandidateNotes :many
SELECT * FROM candidate_notes WHERE candidate_id = @candidate_id ORDER BY exercise;
