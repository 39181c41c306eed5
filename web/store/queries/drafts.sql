-- name: AddDraft :exec
INSERT INTO drafts (browser_id, exercise, version, files, size, created_at, auto, by_editor)
VALUES (@browser_id, @exercise, @version, @files, @size, @created_at, @auto, @by_editor);

-- name: KeepDraft :exec
-- KeepDraft makes a version that was saved by itself one that a person wants.
UPDATE drafts SET auto = FALSE WHERE browser_id = @browser_id AND exercise = @exercise AND version = @version;

-- name: NewestDraft :one
SELECT d.* FROM drafts d JOIN browsers b ON b.id = d.browser_id
WHERE b.token_hash = @token_hash AND d.exercise = @exercise
ORDER BY d.version DESC LIMIT 1;

-- name: GetDraft :one
SELECT d.* FROM drafts d JOIN browsers b ON b.id = d.browser_id
WHERE b.token_hash = @token_hash AND d.exercise = @exercise AND d.version = @version;

-- name: ListDrafts :many
SELECT d.version, d.size, d.created_at, d.auto, d.by_editor FROM drafts d JOIN browsers b ON b.id = d.browser_id
WHERE b.token_hash = @token_hash AND d.exercise = @exercise
ORDER BY d.version DESC LIMIT @max_rows;

-- name: SizeOfDrafts :one
SELECT count(*) AS versions, CAST(COALESCE(SUM(size), 0) AS BIGINT) AS bytes FROM drafts WHERE browser_id = @browser_id;

-- name: ThinSitting :execrows
-- ThinSitting deletes versions of a sitting beyond a number and a size in bytes, of
-- all its exercises together. The newest of each exercise always stays, then what a
-- person saved, then what was saved in the last minutes, then the last of each minute.
DELETE FROM drafts
WHERE drafts.browser_id = @browser_id AND (drafts.exercise, drafts.version) IN (
  SELECT k.exercise, k.version FROM (
    SELECT c.exercise, c.version, c.kept,
      ROW_NUMBER() OVER (ORDER BY c.kept, c.created_at DESC, c.exercise, c.version DESC) AS place,
      SUM(c.size) OVER (ORDER BY c.kept, c.created_at DESC, c.exercise, c.version DESC) AS total
    FROM (
      SELECT d.exercise, d.version, d.created_at, d.size, CASE
        WHEN d.version = MAX(d.version) OVER (PARTITION BY d.exercise) THEN 0
        WHEN NOT d.auto THEN 1
        WHEN d.created_at > CAST(@recent AS BIGINT) THEN 2
        WHEN d.version = MAX(d.version) OVER (PARTITION BY d.exercise, d.created_at / 60000) THEN 3
        ELSE 4 END AS kept
      FROM drafts d WHERE d.browser_id = @browser_id
    ) c
  ) k
  WHERE k.kept > 0 AND (k.place > CAST(@max_versions AS BIGINT) OR k.total > CAST(@max_bytes AS BIGINT))
);

-- name: ThinDrafts :execrows
-- ThinDrafts deletes versions beyond a number and a size in bytes: first the oldest
-- of those that were saved by themselves, then the oldest of the others. The
-- newest one always stays.
DELETE FROM drafts
WHERE drafts.browser_id = @browser_id AND drafts.exercise = @exercise AND drafts.version IN (
  SELECT k.version FROM (
    SELECT d.version,
      ROW_NUMBER() OVER (ORDER BY d.auto AND d.version <> CAST(@newest AS BIGINT), d.version DESC) AS place,
      SUM(d.size) OVER (ORDER BY d.auto AND d.version <> CAST(@newest AS BIGINT), d.version DESC) AS total
    FROM drafts d WHERE d.browser_id = @browser_id AND d.exercise = @exercise
  ) k WHERE k.place > CAST(@max_versions AS BIGINT) OR k.total > CAST(@max_bytes AS BIGINT)
);
