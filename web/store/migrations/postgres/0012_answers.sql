-- +goose Up
-- What a program was answered to a request that makes something, by the key that it
-- drew: the same request again gets the same answer. The answer is sealed with a key
-- made of the token, of which only the hash is here.
CREATE TABLE api_answers (
  token_id   BIGINT NOT NULL REFERENCES api_tokens (id) ON DELETE CASCADE,
  key        TEXT   NOT NULL CHECK (key <> ''),
  request    TEXT   NOT NULL, -- hash of all that was asked for
  created_at BIGINT NOT NULL,
  -- base64; empty only inside of the transaction that makes it. Nothing stands after it:
  -- SQLite reads all of a long text to come to the next column.
  answer     TEXT   NOT NULL,
  PRIMARY KEY (token_id, key)
);
CREATE INDEX api_answers_created ON api_answers (created_at);

-- +goose Down
DROP TABLE api_answers;
