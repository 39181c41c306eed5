INSERT INTO practised (browser_id, exercise, tried_at, passed_at) VALUES
  (2, 'core/outbox', 1700000050000, NULL);
INSERT INTO predictions (browser_id, exercise, guess, source_hash, made_at, came, came_at) VALUES
  (2, 'core/charge-once', 'duplicate', 'aa03', 1700000051000, 'duplicate', 1700000052000),
  (2, 'core/outbox', 'lost', 'aa04', 1700000053000, '', NULL);
INSERT INTO mistakes (browser_id, exercise, kind, times, last_at) VALUES
  (2, 'core/outbox', 'lost', 2, 1700000054000);
INSERT INTO cards (browser_id, card, stability, difficulty, reps, lapses, created_at, reviewed_at, due_at) VALUES
  (2, 'question/dedup', 2.5, 5.25, 2, 1, 1700000055000, 1700000056000, 1700086456000);
