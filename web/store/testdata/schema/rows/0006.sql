INSERT INTO identities (issuer, subject, person_id, created_at) VALUES
  ('https://id.example', '7', 2, 1700000070000);
