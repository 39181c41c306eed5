-- Filled before the first call: one row for each order.
CREATE TABLE orders (id TEXT PRIMARY KEY, amount INTEGER NOT NULL); -- amount in cents

-- Empty. To keep something beyond the life of a process.
CREATE TABLE event_ids (order_id TEXT PRIMARY KEY, event_id TEXT NOT NULL);
