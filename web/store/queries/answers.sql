-- name: ForgetAnswer :exec
-- ForgetAnswer deletes the answer under a key when it is too old, so that the key is free.
DELETE FROM api_answers WHERE token_id = @token_id AND key = @key AND created_at < @before;

-- name: BeginAnswer :execrows
-- BeginAnswer takes a key; 0: it is taken. On PostgreSQL it waits for a transaction
-- that has taken it and has not ended.
INSERT INTO api_answers (token_id, key, request, answer, created_at)
VALUES (@token_id, @key, @request, '', @created_at) ON CONFLICT DO NOTHING;

-- name: KeepAnswer :exec
UPDATE api_answers SET answer = @answer WHERE token_id = @token_id AND key = @key;

-- name: FindAnswer :one
SELECT request, answer FROM api_answers WHERE token_id = @token_id AND key = @key;

-- name: CountAnswers :one
-- CountAnswers reads no answer: octet_length is told by the head of a row on SQLite, and
-- by what stands in it for a long text on PostgreSQL.
SELECT count(*) AS answers, CAST(COALESCE(sum(octet_length(answer)), 0) AS BIGINT) AS size FROM api_answers
WHERE token_id = @token_id AND created_at >= @since;

-- name: DeleteAnswersBefore :exec
DELETE FROM api_answers WHERE created_at < @before;
