-- name: AddPaste :execrows
-- AddPaste keeps a mark once, and no more of them than a number for each exercise.
INSERT INTO pastes (browser_id, exercise, mark, version, file, from_line, to_line, lines, size, moved, pasted_at)
SELECT @browser_id, @exercise, @mark, @version, @file, @from_line, @to_line, @lines, @size, @moved, @pasted_at
WHERE (SELECT count(*) FROM pastes p WHERE p.browser_id = @browser_id AND p.exercise = @exercise) < CAST(@max_rows AS BIGINT)
ON CONFLICT (browser_id, exercise, mark) DO NOTHING;

-- name: ListPastes :many
SELECT p.mark, p.version, p.file, p.from_line, p.to_line, p.lines, p.size, p.moved, p.pasted_at
FROM pastes p JOIN browsers b ON b.id = p.browser_id
WHERE b.token_hash = @token_hash AND p.exercise = @exercise
ORDER BY p.pasted_at, p.mark LIMIT @max_rows;
