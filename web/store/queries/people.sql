-- name: CreatePerson :one
-- CreatePerson gives no row when the name to sign in with is taken.
INSERT INTO people (login, name, role, password, created_at)
VALUES (@login, @name, @role, @password, @created_at)
ON CONFLICT (login) DO NOTHING
RETURNING *;

-- name: GetPerson :one
SELECT * FROM people WHERE id = @id;

-- name: FindPerson :one
SELECT * FROM people WHERE login = @login;

-- name: ListPeople :many
SELECT * FROM people ORDER BY role DESC, name, id;

-- name: CountPeople :one
SELECT count(*) FROM people;

-- name: OwnerExists :one
SELECT EXISTS (SELECT 1 FROM people WHERE role = 'owner');

-- name: LockOwner :execrows
-- LockOwner makes two owners who remove each other take turns: whoever is gone
-- by then removes nobody.
UPDATE people SET role = role WHERE id = @id AND role = 'owner';

-- name: DeletePerson :execrows
DELETE FROM people WHERE id = @id;

-- name: SetPassword :execrows
UPDATE people SET password = @password WHERE id = @id;

-- name: SetSignedIn :execrows
-- SetSignedIn changes nothing when the password is another one by now, and holds
-- off whoever is about to change it.
UPDATE people SET signed_in_at = @now WHERE id = @id AND password = @password;

-- name: FindIdentity :one
SELECT p.* FROM people p JOIN identities i ON i.person_id = p.id
WHERE i.issuer = @issuer AND i.subject = @subject;

-- name: AddIdentity :execrows
-- AddIdentity changes nothing when the account is somebody's already.
INSERT INTO identities (issuer, subject, person_id, created_at)
VALUES (@issuer, @subject, @person_id, @created_at)
ON CONFLICT (issuer, subject) DO NOTHING;
