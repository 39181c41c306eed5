-- name: CreateToken :exec
INSERT INTO api_tokens (person_id, token_hash, name, created_at, expires_at)
VALUES (@person_id, @token_hash, @name, @created_at, @expires_at);

-- name: CountTokens :one
SELECT count(*) FROM api_tokens WHERE person_id = @person_id AND (expires_at IS NULL OR expires_at > CAST(@now AS BIGINT));

-- name: FindToken :one
SELECT sqlc.embed(t), sqlc.embed(p) FROM api_tokens t JOIN people p ON p.id = t.person_id
WHERE t.token_hash = @token_hash AND (t.expires_at IS NULL OR t.expires_at > CAST(@now AS BIGINT));

-- name: ListTokens :many
SELECT * FROM api_tokens WHERE person_id = @person_id AND (expires_at IS NULL OR expires_at > CAST(@now AS BIGINT)) ORDER BY id;

-- name: TouchToken :exec
UPDATE api_tokens SET used_at = @used_at WHERE id = @id;

-- name: DeleteToken :one
-- DeleteToken deletes a token of this person alone.
DELETE FROM api_tokens WHERE id = @id AND person_id = @person_id RETURNING name;

-- name: DeleteTokensOf :exec
DELETE FROM api_tokens WHERE person_id = @person_id;

-- name: DeleteTokensExpired :exec
DELETE FROM api_tokens WHERE expires_at <= CAST(@now AS BIGINT);

-- name: LockPerson :execrows
-- LockPerson makes what one person does with tokens follow each other.
UPDATE people SET role = role WHERE id = @id;
