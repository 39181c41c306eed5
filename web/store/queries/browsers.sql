-- name: TouchBrowser :one
-- TouchBrowser finds or creates a browser. On PostgreSQL it also locks the row,
-- so that the transactions of one browser follow each other.
INSERT INTO browsers (token_hash, created_at, seen_at) VALUES (@token_hash, @now, @now)
ON CONFLICT (token_hash) DO UPDATE SET seen_at = excluded.seen_at
RETURNING id;

-- name: DeleteBrowsersUnseen :execrows
-- DeleteBrowsersUnseen forgets browsers with all that they wrote, except while
-- something of theirs waits to be graded. How long candidates are kept is said by
-- their assignment.
DELETE FROM browsers
WHERE seen_at < @before
  AND NOT EXISTS (SELECT 1 FROM candidates c WHERE c.browser_id = browsers.id)
  AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.browser_id = browsers.id AND s.state = 'queued' AND s.replaced_at IS NULL);

-- name: BrowserExists :one
SELECT EXISTS (SELECT 1 FROM browsers WHERE token_hash = @token_hash);

-- name: LockBrowserOf :exec
-- LockBrowserOf makes the transactions of one browser follow each other, as
-- TouchBrowser does, without saying that it was there.
UPDATE browsers SET seen_at = browsers.seen_at
WHERE browsers.id = (SELECT s.browser_id FROM submissions s WHERE s.id = @submission_id);
