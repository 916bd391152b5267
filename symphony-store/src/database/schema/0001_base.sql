-- Times are milliseconds since 1970 UTC. Closed sets are stored by name, priorities by rank (0 = urgent).

CREATE TABLE project (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    root        TEXT NOT NULL UNIQUE,
    prefix      TEXT NOT NULL UNIQUE,
    next_number INTEGER NOT NULL DEFAULT 1,
    wizard      TEXT NOT NULL DEFAULT 'pending' CHECK (wizard IN ('pending', 'completed', 'failed')),
    settings    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE issue (
    id                   TEXT PRIMARY KEY,
    project              TEXT NOT NULL REFERENCES project (id),
    number               INTEGER NOT NULL,
    title                TEXT NOT NULL,
    title_key            TEXT NOT NULL,
    description          TEXT NOT NULL,
    status               TEXT NOT NULL CHECK (status IN ('backlog', 'todo', 'in_progress', 'review', 'blocked', 'done', 'cancelled')),
    blocked_by           TEXT CHECK (blocked_by IN ('subtasks', 'agent', 'cap', 'tampered', 'human')),
    blocked_reason       TEXT,
    priority             INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 4),
    size                 TEXT CHECK (size IN ('small', 'medium', 'large')),
    labels               TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(labels)),
    parent               TEXT REFERENCES issue (id),
    external_id          TEXT,
    open_dependencies    INTEGER NOT NULL DEFAULT 0 CHECK (open_dependencies >= 0),
    consecutive_failures INTEGER NOT NULL DEFAULT 0,
    total_runs           INTEGER NOT NULL DEFAULT 0,
    has_worktree         INTEGER NOT NULL DEFAULT 0 CHECK (has_worktree IN (0, 1)),
    delete_branch        INTEGER NOT NULL DEFAULT 0 CHECK (delete_branch IN (0, 1)),
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL,
    UNIQUE (project, number),
    CHECK ((status = 'blocked') = (blocked_by IS NOT NULL))
) STRICT;

-- what a tick reads: only issues that could start, in the order of dispatch
CREATE INDEX issue_ready ON issue (project, priority, created_at, id) WHERE status = 'todo' AND open_dependencies = 0;
CREATE INDEX issue_review ON issue (project, priority, created_at, id) WHERE status = 'review';
CREATE INDEX issue_clean_up ON issue (project, id) WHERE has_worktree = 1 AND status IN ('done', 'cancelled');
CREATE INDEX issue_blocked ON issue (project, id) WHERE status = 'blocked';
CREATE INDEX issue_status ON issue (project, status, number);
CREATE INDEX issue_parent ON issue (parent) WHERE parent IS NOT NULL;
CREATE INDEX issue_open_title ON issue (project, title_key) WHERE status NOT IN ('done', 'cancelled');

CREATE TABLE issue_label (
    issue TEXT NOT NULL REFERENCES issue (id),
    label TEXT NOT NULL,
    PRIMARY KEY (issue, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_label_by_label ON issue_label (label, issue);

CREATE TABLE issue_dependency (
    issue      TEXT NOT NULL REFERENCES issue (id),
    depends_on TEXT NOT NULL REFERENCES issue (id),
    PRIMARY KEY (issue, depends_on),
    CHECK (issue <> depends_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_dependency_reverse ON issue_dependency (depends_on, issue);

CREATE TABLE run (
    id                  TEXT PRIMARY KEY,
    fence               INTEGER NOT NULL UNIQUE,
    project             TEXT NOT NULL REFERENCES project (id),
    issue               TEXT REFERENCES issue (id),
    pull_request        INTEGER REFERENCES pull_request (id),
    claim               INTEGER,
    plan_phase          TEXT,
    agent               TEXT NOT NULL,
    phase               TEXT,
    attempt             INTEGER NOT NULL,
    provider            TEXT NOT NULL,
    model               TEXT,
    status              TEXT NOT NULL CHECK (status IN ('starting', 'running', 'succeeded', 'failed', 'timed_out', 'stalled', 'crashed', 'looping', 'tampered', 'cancelled')),
    protection          TEXT NOT NULL,
    started_at          INTEGER NOT NULL,
    ended_at            INTEGER,
    exit_code           INTEGER,
    error_class         TEXT,
    error_message       TEXT,
    output_tail         TEXT NOT NULL DEFAULT '',
    last_event          TEXT NOT NULL DEFAULT '',
    last_event_at       INTEGER,
    worktree            TEXT,
    branch              TEXT,
    input_tokens        INTEGER NOT NULL DEFAULT 0,
    output_tokens       INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens   INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens  INTEGER NOT NULL DEFAULT 0,
    cost_micros         INTEGER,
    turns               INTEGER NOT NULL DEFAULT 0,
    metadata            TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    moved_issue         INTEGER NOT NULL DEFAULT 0 CHECK (moved_issue IN (0, 1)),
    cancel_requested_at INTEGER,
    CHECK ((status IN ('starting', 'running')) = (ended_at IS NULL))
) STRICT;

-- I1: at most one live run on an issue
CREATE UNIQUE INDEX run_live_issue ON run (issue) WHERE issue IS NOT NULL AND status IN ('starting', 'running');
CREATE INDEX run_live ON run (started_at) WHERE status IN ('starting', 'running');
CREATE INDEX run_issue ON run (issue, started_at);
CREATE INDEX run_started ON run (project, started_at);
CREATE INDEX run_judge ON run (pull_request, started_at) WHERE pull_request IS NOT NULL;

CREATE TABLE retry (
    issue   TEXT PRIMARY KEY REFERENCES issue (id),
    agent   TEXT NOT NULL,
    kind    TEXT NOT NULL CHECK (kind IN ('continuation', 'backoff')),
    due_at  INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    reason  TEXT NOT NULL
) STRICT;

CREATE TABLE pull_request (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    project        TEXT NOT NULL REFERENCES project (id),
    issue          TEXT NOT NULL REFERENCES issue (id),
    run            TEXT REFERENCES run (id),
    title          TEXT NOT NULL,
    body           TEXT NOT NULL,
    branch         TEXT NOT NULL,
    base           TEXT NOT NULL,
    base_commit    TEXT NOT NULL,
    head_commit    TEXT NOT NULL,
    diff           TEXT NOT NULL,
    files          TEXT NOT NULL CHECK (json_valid(files)),
    reported_gates TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(reported_gates)),
    verified_gates TEXT CHECK (json_valid(verified_gates)),
    verdict        TEXT CHECK (json_valid(verdict)),
    state          TEXT NOT NULL CHECK (state IN ('open', 'approved', 'rejected', 'merged', 'closed')),
    merged_commit  TEXT,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX pull_request_open ON pull_request (issue) WHERE state IN ('open', 'approved');
CREATE INDEX pull_request_issue ON pull_request (issue, id);
CREATE INDEX pull_request_state ON pull_request (project, state, id);

CREATE TABLE comment (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    issue      TEXT NOT NULL REFERENCES issue (id),
    author     TEXT NOT NULL,
    run        TEXT REFERENCES run (id),
    content    TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX comment_issue ON comment (issue, id);
CREATE INDEX comment_run ON comment (run) WHERE run IS NOT NULL;

CREATE TABLE finding (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    issue      TEXT NOT NULL REFERENCES issue (id),
    kind       TEXT NOT NULL,
    text       TEXT NOT NULL,
    files      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
    author     TEXT NOT NULL,
    run        TEXT REFERENCES run (id),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX finding_issue ON finding (issue, id);
CREATE INDEX finding_run ON finding (run) WHERE run IS NOT NULL;

CREATE TABLE learning (
    id            TEXT PRIMARY KEY,
    project       TEXT NOT NULL REFERENCES project (id),
    issue         TEXT REFERENCES issue (id),
    run           TEXT REFERENCES run (id),
    commit_id     TEXT,
    author        TEXT NOT NULL,
    retired       INTEGER NOT NULL DEFAULT 0 CHECK (retired IN (0, 1)),
    pattern       TEXT NOT NULL,
    learning_type TEXT CHECK (learning_type IN ('convention', 'pattern', 'gotcha')),
    applies_to    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(applies_to)),
    labels        TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(labels)),
    created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX learning_project ON learning (project, created_at) WHERE retired = 0;
CREATE INDEX learning_run ON learning (run) WHERE run IS NOT NULL;

CREATE TABLE hold (
    scope  TEXT PRIMARY KEY,
    until  INTEGER NOT NULL,
    class  TEXT NOT NULL,
    reason TEXT NOT NULL,
    probes INTEGER NOT NULL DEFAULT 0,
    canary TEXT REFERENCES run (id)
) STRICT;

CREATE TABLE setting (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- what happened, in order; nothing is ever changed or removed here
CREATE TABLE event (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    project TEXT,
    issue   TEXT,
    run     TEXT,
    actor   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    payload TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(payload))
) STRICT;
CREATE INDEX event_issue ON event (issue, id) WHERE issue IS NOT NULL;
CREATE INDEX event_run ON event (run, id) WHERE run IS NOT NULL;
CREATE TRIGGER event_is_append_only_u BEFORE UPDATE ON event BEGIN SELECT raise(ABORT, 'events are append-only'); END;
CREATE TRIGGER event_is_append_only_d BEFORE DELETE ON event BEGIN SELECT raise(ABORT, 'events are append-only'); END;
