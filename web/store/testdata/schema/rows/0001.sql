INSERT INTO browsers (token_hash, created_at, seen_at) VALUES
  ('fdee430d40bd57deeac186cd9790033d0f06f909a8806e7ce6e717ab7c7d5029', 1700000000000, 1700000900000),
  ('81b637d8fcd2c6da6359e6963113a1170de795e4b725b84d1e0b4cfd9ec58ce9', 1700000100000, 1700000100000);
INSERT INTO drafts (browser_id, exercise, version, files, size, created_at) VALUES
  (1, 'core/charge-once', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]', 32, 1700000001000),
  (1, 'core/charge-once', 2, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]', 32, 1700000002000);
INSERT INTO submissions (public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash, state, outcome, verdict, job_id, attempt, created_at, started_at, finished_at) VALUES
  ('failed', 1, 'core/charge-once', '1.0.0', '1', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]', 'aa01', 'graded', 'failed', '{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"failed","summary":"The payment was charged twice.","findings":[{"kind":"duplicate","object":"p-1","message":"Charged twice."}],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}', 1, 1, 1700000010000, 1700000011000, 1700000014000),
  ('passed', 1, 'core/charge-once', '1.0.0', '1', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]', 'aa02', 'graded', 'passed', '{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"passed","summary":"It holds.","findings":[],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}', 2, 1, 1700000020000, 1700000021000, 1700000024000),
  ('waits', 2, 'core/charge-once', '1.0.0', '1', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]', 'aa01', 'queued', '', '', 3, 0, 1700000030000, NULL, NULL);
INSERT INTO submission_steps (submission_id, number, step, created_at) VALUES
  (1, 1, '{"stage":"check"}', 1700000011000),
  (1, 2, '{"stage":"build"}', 1700000012000);
