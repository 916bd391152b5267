-- Whether the gates of the issue have passed since: such a failure no longer counts for its gate, but the same output still does.
ALTER TABLE gate_failure ADD COLUMN passed_since INTEGER NOT NULL DEFAULT 0 CHECK (passed_since IN (0, 1));
