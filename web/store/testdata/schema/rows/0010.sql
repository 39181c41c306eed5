INSERT INTO submissions (public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash, state, job_id, attempt, created_at, begun_at, started_at, replaced_at) VALUES
  ('replaced', 2, 'core/outbox', '1.0.0', '4', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]', 'aa01', 'queued', 8, 1, 1700000130000, 1700000131000, 1700000131000, 1700000132000);
INSERT INTO submissions (public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash, state, job_id, attempt, created_at) VALUES
  ('newer', 2, 'core/outbox', '1.0.0', '4', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]', 'aa02', 'queued', 9, 0, 1700000132000);
