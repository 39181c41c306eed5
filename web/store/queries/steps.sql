-- name: AddStep :exec
INSERT INTO submission_steps (submission_id, number, step, created_at)
VALUES (@submission_id, @number, @step, @created_at);

-- name: LastStepNumber :one
SELECT CAST(COALESCE(MAX(number), 0) AS BIGINT) FROM submission_steps WHERE submission_id = @submission_id;

-- name: DeleteSteps :exec
DELETE FROM submission_steps WHERE submission_id = @submission_id;

-- name: ListSteps :many
SELECT number, step FROM submission_steps WHERE submission_id = @submission_id ORDER BY number;
