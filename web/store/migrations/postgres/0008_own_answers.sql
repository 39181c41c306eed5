-- +goose Up
-- What a browser answered to a question before it opened ours. It goes with the
-- browser.
CREATE TABLE own_answers (
  browser_id BIGINT NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
  question   TEXT   NOT NULL,
  answer     TEXT   NOT NULL CHECK (answer <> ''),
  saved_at   BIGINT NOT NULL,
  PRIMARY KEY (browser_id, question)
);

-- +goose Down
DROP TABLE own_answers;
