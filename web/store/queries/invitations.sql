-- name: CreateInvitation :one
INSERT INTO invitations (token_hash, role, person_id, first, note, made_by, created_at, expires_at)
VALUES (@token_hash, @role, @person_id, @first, @note, @made_by, @created_at, @expires_at)
RETURNING id;

-- name: FindInvitation :one
SELECT * FROM invitations WHERE token_hash = @token_hash AND expires_at > @now;

-- name: TakeInvitation :many
-- TakeInvitation uses an invitation up, and with one of a first start all others
-- of first starts. Of two requests at once one gets rows.
DELETE FROM invitations
WHERE invitations.expires_at > @now AND (invitations.token_hash = @token_hash
  OR (invitations.first AND EXISTS (SELECT 1 FROM invitations i WHERE i.token_hash = @token_hash AND i.first)))
RETURNING *;

-- name: ListInvitations :many
SELECT * FROM invitations WHERE expires_at > @now AND NOT first ORDER BY id;

-- name: CountInvitations :one
SELECT count(*) FROM invitations WHERE expires_at > @now AND NOT first;

-- name: DeleteInvitation :many
DELETE FROM invitations WHERE id = @id AND NOT first RETURNING *;

-- name: DeleteInvitationsOf :exec
DELETE FROM invitations WHERE person_id = CAST(@person_id AS BIGINT);

-- name: DeleteInvitationsExpired :exec
DELETE FROM invitations WHERE expires_at <= @now;

-- name: ThinFirstInvitations :exec
-- ThinFirstInvitations keeps the links of the last starts: a server that starts
-- again and again must not fill the table.
DELETE FROM invitations WHERE first AND invitations.id NOT IN (
  SELECT i.id FROM invitations i WHERE i.first ORDER BY i.id DESC LIMIT @max_rows
);
