INSERT INTO own_answers (browser_id, question, answer, saved_at) VALUES
  (1, 'dedup', 'С ключом.', 1700000110000);
