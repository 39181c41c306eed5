INSERT INTO people (login, name, role, password, created_at, signed_in_at) VALUES
  ('ada@example.org', 'Ada', 'owner', 'hash of a password', 1700000060000, 1700000061000),
  ('ivan', 'Иван', 'interviewer', 'hash of another', 1700000062000, NULL);
INSERT INTO invitations (token_hash, role, person_id, first, note, made_by, created_at, expires_at) VALUES
  ('invitation', 'interviewer', NULL, FALSE, 'for Eve', 1, 1700000063000, 1700604863000),
  ('new password', 'interviewer', 2, FALSE, '', 1, 1700000064000, 1700086464000);
INSERT INTO sessions (token_hash, person_id, created_at, expires_at, deadline_at) VALUES
  ('session', 1, 1700000061000, 1700172861000, 1701209661000);
INSERT INTO audit (at, person_id, who, action, subject, network) VALUES
  (1700000060000, 1, 'ada@example.org', 'joined', '', '192.0.2.1'),
  (1700000065000, NULL, '', 'refused', '', '192.0.2.2');
