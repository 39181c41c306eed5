-- What the service has booked. Empty at the start.
CREATE TABLE ledger (order_id TEXT NOT NULL, amount INTEGER NOT NULL); -- amount in cents
