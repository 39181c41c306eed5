-- name: CreateWebhook :one
INSERT INTO webhooks (url, secret, created_at) VALUES (@url, @secret, @created_at) RETURNING id;

-- name: CountWebhooks :one
SELECT count(*) FROM webhooks;

-- name: ListWebhooks :many
SELECT * FROM webhooks ORDER BY id;

-- name: GetWebhook :one
SELECT * FROM webhooks WHERE id = @id;

-- name: DeleteWebhook :one
DELETE FROM webhooks WHERE id = @id RETURNING url;

-- name: CreateDelivery :one
INSERT INTO webhook_deliveries (webhook_id, candidate_id, message_id, event, body, state, created_at)
VALUES (@webhook_id, @candidate_id, @message_id, @event, @body, 'waits', @created_at)
RETURNING id;

-- name: ThinDeliveries :exec
-- ThinDeliveries keeps the newest deliveries of an address, up to a number.
DELETE FROM webhook_deliveries
WHERE webhook_deliveries.webhook_id = @webhook_id AND webhook_deliveries.id <= (
  SELECT d.id FROM webhook_deliveries d WHERE d.webhook_id = @webhook_id ORDER BY d.id DESC LIMIT 1 OFFSET @max_rows
);

-- name: SetDeliveryJob :execrows
-- SetDeliveryJob has a delivery tried from now on, also one that has ended.
UPDATE webhook_deliveries SET job_id = @job_id, state = 'waits' WHERE id = @id;

-- name: GetDelivery :one
SELECT sqlc.embed(d), sqlc.embed(w) FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.id = @id;

-- name: NoteAttempt :exec
-- NoteAttempt writes down what became of an attempt of the job that has the delivery now.
UPDATE webhook_deliveries SET state = @state, attempts = attempts + 1, status = @status, error = @error, tried_at = @tried_at
WHERE id = @id AND state = 'waits';

-- name: GiveUpDelivery :exec
UPDATE webhook_deliveries SET state = 'failed', error = @error WHERE id = @id AND state = 'waits';

-- name: ListDeliveries :many
SELECT * FROM webhook_deliveries WHERE webhook_id = @webhook_id AND id < @before ORDER BY id DESC LIMIT @max_rows;

-- name: DeleteDeliveriesBefore :exec
DELETE FROM webhook_deliveries WHERE created_at < @before;

-- name: ListDeliveryJobsOfBrowser :many
-- ListDeliveryJobsOfBrowser lists the jobs that would tell of a candidate.
SELECT CAST(d.job_id AS BIGINT) AS job_id FROM webhook_deliveries d
JOIN candidates c ON c.id = d.candidate_id JOIN browsers b ON b.id = c.browser_id
WHERE b.token_hash = @token_hash AND d.state = 'waits' AND d.job_id IS NOT NULL ORDER BY d.id;

-- name: FindCandidateOfSubmission :one
SELECT c.id, c.assignment_id, s.public_id, s.exercise, s.outcome FROM submissions s JOIN candidates c ON c.browser_id = s.browser_id
WHERE s.id = @id;
