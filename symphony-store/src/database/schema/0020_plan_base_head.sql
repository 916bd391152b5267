-- The head at which Symphony left the base of a plan last. A base that does not have this commit any more has lost work of
-- complete phases.
ALTER TABLE plan ADD COLUMN base_head TEXT;
UPDATE plan SET base_head = (SELECT r.head_commit FROM pull_request r WHERE r.plan = plan.id ORDER BY r.id DESC LIMIT 1)
    WHERE merged_commit IS NULL;
