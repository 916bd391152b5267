-- How many runs a worker can have at once. It says so when it shows itself next.
ALTER TABLE worker ADD COLUMN slots BIGINT NOT NULL DEFAULT 0;
