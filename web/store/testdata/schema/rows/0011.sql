INSERT INTO drafts (browser_id, exercise, version, files, size, created_at, auto, by_editor) VALUES
  (4, 'core/outbox', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]', 32, 1700002300000, TRUE, TRUE);
INSERT INTO pastes (browser_id, exercise, mark, version, file, from_line, to_line, lines, size, moved, pasted_at) VALUES
  (4, 'core/outbox', 'm1', 1, 'handler.go', 1, 1, 1, 22, FALSE, 1700002299000);
