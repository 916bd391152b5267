-- Claims that the phase of an issue is delivered. `open`: a verdict, or the step to the next phase, is still to come.
CREATE TABLE phase_claim (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    project       TEXT NOT NULL REFERENCES project (id),
    issue         TEXT NOT NULL REFERENCES issue (id),
    phase         TEXT NOT NULL,
    artifact_path TEXT,
    summary       TEXT NOT NULL,
    skip_to       TEXT,
    next_phase    TEXT,
    run           TEXT REFERENCES run (id),
    author        TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('submitted', 'accepted', 'awaiting_judge', 'rejected')),
    reasons       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(reasons)),
    verdict       TEXT CHECK (json_valid(verdict)),
    head_commit   TEXT,
    open          INTEGER NOT NULL CHECK (open IN (0, 1)),
    created_at    INTEGER NOT NULL,
    CHECK (state IN ('accepted', 'rejected') OR open = 1),
    CHECK (state <> 'rejected' OR open = 0),
    CHECK (state NOT IN ('accepted', 'awaiting_judge') OR head_commit IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX phase_claim_open ON phase_claim (issue) WHERE open = 1;
CREATE INDEX phase_claim_issue ON phase_claim (issue, id);
CREATE INDEX phase_claim_run ON phase_claim (run) WHERE run IS NOT NULL;
CREATE INDEX run_claim ON run (claim, started_at) WHERE claim IS NOT NULL;
