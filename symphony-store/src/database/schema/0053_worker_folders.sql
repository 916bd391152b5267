-- Two workers with one name would each take the other's runs for its own: one says in which folder of which machine it works.
ALTER TABLE worker ADD COLUMN folder TEXT NOT NULL DEFAULT '';
-- Its `lease.fence_ms`: an agent that ends later than the control expects could work beside its successor.
ALTER TABLE worker ADD COLUMN fence_ms INTEGER NOT NULL DEFAULT 0;
