-- When a person withdrew a message before an agent had read it.
ALTER TABLE comment ADD COLUMN withdrawn_at INTEGER CHECK (withdrawn_at IS NULL OR addressee IS NOT NULL);
