INSERT INTO assignments (person_id, title, note, lang, minutes, opens_at, closes_at, warm_up, hints, approaches, all_phases, retain_days, open_hash, created_at) VALUES
  (2, 'Backend', 'Good luck.', 'en', 60, 1700000000000, 1701000000000, 'core/warm-up', TRUE, FALSE, FALSE, 30, 'open', 1700000080000),
  (NULL, 'Of who is gone', '', 'de', 0, NULL, NULL, '', FALSE, FALSE, TRUE, 90, NULL, 1700000081000);
INSERT INTO assignment_exercises (assignment_id, place, exercise) VALUES
  (1, 1, 'core/charge-once'), (1, 2, 'core/outbox'), (2, 1, 'core/outbox');
INSERT INTO browsers (token_hash, created_at, seen_at) VALUES
  ('sitting:GRACE', 1700000082000, 1700003000000),
  ('sitting:LINUS', 1700000083000, 1700003000000);
INSERT INTO candidates (assignment_id, browser_id, token_hash, name, self, extra_minutes, created_at, cancelled_at, started_at, ended_at, ended_by, given_back, handed_in) VALUES
  (1, 3, 'grace', 'Grace', FALSE, 15, 1700000082000, NULL, 1700000090000, 1700003000000, 'candidate', 4000, TRUE),
  (1, 4, 'linus', 'Linus', TRUE, 0, 1700000083000, NULL, 1700002000000, NULL, '', 0, FALSE);
INSERT INTO drafts (browser_id, exercise, version, files, size, created_at, auto) VALUES
  (3, 'core/charge-once', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]', 32, 1700000100000, TRUE);
INSERT INTO submissions (public_id, browser_id, exercise, exercise_version, engine, seed, files, source_hash, state, outcome, verdict, job_id, attempt, created_at, started_at, finished_at) VALUES
  ('of Grace', 3, 'core/charge-once', '1.0.0', '1', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]', 'aa01', 'graded', 'failed', '{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"failed","summary":"The payment was charged twice.","findings":[{"kind":"duplicate","object":"p-1","message":"Charged twice."}],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}', 4, 1, 1700000200000, 1700000203000, 1700000206000),
  ('of Linus', 4, 'core/charge-once', '1.0.0', '1', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]', 'aa02', 'graded', 'passed', '{"exercise":"core/charge-once","exercise_version":"1.0.0","engine":"1","outcome":"passed","summary":"It holds.","findings":[],"coverage":[{"phase":"happy","schedules":1,"failed":0,"complete":true}],"schedules":1,"timings_ms":{},"trace_hash":"sha256:00"}', 5, 2, 1700002100000, 1700002107000, 1700002110000);
INSERT INTO outages (began_at, ended_at) VALUES (1700002200000, 1700002260000);
INSERT INTO alive (only_row, at) VALUES (1, 1700003000000);
INSERT INTO candidate_notes (candidate_id, exercise, met, note, noted_at) VALUES
  (1, 'core/charge-once', '1 3', 'Found the window.', 1700003100000),
  (1, '', '', 'Yes.', 1700003200000);
