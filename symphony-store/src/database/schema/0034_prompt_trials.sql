-- The trial of prompts in real work that a run is part of, the set of prompts that it was built with, and the issue that the set was given
-- to: the topmost one above, so that a piece of work and its sub-tasks have one set.
ALTER TABLE run ADD COLUMN trial TEXT;
ALTER TABLE run ADD COLUMN prompt_set TEXT CHECK (prompt_set IN ('A', 'B'));
ALTER TABLE run ADD COLUMN trial_issue TEXT;
CREATE INDEX run_trial ON run (trial, trial_issue, fence) WHERE trial IS NOT NULL;
