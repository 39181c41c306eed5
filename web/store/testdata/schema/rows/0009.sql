INSERT INTO api_tokens (person_id, token_hash, name, created_at, expires_at, used_at) VALUES
  (2, 'token', 'from the tracker', 1700000120000, NULL, 1700000121000);
INSERT INTO webhooks (url, secret, created_at) VALUES
  ('https://hooks.example/redeliver', 'whsec_0001', 1700000122000);
INSERT INTO webhook_deliveries (webhook_id, candidate_id, message_id, event, body, state, attempts, status, error, created_at, tried_at, job_id) VALUES
  (1, NULL, 'msg_1', 'test', '{}', 'delivered', 1, 204, '', 1700000123000, 1700000124000, 6),
  (1, 1, 'msg_2', 'sitting.ended', '{"candidate":1}', 'waits', 1, 500, 'status 500', 1700003000000, 1700003001000, 7);
