-- What the database adds to an agent's profile: instructions and a model, for one project or, without one, for all.
CREATE TABLE profile_override (
    agent               TEXT NOT NULL,
    project             TEXT REFERENCES project (id),
    custom_instructions TEXT,
    model               TEXT,
    updated_at          INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX profile_override_scope ON profile_override (agent, coalesce(project, ''));

-- Runs on a project itself: at most one live one of an agent; the last one tells when the next may come.
CREATE UNIQUE INDEX run_live_project ON run (project, agent)
    WHERE issue IS NULL AND plan_phase IS NULL AND status IN ('starting', 'running');
CREATE INDEX run_of_project ON run (project, agent, fence) WHERE issue IS NULL AND plan_phase IS NULL;

-- What intake made of an issue; none has looked at it while this is null.
ALTER TABLE issue ADD COLUMN intake TEXT CHECK (intake IN ('changed', 'unchanged'));
CREATE INDEX issue_untriaged ON issue (project, priority, created_at, id) WHERE status = 'backlog' AND intake IS NULL;
CREATE INDEX issue_intake_unchanged ON issue (project, id) WHERE status = 'backlog' AND intake = 'unchanged';
