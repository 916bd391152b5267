-- Plan files under way (spec: plan). A plan's path is relative to its project where it lies inside.

CREATE TABLE plan (
    id                 TEXT PRIMARY KEY,
    project            TEXT NOT NULL REFERENCES project (id),
    path               TEXT NOT NULL,
    document           TEXT NOT NULL CHECK (json_valid(document)),
    options            TEXT NOT NULL CHECK (json_valid(options)),
    -- where its work begins and goes; none without worktrees
    target_branch      TEXT,
    base_commit        TEXT,
    status             TEXT NOT NULL CHECK (status IN ('running', 'paused', 'awaiting_user_decision', 'completed', 'failed', 'aborted')),
    is_abort_requested INTEGER NOT NULL DEFAULT 0 CHECK (is_abort_requested IN (0, 1)),
    started_at         INTEGER NOT NULL,
    completed_at       INTEGER,
    -- what a completed plan's work became: a commit of the target branch
    merged_commit      TEXT,
    -- rises with each change: who watches a plan reads it anew only then
    revision           INTEGER NOT NULL DEFAULT 1,
    CHECK ((status IN ('completed', 'failed', 'aborted')) = (completed_at IS NOT NULL))
) STRICT;
-- a plan file is carried out once at a time
CREATE UNIQUE INDEX plan_under_way ON plan (project, path) WHERE status IN ('running', 'paused', 'awaiting_user_decision');
CREATE INDEX plan_project ON plan (project, started_at);

ALTER TABLE run ADD COLUMN plan TEXT REFERENCES plan (id);
-- I1, for plans: at most one live run on a phase
CREATE UNIQUE INDEX run_live_plan_phase ON run (plan, plan_phase) WHERE plan IS NOT NULL AND status IN ('starting', 'running');
CREATE INDEX run_plan ON run (plan, started_at) WHERE plan IS NOT NULL;

CREATE TABLE plan_phase (
    plan     TEXT NOT NULL REFERENCES plan (id),
    phase    TEXT NOT NULL,
    status   TEXT NOT NULL CHECK (status IN ('pending', 'ready', 'running', 'retrying', 'awaiting_decision', 'complete', 'failed', 'blocked', 'aborted')),
    run      TEXT REFERENCES run (id),
    progress TEXT NOT NULL CHECK (json_valid(progress)),
    PRIMARY KEY (plan, phase),
    CHECK ((status = 'running') = (run IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_phase_decision ON plan_phase (plan, phase) WHERE status = 'awaiting_decision';

CREATE TABLE plan_artifact (
    plan     TEXT NOT NULL,
    phase    TEXT NOT NULL,
    number   INTEGER NOT NULL,
    type     TEXT NOT NULL CHECK (type IN ('file_created', 'file_modified', 'file_deleted', 'export', 'note')),
    path     TEXT,
    name     TEXT,
    content  TEXT,
    metadata TEXT CHECK (json_valid(metadata)),
    PRIMARY KEY (plan, phase, number),
    FOREIGN KEY (plan, phase) REFERENCES plan_phase (plan, phase)
) STRICT;

-- what a run's agent said of its phase's outcome, or its clean exit did
CREATE TABLE plan_outcome (
    run       TEXT PRIMARY KEY REFERENCES run (id),
    outcome   TEXT NOT NULL CHECK (json_valid(outcome)),
    artifacts TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(artifacts)),
    at        INTEGER NOT NULL
) STRICT;

ALTER TABLE event ADD COLUMN plan TEXT;
CREATE INDEX event_plan ON event (plan, id) WHERE plan IS NOT NULL;
