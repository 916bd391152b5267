-- What all migrations make of an empty database. `SYMPHONY_WRITE_SCHEMA=1 cargo test --workspace a_new_database` writes it.
CREATE TABLE project (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    root        TEXT NOT NULL UNIQUE,
    prefix      TEXT NOT NULL UNIQUE,
    next_number INTEGER NOT NULL DEFAULT 1,
    wizard      TEXT NOT NULL DEFAULT 'pending' CHECK (wizard IN ('pending', 'completed', 'failed')),
    settings    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
    created_at  INTEGER NOT NULL
, removed_at INTEGER, hub TEXT) STRICT;
CREATE TABLE issue (
    id                   TEXT PRIMARY KEY,
    project              TEXT NOT NULL REFERENCES project (id),
    number               INTEGER NOT NULL,
    title                TEXT NOT NULL,
    title_key            TEXT NOT NULL,
    description          TEXT NOT NULL,
    status               TEXT NOT NULL CHECK (status IN ('backlog', 'todo', 'in_progress', 'review', 'blocked', 'done', 'cancelled')),
    blocked_by           TEXT CHECK (blocked_by IN ('subtasks', 'agent', 'cap', 'tampered', 'human', 'gates', 'question', 'taken_over', 'hosts_lost')),
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
    updated_at           INTEGER NOT NULL, open_subtasks INTEGER NOT NULL DEFAULT 0 CHECK (open_subtasks >= 0), done_subtasks INTEGER NOT NULL DEFAULT 0 CHECK (done_subtasks >= 0), intake TEXT CHECK (intake IN ('changed', 'unchanged')), rescued_branch TEXT, provider TEXT CHECK (provider IS NULL OR provider <> ''), model TEXT CHECK (model IS NULL OR model <> ''), is_proposed INTEGER NOT NULL DEFAULT 0 CHECK (is_proposed IN (0, 1)), has_delivery INTEGER NOT NULL DEFAULT 0 CHECK (has_delivery IN (0, 1)), idle_dependencies INTEGER NOT NULL DEFAULT 0 CHECK (idle_dependencies >= 0), is_awaited INTEGER NOT NULL DEFAULT 0 CHECK (is_awaited IN (0, 1)),
    UNIQUE (project, number),
    CHECK ((status = 'blocked') = (blocked_by IS NOT NULL))
) STRICT;
CREATE TABLE issue_label (
    issue TEXT NOT NULL REFERENCES issue (id),
    label TEXT NOT NULL,
    PRIMARY KEY (issue, label)
) STRICT, WITHOUT ROWID;
CREATE TABLE issue_dependency (
    issue      TEXT NOT NULL REFERENCES issue (id),
    depends_on TEXT NOT NULL REFERENCES issue (id),
    PRIMARY KEY (issue, depends_on),
    CHECK (issue <> depends_on)
) STRICT, WITHOUT ROWID;
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
    cancel_requested_at INTEGER, plan TEXT REFERENCES plan (id), trial TEXT, prompt_set TEXT CHECK (prompt_set IN ('A', 'B')), trial_issue TEXT, sandbox_level TEXT CHECK (sandbox_level IS NULL OR sandbox_level IN ('namespace', 'landlock', 'off')), sandbox_network TEXT CHECK ((sandbox_network IS NULL) = (sandbox_level IS NULL)), landlock_abi INTEGER CHECK (landlock_abi IS NULL OR sandbox_level IS NOT NULL), pool TEXT, host TEXT CHECK (host IS NULL OR pool IS NOT NULL), begun_at INTEGER CHECK ((begun_at IS NULL) = (host IS NULL)), beat_at INTEGER CHECK ((beat_at IS NULL) = (host IS NULL)), start_commit TEXT, result_commit TEXT, promoted TEXT,
    CHECK ((status IN ('starting', 'running')) = (ended_at IS NULL))
) STRICT;
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
    issue          TEXT REFERENCES issue (id),
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
    state          TEXT NOT NULL CHECK (state IN ('open', 'approved', 'rejected', 'merged', 'closed', 'confirmed')),
    merged_commit  TEXT,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
, gates_due_at INTEGER NOT NULL DEFAULT 0, gates_tries INTEGER NOT NULL DEFAULT 0 CHECK (gates_tries >= 0), gates_problem TEXT, gates_fresh INTEGER NOT NULL DEFAULT 0 CHECK (gates_fresh IN (0, 1)), base_seen TEXT, merged_outside TEXT CHECK (json_valid(merged_outside)), plan TEXT REFERENCES plan (id) CHECK ((issue IS NULL) <> (plan IS NULL)), merge_intent TEXT, checklist TEXT NOT NULL DEFAULT '[]', proposal TEXT CHECK (json_valid(proposal)) CHECK (proposal IS NULL OR head_commit = base_commit)) STRICT;
CREATE TABLE comment (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    issue      TEXT NOT NULL REFERENCES issue (id),
    author     TEXT NOT NULL,
    run        TEXT REFERENCES run (id),
    content    TEXT NOT NULL,
    created_at INTEGER NOT NULL
, unverified TEXT CHECK (unverified IS NULL OR author = 'human'), source TEXT CHECK (source IS NULL OR source IN ('cli', 'web', 'agent', 'tracker')), user TEXT CHECK (user IS NULL OR author = 'human'), addressee TEXT CHECK (addressee IS NULL OR (addressee IN ('author', 'judge') AND author = 'human')), read_by TEXT REFERENCES run (id), read_at INTEGER CHECK ((read_at IS NULL) = (read_by IS NULL) AND (read_at IS NULL OR addressee IS NOT NULL)), login TEXT CHECK (login IS NULL OR author = 'tracker_user'), withdrawn_at INTEGER CHECK (withdrawn_at IS NULL OR addressee IS NOT NULL)) STRICT;
CREATE TABLE learning (
    id            TEXT PRIMARY KEY,
    project       TEXT NOT NULL REFERENCES project (id),
    issue         TEXT REFERENCES issue (id),
    run           TEXT REFERENCES run (id),
    commit_id     TEXT,
    author        TEXT NOT NULL,
    pattern       TEXT NOT NULL,
    learning_type TEXT CHECK (learning_type IN ('convention', 'pattern', 'gotcha')),
    applies_to    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(applies_to)),
    labels        TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(labels)),
    created_at    INTEGER NOT NULL
, state TEXT NOT NULL DEFAULT 'accepted' CHECK (state IN ('proposed', 'accepted', 'dropped', 'retired')), accepted_at INTEGER) STRICT;
CREATE TABLE hold (
    scope  TEXT PRIMARY KEY,
    until  INTEGER NOT NULL,
    class  TEXT NOT NULL,
    reason TEXT NOT NULL,
    probes INTEGER NOT NULL DEFAULT 0,
    canary TEXT REFERENCES run (id)
, placed_at INTEGER NOT NULL DEFAULT 0, tried TEXT) STRICT;
CREATE TABLE setting (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    project TEXT,
    issue   TEXT,
    run     TEXT,
    actor   TEXT NOT NULL,
    kind    TEXT NOT NULL,
    payload TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(payload))
, plan TEXT, unverified TEXT CHECK (unverified IS NULL OR actor = 'human'), source TEXT CHECK (source IS NULL OR source IN ('cli', 'web', 'agent', 'tracker')), user TEXT CHECK (user IS NULL OR actor = 'human')) STRICT;
CREATE TABLE learning_prepared (
    project       TEXT NOT NULL,
    learning      TEXT NOT NULL REFERENCES learning (id),
    issue         TEXT,
    learning_type TEXT,
    created_at    INTEGER NOT NULL,
    prepared      BLOB NOT NULL,
    PRIMARY KEY (project, learning)
) STRICT, WITHOUT ROWID;
CREATE TABLE learning_pack (
    id      INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    forms   BLOB NOT NULL
) STRICT;
CREATE TABLE learning_given (
    learning TEXT NOT NULL REFERENCES learning (id),
    run      TEXT NOT NULL REFERENCES run (id),
    PRIMARY KEY (learning, run)
) STRICT, WITHOUT ROWID;
CREATE TABLE test_health (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    project     TEXT NOT NULL REFERENCES project (id),
    issue       TEXT REFERENCES issue (id),
    run         TEXT REFERENCES run (id),
    test_count  INTEGER NOT NULL CHECK (test_count >= 0),
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    flags       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(flags)),
    created_at  INTEGER NOT NULL
) STRICT;
CREATE TABLE coverage (
    project    TEXT NOT NULL REFERENCES project (id),
    file       TEXT NOT NULL,
    concept    TEXT NOT NULL,
    notes      TEXT NOT NULL DEFAULT '',
    run        TEXT REFERENCES run (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project, file, concept)
) STRICT, WITHOUT ROWID;
CREATE TABLE spending (
    project     TEXT NOT NULL REFERENCES project (id),
    day         INTEGER NOT NULL,
    tokens      INTEGER NOT NULL DEFAULT 0,
    cost_micros INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE plan (
    id                 TEXT PRIMARY KEY,
    project            TEXT NOT NULL REFERENCES project (id),
    path               TEXT NOT NULL,
    document           TEXT NOT NULL CHECK (json_valid(document)),
    options            TEXT NOT NULL CHECK (json_valid(options)),
    -- where its work begins and goes; none without worktrees
    target_branch      TEXT,
    base_commit        TEXT,
    status             TEXT NOT NULL CHECK (status IN ('running', 'paused', 'awaiting_user_decision', 'review', 'completed', 'failed', 'aborted')),
    is_abort_requested INTEGER NOT NULL DEFAULT 0 CHECK (is_abort_requested IN (0, 1)),
    started_at         INTEGER NOT NULL,
    completed_at       INTEGER,
    -- what a completed plan's work became: a commit of the target branch
    merged_commit      TEXT,
    -- rises with each change: who watches a plan reads it anew only then
    revision           INTEGER NOT NULL DEFAULT 1, needs_clean_up INTEGER NOT NULL DEFAULT 0 CHECK (needs_clean_up IN (0, 1)), base_head TEXT,
    CHECK ((status IN ('completed', 'failed', 'aborted')) = (completed_at IS NOT NULL))
) STRICT;
CREATE TABLE plan_phase (
    plan     TEXT NOT NULL REFERENCES plan (id),
    phase    TEXT NOT NULL,
    status   TEXT NOT NULL CHECK (status IN ('pending', 'ready', 'running', 'retrying', 'awaiting_decision', 'complete', 'failed', 'blocked', 'aborted')),
    run      TEXT REFERENCES run (id),
    progress TEXT NOT NULL CHECK (json_valid(progress)),
    PRIMARY KEY (plan, phase),
    CHECK ((status = 'running') = (run IS NOT NULL))
) STRICT, WITHOUT ROWID;
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
CREATE TABLE plan_outcome (
    run       TEXT PRIMARY KEY REFERENCES run (id),
    outcome   TEXT NOT NULL CHECK (json_valid(outcome)),
    artifacts TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(artifacts)),
    at        INTEGER NOT NULL
) STRICT;
CREATE TABLE profile_override (
    agent               TEXT NOT NULL,
    project             TEXT REFERENCES project (id),
    custom_instructions TEXT,
    model               TEXT,
    updated_at          INTEGER NOT NULL
) STRICT;
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
CREATE TABLE notification (
    project    TEXT NOT NULL REFERENCES project (id),
    key        TEXT NOT NULL,
    item       TEXT NOT NULL CHECK (json_valid(item)),
    state      TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'failed')),
    problem    TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE publication (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    pull_request INTEGER NOT NULL REFERENCES pull_request (id),
    commit_id    TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('running', 'published', 'failed')),
    exit_code    INTEGER,
    url          TEXT,
    output       TEXT NOT NULL DEFAULT '',
    started_at   INTEGER NOT NULL,
    ended_at     INTEGER,
    CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;
CREATE TABLE gate_pass (
    key       TEXT PRIMARY KEY,
    project   TEXT NOT NULL REFERENCES project (id),
    gate      TEXT NOT NULL,
    tree      TEXT NOT NULL,
    passed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE gate_failure (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    issue  TEXT NOT NULL REFERENCES issue (id),
    run    TEXT NOT NULL REFERENCES run (id),
    tree   TEXT NOT NULL,
    print  TEXT NOT NULL,
    at     INTEGER NOT NULL
, gates TEXT NOT NULL DEFAULT '[]', passed_since INTEGER NOT NULL DEFAULT 0 CHECK (passed_since IN (0, 1))) STRICT;
CREATE TABLE exit_handling (
    run     TEXT PRIMARY KEY REFERENCES run (id),
    outcome TEXT NOT NULL CHECK (json_valid(outcome)),
    tries   INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    due_at  INTEGER,
    problem TEXT,
    CHECK ((due_at IS NULL) = (problem IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE base_look (
    project TEXT NOT NULL REFERENCES project (id),
    branch  TEXT NOT NULL,
    head    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, branch)
) STRICT, WITHOUT ROWID;
CREATE TABLE hold_trial (
    scope    TEXT NOT NULL,
    item     TEXT NOT NULL CHECK (json_valid(item)),
    turn     INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    held     INTEGER NOT NULL,
    witness  TEXT, alone INTEGER NOT NULL DEFAULT 0, doubted INTEGER NOT NULL DEFAULT 0 CHECK (doubted IN (0, 1)),
    PRIMARY KEY (scope, item)
) STRICT, WITHOUT ROWID;
CREATE TABLE tried_gate (
    project TEXT NOT NULL REFERENCES project (id),
    digest  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, digest)
) STRICT, WITHOUT ROWID;
CREATE TABLE clean_up_fault (
    issue   TEXT PRIMARY KEY REFERENCES issue (id),
    tries   INTEGER NOT NULL,
    due_at  INTEGER NOT NULL,
    problem TEXT NOT NULL,
    since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE "base_notice" (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    project      TEXT NOT NULL REFERENCES project (id),
    issue        TEXT REFERENCES issue (id),
    plan         TEXT REFERENCES plan (id) CHECK (issue IS NULL OR plan IS NULL),
    pull_request INTEGER REFERENCES pull_request (id),
    kind         TEXT NOT NULL,
    commit_id    TEXT NOT NULL,
    text         TEXT NOT NULL,
    at           INTEGER NOT NULL,
    dismissed_at INTEGER,
    UNIQUE (issue, kind, commit_id),
    UNIQUE (plan, kind, commit_id)
) STRICT;
CREATE TABLE review_point (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    project      TEXT NOT NULL REFERENCES project (id),
    issue        TEXT REFERENCES issue (id),
    plan         TEXT REFERENCES plan (id),
    number       INTEGER NOT NULL CHECK (number > 0),
    severity     TEXT NOT NULL CHECK (severity IN ('must', 'should', 'note')),
    text         TEXT NOT NULL CHECK (length(text) BETWEEN 1 AND 2000),
    file         TEXT,
    lines        TEXT CHECK (lines IS NULL OR file IS NOT NULL),
    state        TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    round        INTEGER NOT NULL CHECK (round > 0),
    author       TEXT NOT NULL,
    run          TEXT REFERENCES run (id),
    pull_request INTEGER REFERENCES pull_request (id),
    claim        INTEGER REFERENCES phase_claim (id),
    commit_id    TEXT,
    created_at   INTEGER NOT NULL,
    unverified   TEXT, source TEXT CHECK (source IS NULL OR source IN ('cli', 'web', 'agent', 'tracker')), user TEXT CHECK (user IS NULL OR author = 'human'),
    CHECK ((issue IS NULL) <> (plan IS NULL)),
    CHECK (pull_request IS NULL OR claim IS NULL)
) STRICT;
CREATE TABLE point_answer (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    point      INTEGER NOT NULL REFERENCES review_point (id),
    round      INTEGER NOT NULL CHECK (round > 0),
    kind       TEXT NOT NULL CHECK (kind IN ('fixed', 'declined', 'question', 'remark')),
    text       TEXT NOT NULL CHECK (length(text) BETWEEN 1 AND 2000),
    commit_id  TEXT,
    author     TEXT NOT NULL,
    run        TEXT REFERENCES run (id),
    created_at INTEGER NOT NULL,
    unverified TEXT
, source TEXT CHECK (source IS NULL OR source IN ('cli', 'web', 'agent', 'tracker')), user TEXT CHECK (user IS NULL OR author = 'human')) STRICT;
CREATE TABLE learning_source (
    id       INTEGER PRIMARY KEY,
    learning TEXT NOT NULL REFERENCES learning (id),
    issue    TEXT REFERENCES issue (id),
    plan     TEXT REFERENCES plan (id),
    run      TEXT NOT NULL REFERENCES run (id),
    CHECK ((issue IS NULL) <> (plan IS NULL))
) STRICT;
CREATE TABLE "finding" (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL REFERENCES project (id),
    issue      TEXT REFERENCES issue (id),
    kind       TEXT NOT NULL,
    text       TEXT NOT NULL,
    files      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
    author     TEXT NOT NULL,
    run        TEXT REFERENCES run (id),
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE issue_case (
    issue             TEXT PRIMARY KEY REFERENCES issue (id),
    project           TEXT NOT NULL REFERENCES project (id),
    merged_first_time INTEGER NOT NULL CHECK (merged_first_time IN (0, 1)),
    attempts          INTEGER NOT NULL CHECK (attempts > 0),
    tokens            INTEGER NOT NULL CHECK (tokens >= 0),
    ended_at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE case_learning (
    learning TEXT NOT NULL REFERENCES learning (id),
    issue    TEXT NOT NULL REFERENCES issue_case (issue),
    PRIMARY KEY (learning, issue)
) STRICT, WITHOUT ROWID;
CREATE TABLE tracker (
    id          INTEGER PRIMARY KEY,
    project     TEXT NOT NULL REFERENCES project (id),
    name        TEXT NOT NULL,
    place       TEXT NOT NULL,              -- such as github:acme/web; the links are to this place
    cursor      TEXT NOT NULL DEFAULT '',
    seen_event  INTEGER NOT NULL,           -- the last entry of the log that was turned into changes
    own_user    TEXT,                       -- the id there of whoever the token is
    looked_at   INTEGER,                    -- when everything was last read
    tries       INTEGER NOT NULL DEFAULT 0, -- looks in a row that failed
    held_since  INTEGER,
    held_until  INTEGER,
    fault       TEXT CHECK (fault IS NULL OR json_valid(fault)),
    CHECK ((held_until IS NULL) = (fault IS NULL)),
    UNIQUE (project, name)
) STRICT;
CREATE TABLE tracker_link (
    id          INTEGER PRIMARY KEY,
    tracker     INTEGER NOT NULL REFERENCES tracker (id),
    external_id TEXT NOT NULL,
    key         TEXT NOT NULL,
    url         TEXT NOT NULL,
    issue       TEXT REFERENCES issue (id), -- NULL: deleted here, and not taken in again
    base        TEXT NOT NULL CHECK (json_valid(base)),
    written     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(written)), -- which milestones were written there
    linked_at   INTEGER NOT NULL,
    is_waiting  INTEGER NOT NULL CHECK (is_waiting IN (0, 1)), -- whether it has relations whose other end was not linked
    UNIQUE (tracker, external_id),
    UNIQUE (tracker, issue)
) STRICT;
CREATE TABLE tracker_change (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,        -- a UUID, which what the change creates carries
    link       INTEGER NOT NULL REFERENCES tracker_link (id),
    change     TEXT NOT NULL CHECK (json_valid(change)),
    covers     TEXT NOT NULL CHECK (json_valid(covers)), -- what of ours it is about
    state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'applied', 'refused', 'withdrawn')),
    decided_at INTEGER NOT NULL,
    tried_at   INTEGER,                     -- the last attempt began; its result may be lost
    tries      INTEGER NOT NULL DEFAULT 0,  -- attempts that failed
    due_at     INTEGER NOT NULL,
    problem    TEXT,
    created    TEXT,                        -- the id of what it created there
    ended_at   INTEGER,
    CHECK ((state = 'waiting') = (ended_at IS NULL))
) STRICT;
CREATE TABLE tracker_comment (
    link        INTEGER NOT NULL REFERENCES tracker_link (id),
    external_id TEXT NOT NULL,
    updated_at  INTEGER NOT NULL,
    comment     INTEGER REFERENCES comment (id),
    begun_event INTEGER,                    -- the last entry of the log before its command was carried out
    is_done     INTEGER NOT NULL DEFAULT 1 CHECK (is_done IN (0, 1)),
    PRIMARY KEY (link, external_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE forge (
    project    TEXT PRIMARY KEY REFERENCES project (id),
    place      TEXT NOT NULL,               -- such as github:acme/web
    repository TEXT,                        -- its id there, which no rename changes; NULL: not asked yet
    rules      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(rules)), -- what is demanded of base branches, by name
    bases      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(bases)), -- the commits that base branches had there, by name
    seen_event INTEGER NOT NULL DEFAULT 0,  -- the last entry of the log before the last look
    looked_at  INTEGER,                     -- when everything was last read
    tries      INTEGER NOT NULL DEFAULT 0,  -- looks in a row that failed
    held_since INTEGER,
    held_until INTEGER,
    fault      TEXT CHECK (fault IS NULL OR json_valid(fault)),
    problem    TEXT,                        -- why the base is not as it is there
    CHECK ((held_until IS NULL) = (fault IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE forge_pull (
    id          INTEGER PRIMARY KEY,
    project     TEXT NOT NULL REFERENCES project (id),
    branch      TEXT NOT NULL,
    pr          INTEGER NOT NULL REFERENCES pull_request (id), -- the newest here
    number      INTEGER,                    -- NULL: pushed, and not opened yet
    url         TEXT,
    is_open     INTEGER NOT NULL DEFAULT 1 CHECK (is_open IN (0, 1)), -- there
    pushed      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(pushed)), -- commits, oldest first, each from before its push on
    written     TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(written)), -- title and text as they are ours there: last written, and about to be
    checks_head TEXT,                       -- the commit that the checks are of
    checks      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(checks)),
    read_at     INTEGER,                    -- the forge's time of the last change, once all of its second was read
    red_heads   INTEGER NOT NULL DEFAULT 0, -- commits in a row whose checks failed
    ends        TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(ends)), -- what is known of how it ends
    problem     TEXT,                       -- what keeps it from being mirrored
    objection   TEXT                        -- what a person there demands that could not be taken in: nothing is merged meanwhile
) STRICT;
CREATE TABLE forge_left (
    project TEXT NOT NULL REFERENCES project (id),
    number  INTEGER NOT NULL,
    PRIMARY KEY (project, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE forge_seen (
    pull       INTEGER NOT NULL REFERENCES forge_pull (id),
    kind       TEXT NOT NULL CHECK (kind IN ('review', 'comment')),
    external_id TEXT NOT NULL,
    verdict    TEXT CHECK (verdict IS NULL OR json_valid(verdict)), -- of a review, as it was read
    updated_at INTEGER,                     -- of a comment, as it was read
    point      INTEGER,                     -- the number of the point that a comment, or the text of a review, became
    thread     TEXT,                        -- of a reply: the first comment of its thread
    PRIMARY KEY (pull, kind, external_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE forge_reply (
    id         TEXT PRIMARY KEY,            -- a UUID made of its content, which the reply carries
    pull       INTEGER NOT NULL REFERENCES forge_pull (id),
    thread     TEXT NOT NULL,               -- the first comment of the thread
    point      INTEGER NOT NULL,
    answer     INTEGER NOT NULL,            -- the number of the answer within its point, from 0
    body       TEXT NOT NULL,
    state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'applied', 'refused')),
    tried_at   INTEGER,
    problem    TEXT,
    UNIQUE (pull, point, answer)
) STRICT, WITHOUT ROWID;
CREATE TABLE service_job (
    ticket      TEXT PRIMARY KEY,           -- the tracker's id
    worker      TEXT NOT NULL UNIQUE,
    task        TEXT NOT NULL CHECK (task IN ('attempt', 'after_run', 'remove')),
    identifier  TEXT NOT NULL,
    attempt     INTEGER CHECK (attempt >= 0), -- NULL for the first
    snapshot    TEXT NOT NULL CHECK (json_valid(snapshot)), -- the ticket as the tracker showed it last
    started_at  INTEGER NOT NULL,
    ending      TEXT CHECK (ending IN ('stop', 'clean', 'stall', 'quit')), -- why it was asked to end
    ending_at   INTEGER,
    error       TEXT,                       -- why its attempt failed, while `after_run` runs for it
    CHECK ((ending IS NULL) = (ending_at IS NULL))
) STRICT;
CREATE TABLE service_retry (
    ticket      TEXT PRIMARY KEY,
    identifier  TEXT NOT NULL,
    attempt     INTEGER NOT NULL CHECK (attempt >= 1),
    due_at      INTEGER NOT NULL,
    error       TEXT                        -- NULL after an attempt that ended well
) STRICT;
CREATE TABLE service_ended (
    number        INTEGER PRIMARY KEY,
    worker        TEXT NOT NULL UNIQUE,
    ticket        TEXT NOT NULL,
    identifier    TEXT NOT NULL,
    attempt       INTEGER,
    started_at    INTEGER NOT NULL,
    ended_at      INTEGER NOT NULL,
    outcome       TEXT NOT NULL,
    error         TEXT,
    session       TEXT,
    turns         INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    total_tokens  INTEGER NOT NULL
) STRICT;
CREATE TABLE service_total (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    attempts      INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    total_tokens  INTEGER NOT NULL,
    ms            INTEGER NOT NULL,
    rate_limits   TEXT CHECK (rate_limits IS NULL OR json_valid(rate_limits))
) STRICT;
CREATE TABLE project_config (
    project  TEXT PRIMARY KEY REFERENCES project (id),
    revision INTEGER NOT NULL CHECK (revision >= 1),
    layers   TEXT NOT NULL CHECK (json_valid(layers))
) STRICT;
CREATE TABLE worker (
    host    TEXT NOT NULL,
    pool    TEXT NOT NULL,
    version INTEGER NOT NULL,                    -- of the protocol between control and workers
    seen_at INTEGER NOT NULL, clock_ahead_ms INTEGER NOT NULL DEFAULT 0, unprepared INTEGER NOT NULL DEFAULT 0, slots INTEGER NOT NULL DEFAULT 0, folder TEXT NOT NULL DEFAULT '', fence_ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (host, pool)
) STRICT;
CREATE TABLE run_log (
    run   TEXT NOT NULL REFERENCES run (id),
    seq   INTEGER NOT NULL CHECK (seq >= 0),
    at    INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
CREATE TABLE issue_count (
    project TEXT NOT NULL REFERENCES project (id),
    status  TEXT NOT NULL,
    n       INTEGER NOT NULL CHECK (n >= 0),
    PRIMARY KEY (project, status)
) STRICT, WITHOUT ROWID;
CREATE TABLE run_spending (
    run         TEXT NOT NULL REFERENCES run (id),
    day         INTEGER NOT NULL,
    project     TEXT NOT NULL REFERENCES project (id),
    tokens      INTEGER NOT NULL DEFAULT 0,
    cost_micros INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_ready ON issue (project, priority, created_at, id) WHERE status = 'todo' AND open_dependencies = 0;
CREATE INDEX issue_review ON issue (project, priority, created_at, id) WHERE status = 'review';
CREATE INDEX issue_clean_up ON issue (project, id) WHERE has_worktree = 1 AND status IN ('done', 'cancelled');
CREATE INDEX issue_blocked ON issue (project, id) WHERE status = 'blocked';
CREATE INDEX issue_status ON issue (project, status, number);
CREATE INDEX issue_parent ON issue (parent) WHERE parent IS NOT NULL;
CREATE INDEX issue_open_title ON issue (project, title_key) WHERE status NOT IN ('done', 'cancelled');
CREATE INDEX issue_label_by_label ON issue_label (label, issue);
CREATE INDEX issue_dependency_reverse ON issue_dependency (depends_on, issue);
CREATE UNIQUE INDEX run_live_issue ON run (issue) WHERE issue IS NOT NULL AND status IN ('starting', 'running');
CREATE INDEX run_live ON run (started_at) WHERE status IN ('starting', 'running');
CREATE INDEX run_judge ON run (pull_request, started_at) WHERE pull_request IS NOT NULL;
CREATE UNIQUE INDEX pull_request_open ON pull_request (issue) WHERE state IN ('open', 'approved');
CREATE INDEX pull_request_issue ON pull_request (issue, id);
CREATE INDEX pull_request_state ON pull_request (project, state, id);
CREATE INDEX comment_issue ON comment (issue, id);
CREATE INDEX comment_run ON comment (run) WHERE run IS NOT NULL;
CREATE INDEX learning_run ON learning (run) WHERE run IS NOT NULL;
CREATE INDEX event_issue ON event (issue, id) WHERE issue IS NOT NULL;
CREATE INDEX event_run ON event (run, id) WHERE run IS NOT NULL;
CREATE TRIGGER event_is_append_only_u BEFORE UPDATE ON event BEGIN SELECT raise(ABORT, 'events are append-only'); END;
CREATE TRIGGER event_is_append_only_d BEFORE DELETE ON event BEGIN SELECT raise(ABORT, 'events are append-only'); END;
CREATE INDEX learning_pack_project ON learning_pack (project);
CREATE INDEX learning_project ON learning (project, created_at, id);
CREATE TRIGGER subtask_added AFTER INSERT ON issue WHEN NEW.parent IS NOT NULL BEGIN
    UPDATE issue SET
        open_subtasks = open_subtasks + (NEW.status NOT IN ('done', 'cancelled')),
        done_subtasks = done_subtasks + (NEW.status = 'done')
    WHERE id = NEW.parent;
END;
CREATE TRIGGER subtask_moved AFTER UPDATE OF status ON issue
WHEN NEW.parent IS NOT NULL AND NEW.status <> OLD.status AND (NEW.status IN ('done', 'cancelled') OR OLD.status IN ('done', 'cancelled')) BEGIN
    UPDATE issue SET
        open_subtasks = open_subtasks + (NEW.status NOT IN ('done', 'cancelled')) - (OLD.status NOT IN ('done', 'cancelled')),
        done_subtasks = done_subtasks + (NEW.status = 'done') - (OLD.status = 'done')
    WHERE id = NEW.parent;
END;
CREATE INDEX issue_split ON issue (project, done_subtasks DESC, id)
    WHERE status = 'blocked' AND blocked_by = 'subtasks' AND open_subtasks = 0;
CREATE INDEX test_health_project ON test_health (project, id);
CREATE INDEX test_health_run ON test_health (run) WHERE run IS NOT NULL;
CREATE INDEX coverage_run ON coverage (run) WHERE run IS NOT NULL;
CREATE INDEX plan_project ON plan (project, started_at);
CREATE UNIQUE INDEX run_live_plan_phase ON run (plan, plan_phase) WHERE plan IS NOT NULL AND status IN ('starting', 'running');
CREATE INDEX plan_phase_decision ON plan_phase (plan, phase) WHERE status = 'awaiting_decision';
CREATE INDEX event_plan ON event (plan, id) WHERE plan IS NOT NULL;
CREATE UNIQUE INDEX profile_override_scope ON profile_override (agent, coalesce(project, ''));
CREATE INDEX issue_untriaged ON issue (project, priority, created_at, id) WHERE status = 'backlog' AND intake IS NULL;
CREATE INDEX issue_intake_unchanged ON issue (project, id) WHERE status = 'backlog' AND intake = 'unchanged';
CREATE INDEX issue_spent ON issue (project, id) WHERE status = 'backlog' AND total_runs > 0;
CREATE INDEX issue_waiting ON issue (project, id) WHERE status = 'todo' AND open_dependencies > 0;
CREATE UNIQUE INDEX phase_claim_open ON phase_claim (issue) WHERE open = 1;
CREATE INDEX phase_claim_issue ON phase_claim (issue, id);
CREATE INDEX phase_claim_run ON phase_claim (run) WHERE run IS NOT NULL;
CREATE INDEX run_claim ON run (claim, started_at) WHERE claim IS NOT NULL;
CREATE INDEX notification_queued ON notification (created_at, key) WHERE state = 'queued';
CREATE INDEX publication_pull_request ON publication (pull_request, id);
CREATE UNIQUE INDEX publication_running ON publication (pull_request) WHERE state = 'running';
CREATE INDEX run_issue ON run (issue, fence) WHERE issue IS NOT NULL;
CREATE INDEX run_project ON run (project, fence);
CREATE INDEX run_plan ON run (plan, fence) WHERE plan IS NOT NULL;
CREATE INDEX run_left_behind ON run (project, fence) WHERE json_extract(metadata, '$.left_behind') IS NOT NULL;
CREATE INDEX gate_pass_age ON gate_pass (passed_at);
CREATE INDEX gate_failure_issue ON gate_failure (issue, id);
CREATE INDEX issue_rescued_branch ON issue (project, id) WHERE rescued_branch IS NOT NULL;
CREATE UNIQUE INDEX pull_request_open_plan ON pull_request (plan) WHERE plan IS NOT NULL AND state IN ('open', 'approved');
CREATE INDEX pull_request_plan ON pull_request (plan, id) WHERE plan IS NOT NULL;
CREATE UNIQUE INDEX plan_under_way ON plan (project, path) WHERE status IN ('running', 'paused', 'awaiting_user_decision', 'review');
CREATE INDEX plan_review ON plan (project, started_at) WHERE status = 'review';
CREATE INDEX plan_clean_up ON plan (project, id) WHERE needs_clean_up = 1;
CREATE UNIQUE INDEX run_live_plan_review ON run (plan)
    WHERE plan IS NOT NULL AND pull_request IS NOT NULL AND status IN ('starting', 'running');
CREATE UNIQUE INDEX run_live_project ON run (project, agent)
    WHERE issue IS NULL AND plan IS NULL AND status IN ('starting', 'running');
CREATE INDEX run_of_project ON run (project, agent, fence) WHERE issue IS NULL AND plan IS NULL;
CREATE INDEX pull_request_merging ON pull_request (project, id) WHERE merge_intent IS NOT NULL;
CREATE INDEX base_notice_open ON base_notice (project, id) WHERE dismissed_at IS NULL;
CREATE INDEX base_notice_pull_request ON base_notice (pull_request) WHERE dismissed_at IS NULL;
CREATE UNIQUE INDEX base_notice_project ON base_notice (project, kind, commit_id) WHERE issue IS NULL AND plan IS NULL;
CREATE UNIQUE INDEX review_point_issue ON review_point (issue, number) WHERE issue IS NOT NULL;
CREATE UNIQUE INDEX review_point_plan ON review_point (plan, number) WHERE plan IS NOT NULL;
CREATE INDEX review_point_run ON review_point (run) WHERE run IS NOT NULL;
CREATE INDEX point_answer_point ON point_answer (point, id);
CREATE INDEX point_answer_run ON point_answer (run) WHERE run IS NOT NULL;
CREATE TRIGGER learning_added AFTER INSERT ON learning WHEN NEW.state = 'accepted' BEGIN
    INSERT INTO learning_prepared (project, learning, issue, learning_type, created_at, prepared)
    VALUES (NEW.project, NEW.id, NEW.issue, NEW.learning_type, NEW.created_at, x'');
END;
CREATE TRIGGER learning_withdrawn AFTER UPDATE OF state ON learning WHEN OLD.state = 'accepted' AND NEW.state <> 'accepted' BEGIN
    DELETE FROM learning_prepared WHERE project = NEW.project AND learning = NEW.id;
END;
CREATE TRIGGER learning_accepted AFTER UPDATE OF state ON learning WHEN OLD.state <> 'accepted' AND NEW.state = 'accepted' BEGIN
    INSERT INTO learning_prepared (project, learning, issue, learning_type, created_at, prepared)
    VALUES (NEW.project, NEW.id, NEW.issue, NEW.learning_type, NEW.created_at, x'');
END;
CREATE INDEX learning_source_learning ON learning_source (learning, id);
CREATE UNIQUE INDEX learning_source_issue ON learning_source (issue, learning) WHERE issue IS NOT NULL;
CREATE UNIQUE INDEX learning_source_plan ON learning_source (plan, learning) WHERE plan IS NOT NULL;
CREATE INDEX finding_issue ON finding (issue, id) WHERE issue IS NOT NULL;
CREATE INDEX finding_project ON finding (project, id) WHERE issue IS NULL;
CREATE INDEX finding_run ON finding (run) WHERE run IS NOT NULL;
CREATE INDEX issue_case_project ON issue_case (project, ended_at);
CREATE INDEX case_learning_issue ON case_learning (issue);
CREATE INDEX run_trial ON run (trial, trial_issue, fence) WHERE trial IS NOT NULL;
CREATE INDEX comment_unread ON comment (issue, addressee) WHERE addressee IS NOT NULL AND read_by IS NULL;
CREATE INDEX comment_read_by ON comment (read_by) WHERE read_by IS NOT NULL;
CREATE INDEX tracker_link_waiting ON tracker_link (tracker, id) WHERE is_waiting = 1;
CREATE INDEX tracker_link_issue ON tracker_link (issue) WHERE issue IS NOT NULL;
CREATE INDEX tracker_change_waiting ON tracker_change (link, number) WHERE state = 'waiting';
CREATE INDEX tracker_change_refused ON tracker_change (link, number) WHERE state = 'refused';
CREATE INDEX tracker_change_created ON tracker_change (link, created) WHERE created IS NOT NULL;
CREATE INDEX tracker_comment_comment ON tracker_comment (comment) WHERE comment IS NOT NULL;
CREATE INDEX issue_external ON issue (project, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX forge_pull_open ON forge_pull (project, branch) WHERE is_open = 1;
CREATE INDEX forge_pull_pr ON forge_pull (pr);
CREATE INDEX forge_pull_number ON forge_pull (project, number);
CREATE INDEX forge_reply_waiting ON forge_reply (pull) WHERE state = 'waiting';
CREATE INDEX service_ended_identifier ON service_ended (identifier, number);
CREATE INDEX run_queue ON run (pool, fence) WHERE pool IS NOT NULL AND status = 'starting' AND begun_at IS NULL;
CREATE INDEX run_unpromoted ON run (project, fence) WHERE result_commit IS NOT NULL AND promoted IS NULL;
CREATE TRIGGER issue_proposed AFTER INSERT ON event WHEN NEW.issue IS NOT NULL AND NEW.kind IN ('issue_added', 'issue_moved') BEGIN
    UPDATE issue SET is_proposed = (NEW.kind = 'issue_added' AND NEW.actor <> 'human')
    WHERE id = NEW.issue AND is_proposed <> (NEW.kind = 'issue_added' AND NEW.actor <> 'human');
END;
CREATE TRIGGER issue_delivered AFTER INSERT ON phase_claim BEGIN
    UPDATE issue SET has_delivery = 1 WHERE id = NEW.issue AND has_delivery = 0;
END;
CREATE INDEX issue_proposed ON issue (project, number) WHERE status = 'backlog' AND is_proposed = 1;
CREATE INDEX issue_delivered ON issue (project, id) WHERE has_delivery = 1 AND status NOT IN ('done', 'cancelled');
CREATE INDEX run_ended ON run (ended_at, started_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER issue_counted AFTER INSERT ON issue BEGIN
    INSERT INTO issue_count (project, status, n) VALUES (NEW.project, NEW.status, 1)
    ON CONFLICT (project, status) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER issue_recounted AFTER UPDATE OF status, project ON issue WHEN NEW.status <> OLD.status OR NEW.project <> OLD.project BEGIN
    UPDATE issue_count SET n = n - 1 WHERE project = OLD.project AND status = OLD.status;
    INSERT INTO issue_count (project, status, n) VALUES (NEW.project, NEW.status, 1)
    ON CONFLICT (project, status) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER issue_discounted AFTER DELETE ON issue BEGIN
    UPDATE issue_count SET n = n - 1 WHERE project = OLD.project AND status = OLD.status;
END;
CREATE INDEX run_spending_of_project ON run_spending (project, day);
CREATE VIEW idle_dependency AS
    SELECT d.issue, d.depends_on FROM issue_dependency d JOIN issue o ON o.id = d.depends_on JOIN project g ON g.id = o.project
    WHERE o.status IN ('backlog', 'cancelled') OR g.removed_at IS NOT NULL;
CREATE TRIGGER dependency_added AFTER INSERT ON issue_dependency BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id) WHERE id = NEW.issue;
END;
CREATE TRIGGER dependency_removed AFTER DELETE ON issue_dependency BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id) WHERE id = OLD.issue;
END;
CREATE TRIGGER dependency_moved AFTER UPDATE OF status, project ON issue
WHEN (NEW.status IN ('backlog', 'cancelled')) <> (OLD.status IN ('backlog', 'cancelled')) OR NEW.project <> OLD.project BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id IN (SELECT issue FROM issue_dependency WHERE depends_on = NEW.id);
END;
CREATE TRIGGER dependency_left AFTER UPDATE OF removed_at ON project WHEN NEW.removed_at IS NOT OLD.removed_at BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id IN (SELECT d.issue FROM issue o JOIN issue_dependency d ON d.depends_on = o.id WHERE o.project = NEW.id);
END;
CREATE VIEW awaited_issue AS
    SELECT d.depends_on AS id FROM idle_dependency d JOIN issue t ON t.id = d.issue WHERE t.status = 'todo'
    UNION ALL
    SELECT c.id FROM issue c JOIN issue b ON b.id = c.parent
    WHERE c.status = 'backlog' AND b.status = 'blocked' AND b.blocked_by = 'subtasks';
CREATE INDEX issue_awaited ON issue (project, number) WHERE is_awaited = 1;
CREATE TRIGGER awaited_depends AFTER INSERT ON issue_dependency BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id = NEW.depends_on AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id);
END;
CREATE TRIGGER awaited_released AFTER DELETE ON issue_dependency BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id = OLD.depends_on AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id);
END;
CREATE TRIGGER awaited_added AFTER INSERT ON issue WHEN NEW.parent IS NOT NULL AND NEW.status = 'backlog' BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id = NEW.id AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id);
END;
CREATE TRIGGER awaited_moved AFTER UPDATE OF status, project, parent ON issue
WHEN NEW.status <> OLD.status AND (NEW.status IN ('backlog', 'cancelled') OR OLD.status IN ('backlog', 'cancelled'))
    OR NEW.project <> OLD.project OR NEW.parent IS NOT OLD.parent BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id = NEW.id AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id);
END;
CREATE TRIGGER awaited_waits AFTER UPDATE OF status ON issue
WHEN (NEW.status = 'todo') <> (OLD.status = 'todo') AND NEW.idle_dependencies > 0 BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id IN (SELECT depends_on FROM issue_dependency WHERE issue = NEW.id)
    AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id);
END;
CREATE TRIGGER awaited_split AFTER UPDATE OF status, blocked_by ON issue
WHEN (NEW.blocked_by IS 'subtasks') <> (OLD.blocked_by IS 'subtasks') BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE parent = NEW.id AND status = 'backlog' AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id);
END;
CREATE TRIGGER awaited_left AFTER UPDATE OF removed_at ON project WHEN NEW.removed_at IS NOT OLD.removed_at BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id IN (SELECT d.depends_on FROM issue o JOIN issue_dependency d ON d.depends_on = o.id WHERE o.project = NEW.id)
    AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id);
END;
CREATE INDEX issue_blocked_for_person ON issue (project, id) WHERE status = 'blocked' AND blocked_by <> 'subtasks';
CREATE INDEX issue_delivered_whole ON issue (project, id) WHERE has_delivery = 1 AND open_subtasks > 0;
CREATE INDEX issue_nested_whole ON issue (project, id) WHERE parent IS NOT NULL AND open_subtasks > 0;
CREATE INDEX issue_repairing ON issue (project, number) WHERE status NOT IN ('done', 'cancelled') AND instr(labels, 'fixes-gate:') > 0;
INSERT INTO service_total VALUES (1, 0, 0, 0, 0, 0, NULL);
