-- name: AddAudit :exec
INSERT INTO audit (at, person_id, who, action, subject, network)
VALUES (@at, @person_id, @who, @action, @subject, @network);

-- name: ListAudit :many
SELECT * FROM audit WHERE id < @before ORDER BY id DESC LIMIT @max_rows;

-- name: NetworkKnown :one
-- NetworkKnown tells whether somebody signed in from a network since a time.
SELECT EXISTS (
  SELECT 1 FROM audit a JOIN people p ON p.id = a.person_id
  WHERE p.login = @login AND a.action = @action AND a.network = @network AND a.at > @since
);

-- name: DeleteAuditBefore :exec
DELETE FROM audit WHERE at < @before;

-- name: ThinAudit :exec
-- ThinAudit keeps the newest entries of an action, up to a number.
DELETE FROM audit
WHERE audit.action = @action AND audit.id <= (
  SELECT a.id FROM audit a WHERE a.action = @action ORDER BY a.id DESC LIMIT 1 OFFSET @max_rows
);
