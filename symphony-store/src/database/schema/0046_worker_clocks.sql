-- how far the worker's clock is ahead of the database's, as it found last
ALTER TABLE worker ADD COLUMN clock_ahead_ms INTEGER NOT NULL DEFAULT 0;
