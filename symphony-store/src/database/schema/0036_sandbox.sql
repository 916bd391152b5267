-- What confined the agent of a run; NULL before it started, for gates, and in runs of older versions.
ALTER TABLE run ADD COLUMN sandbox_level TEXT CHECK (sandbox_level IS NULL OR sandbox_level IN ('namespace', 'landlock', 'off'));
ALTER TABLE run ADD COLUMN sandbox_network TEXT CHECK ((sandbox_network IS NULL) = (sandbox_level IS NULL));
ALTER TABLE run ADD COLUMN landlock_abi INTEGER CHECK (landlock_abi IS NULL OR sandbox_level IS NOT NULL);
