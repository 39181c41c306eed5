INSERT INTO drafts (browser_id, exercise, version, files, size, created_at, auto) VALUES
  (1, 'core/by-itself', 1, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIG9uZQ=="}]', 32, 1700000040000, TRUE),
  (1, 'core/by-itself', 2, '[{"name":"handler.go","content":"cGFja2FnZSBoYW5kbGVyIC8vIHR3bw=="}]', 32, 1700000041000, FALSE);
