-- +goose Up
-- Who signs in with an account of a provider instead of, or beside, a password.
CREATE TABLE identities (
  issuer     TEXT   NOT NULL,
  subject    TEXT   NOT NULL CHECK (subject <> ''),
  person_id  BIGINT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_by_person ON identities (person_id);

-- +goose Down
DROP TABLE identities;
