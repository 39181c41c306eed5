-- +goose Up
-- The editor saves by itself. What a person saved, handed in or reset stays
-- longer than what was saved in between.
ALTER TABLE drafts ADD COLUMN auto BOOLEAN NOT NULL DEFAULT FALSE;

-- +goose Down
ALTER TABLE drafts DROP COLUMN auto;
