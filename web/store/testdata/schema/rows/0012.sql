INSERT INTO api_answers (token_id, key, request, answer, created_at) VALUES
  ((SELECT MIN(id) FROM api_tokens), '8e03978e-40d5-43dd-bc93-6894a57f9324', '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae', 'c2VhbGVk', 1700003000000);
