-- The pull request of a plan is the same record as the one of an issue, with `plan` in place of `issue`.
ALTER TABLE pull_request ADD COLUMN plan TEXT REFERENCES plan (id) CHECK ((issue IS NULL) <> (plan IS NULL));
-- A plan under review has not ended, and one that was merged is cleaned up afterwards.
ALTER TABLE plan ADD COLUMN needs_clean_up INTEGER NOT NULL DEFAULT 0 CHECK (needs_clean_up IN (0, 1));

-- SQLite has no statement that changes a constraint; editing the table's text and reading the schema again is its documented
-- way, and rewrites no row.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'issue          TEXT NOT NULL REFERENCES issue (id)', 'issue          TEXT REFERENCES issue (id)')
    WHERE type = 'table' AND name = 'pull_request';
UPDATE sqlite_schema SET sql = replace(sql, '(''running'', ''paused'', ''awaiting_user_decision'', ''completed''', '(''running'', ''paused'', ''awaiting_user_decision'', ''review'', ''completed''')
    WHERE type = 'table' AND name = 'plan';
PRAGMA writable_schema = RESET;

CREATE UNIQUE INDEX pull_request_open_plan ON pull_request (plan) WHERE plan IS NOT NULL AND state IN ('open', 'approved');
CREATE INDEX pull_request_plan ON pull_request (plan, id) WHERE plan IS NOT NULL;
DROP INDEX plan_under_way;
CREATE UNIQUE INDEX plan_under_way ON plan (project, path) WHERE status IN ('running', 'paused', 'awaiting_user_decision', 'review');
CREATE INDEX plan_review ON plan (project, started_at) WHERE status = 'review';
CREATE INDEX plan_clean_up ON plan (project, id) WHERE needs_clean_up = 1;

-- I1, for plans under review: at most one live run on a plan's pull request
CREATE UNIQUE INDEX run_live_plan_review ON run (plan)
    WHERE plan IS NOT NULL AND pull_request IS NOT NULL AND status IN ('starting', 'running');
-- a run on the pull request of a plan is none on the project itself
DROP INDEX run_live_project;
CREATE UNIQUE INDEX run_live_project ON run (project, agent)
    WHERE issue IS NULL AND plan IS NULL AND status IN ('starting', 'running');
DROP INDEX run_of_project;
CREATE INDEX run_of_project ON run (project, agent, fence) WHERE issue IS NULL AND plan IS NULL;
