-- name: CreateSession :exec
INSERT INTO sessions (token_hash, person_id, created_at, expires_at, deadline_at)
VALUES (@token_hash, @person_id, @created_at, @expires_at, @deadline_at);

-- name: FindSession :one
SELECT * FROM sessions WHERE token_hash = @token_hash AND expires_at > @now;

-- name: ProlongSession :exec
-- ProlongSession never makes a session: one that was ended meanwhile stays so.
UPDATE sessions SET expires_at = @expires_at WHERE token_hash = @token_hash;

-- name: DeleteSession :exec
DELETE FROM sessions WHERE token_hash = @token_hash;

-- name: DeleteSessionsOf :execrows
DELETE FROM sessions WHERE person_id = @person_id;

-- name: ThinSessions :exec
-- ThinSessions ends the oldest sessions of a person beyond a number.
DELETE FROM sessions
WHERE sessions.person_id = @person_id AND sessions.token_hash NOT IN (
  SELECT s.token_hash FROM sessions s WHERE s.person_id = @person_id
  ORDER BY s.created_at DESC, s.token_hash LIMIT @max_rows
);

-- name: CountSessionsOf :one
SELECT count(*) FROM sessions WHERE person_id = @person_id AND expires_at > @now;

-- name: DeleteSessionsExpired :exec
DELETE FROM sessions WHERE expires_at <= @now;
