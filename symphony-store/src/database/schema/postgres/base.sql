-- The schema as the newest migration of SQLite leaves it. A later change is two files, one for each engine.
CREATE TABLE project (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    root TEXT COLLATE "C" NOT NULL UNIQUE,
    prefix TEXT COLLATE "C" NOT NULL UNIQUE,
    next_number BIGINT NOT NULL DEFAULT 1,
    wizard TEXT COLLATE "C" NOT NULL DEFAULT 'pending' CHECK (wizard IN ('pending', 'completed', 'failed')),
    settings TEXT COLLATE "C" NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
    created_at BIGINT NOT NULL,
    removed_at BIGINT
);
CREATE TABLE issue (
    id TEXT COLLATE "C" PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    number BIGINT NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    title_key TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('backlog', 'todo', 'in_progress', 'review', 'blocked', 'done', 'cancelled')),
    blocked_by TEXT COLLATE "C" CHECK (blocked_by IN ('subtasks', 'agent', 'cap', 'tampered', 'human', 'gates', 'question', 'taken_over')),
    blocked_reason TEXT COLLATE "C",
    priority BIGINT NOT NULL CHECK (priority BETWEEN 0 AND 4),
    size TEXT COLLATE "C" CHECK (size IN ('small', 'medium', 'large')),
    labels TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(labels)),
    parent TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    external_id TEXT COLLATE "C",
    open_dependencies BIGINT NOT NULL DEFAULT 0 CHECK (open_dependencies >= 0),
    consecutive_failures BIGINT NOT NULL DEFAULT 0,
    total_runs BIGINT NOT NULL DEFAULT 0,
    has_worktree BIGINT NOT NULL DEFAULT 0 CHECK (has_worktree IN (0, 1)),
    delete_branch BIGINT NOT NULL DEFAULT 0 CHECK (delete_branch IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    open_subtasks BIGINT NOT NULL DEFAULT 0 CHECK (open_subtasks >= 0),
    done_subtasks BIGINT NOT NULL DEFAULT 0 CHECK (done_subtasks >= 0),
    intake TEXT COLLATE "C" CHECK (intake IN ('changed', 'unchanged')),
    rescued_branch TEXT COLLATE "C",
    provider TEXT COLLATE "C" CHECK (provider IS NULL OR provider <> ''),
    model TEXT COLLATE "C" CHECK (model IS NULL OR model <> ''),
    UNIQUE (project, number),
    CHECK ((status = 'blocked') = (blocked_by IS NOT NULL))
);
CREATE TABLE issue_label (
    issue TEXT COLLATE "C" NOT NULL REFERENCES issue (id) DEFERRABLE,
    label TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (issue, label)
);
CREATE TABLE issue_dependency (
    issue TEXT COLLATE "C" NOT NULL REFERENCES issue (id) DEFERRABLE,
    depends_on TEXT COLLATE "C" NOT NULL REFERENCES issue (id) DEFERRABLE,
    PRIMARY KEY (issue, depends_on),
    CHECK (issue <> depends_on)
);
CREATE TABLE run (
    id TEXT COLLATE "C" PRIMARY KEY,
    fence BIGINT NOT NULL UNIQUE,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    issue TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    pull_request BIGINT,
    claim BIGINT,
    plan_phase TEXT COLLATE "C",
    agent TEXT COLLATE "C" NOT NULL,
    phase TEXT COLLATE "C",
    attempt BIGINT NOT NULL,
    provider TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('starting', 'running', 'succeeded', 'failed', 'timed_out', 'stalled', 'crashed', 'looping', 'tampered', 'cancelled')),
    protection TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    exit_code BIGINT,
    error_class TEXT COLLATE "C",
    error_message TEXT COLLATE "C",
    output_tail TEXT COLLATE "C" NOT NULL DEFAULT '',
    last_event TEXT COLLATE "C" NOT NULL DEFAULT '',
    last_event_at BIGINT,
    worktree TEXT COLLATE "C",
    branch TEXT COLLATE "C",
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    cache_read_tokens BIGINT NOT NULL DEFAULT 0,
    cache_write_tokens BIGINT NOT NULL DEFAULT 0,
    cost_micros BIGINT,
    turns BIGINT NOT NULL DEFAULT 0,
    metadata TEXT COLLATE "C" NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    moved_issue BIGINT NOT NULL DEFAULT 0 CHECK (moved_issue IN (0, 1)),
    cancel_requested_at BIGINT,
    plan TEXT COLLATE "C",
    trial TEXT COLLATE "C",
    prompt_set TEXT COLLATE "C" CHECK (prompt_set IN ('A', 'B')),
    trial_issue TEXT COLLATE "C",
    sandbox_level TEXT COLLATE "C" CHECK (sandbox_level IS NULL OR sandbox_level IN ('namespace', 'landlock', 'off')),
    sandbox_network TEXT COLLATE "C" CHECK ((sandbox_network IS NULL) = (sandbox_level IS NULL)),
    landlock_abi BIGINT CHECK (landlock_abi IS NULL OR sandbox_level IS NOT NULL),
    CHECK ((status IN ('starting', 'running')) = (ended_at IS NULL))
);
CREATE TABLE retry (
    issue TEXT COLLATE "C" PRIMARY KEY REFERENCES issue (id) DEFERRABLE,
    agent TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('continuation', 'backoff')),
    due_at BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL
);
CREATE TABLE pull_request (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    issue TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    title TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    branch TEXT COLLATE "C" NOT NULL,
    base TEXT COLLATE "C" NOT NULL,
    base_commit TEXT COLLATE "C" NOT NULL,
    head_commit TEXT COLLATE "C" NOT NULL,
    diff TEXT COLLATE "C" NOT NULL,
    files TEXT COLLATE "C" NOT NULL CHECK (json_valid(files)),
    reported_gates TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(reported_gates)),
    verified_gates TEXT COLLATE "C" CHECK (json_valid(verified_gates)),
    verdict TEXT COLLATE "C" CHECK (json_valid(verdict)),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'approved', 'rejected', 'merged', 'closed', 'confirmed')),
    merged_commit TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    gates_due_at BIGINT NOT NULL DEFAULT 0,
    gates_tries BIGINT NOT NULL DEFAULT 0 CHECK (gates_tries >= 0),
    gates_problem TEXT COLLATE "C",
    gates_fresh BIGINT NOT NULL DEFAULT 0 CHECK (gates_fresh IN (0, 1)),
    base_seen TEXT COLLATE "C",
    merged_outside TEXT COLLATE "C" CHECK (json_valid(merged_outside)),
    plan TEXT COLLATE "C" CHECK ((issue IS NULL) <> (plan IS NULL)),
    merge_intent TEXT COLLATE "C",
    checklist TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    proposal TEXT COLLATE "C" CHECK (json_valid(proposal)) CHECK (proposal IS NULL OR head_commit = base_commit)
);
CREATE TABLE comment (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    issue TEXT COLLATE "C" NOT NULL REFERENCES issue (id) DEFERRABLE,
    author TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    content TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    unverified TEXT COLLATE "C" CHECK (unverified IS NULL OR author = 'human'),
    source TEXT COLLATE "C" CHECK (source IS NULL OR source IN ('cli', 'web', 'agent', 'tracker')),
    "user" TEXT COLLATE "C" CHECK ("user" IS NULL OR author = 'human'),
    addressee TEXT COLLATE "C" CHECK (addressee IS NULL OR (addressee IN ('author', 'judge') AND author = 'human')),
    read_by TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    read_at BIGINT CHECK ((read_at IS NULL) = (read_by IS NULL) AND (read_at IS NULL OR addressee IS NOT NULL)),
    login TEXT COLLATE "C" CHECK (login IS NULL OR author = 'tracker_user'),
    withdrawn_at BIGINT CHECK (withdrawn_at IS NULL OR addressee IS NOT NULL)
);
CREATE TABLE learning (
    id TEXT COLLATE "C" PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    issue TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    commit_id TEXT COLLATE "C",
    author TEXT COLLATE "C" NOT NULL,
    pattern TEXT COLLATE "C" NOT NULL,
    learning_type TEXT COLLATE "C" CHECK (learning_type IN ('convention', 'pattern', 'gotcha')),
    applies_to TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(applies_to)),
    labels TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(labels)),
    created_at BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL DEFAULT 'accepted' CHECK (state IN ('proposed', 'accepted', 'dropped', 'retired')),
    accepted_at BIGINT
);
CREATE TABLE hold (
    scope TEXT COLLATE "C" PRIMARY KEY,
    until BIGINT NOT NULL,
    class TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    probes BIGINT NOT NULL DEFAULT 0,
    canary TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    placed_at BIGINT NOT NULL DEFAULT 0,
    tried TEXT COLLATE "C"
);
CREATE TABLE setting (
    key TEXT COLLATE "C" PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);
CREATE TABLE event (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    project TEXT COLLATE "C",
    issue TEXT COLLATE "C",
    run TEXT COLLATE "C",
    actor TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    payload TEXT COLLATE "C" NOT NULL DEFAULT '{}' CHECK (json_valid(payload)),
    plan TEXT COLLATE "C",
    unverified TEXT COLLATE "C" CHECK (unverified IS NULL OR actor = 'human'),
    source TEXT COLLATE "C" CHECK (source IS NULL OR source IN ('cli', 'web', 'agent', 'tracker')),
    "user" TEXT COLLATE "C" CHECK ("user" IS NULL OR actor = 'human')
);
CREATE TABLE learning_prepared (
    project TEXT COLLATE "C" NOT NULL,
    learning TEXT COLLATE "C" NOT NULL REFERENCES learning (id) DEFERRABLE,
    issue TEXT COLLATE "C",
    learning_type TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    prepared BYTEA NOT NULL,
    PRIMARY KEY (project, learning)
);
CREATE TABLE learning_pack (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL,
    forms BYTEA NOT NULL
);
CREATE TABLE learning_given (
    learning TEXT COLLATE "C" NOT NULL REFERENCES learning (id) DEFERRABLE,
    run TEXT COLLATE "C" NOT NULL REFERENCES run (id) DEFERRABLE,
    PRIMARY KEY (learning, run)
);
CREATE TABLE test_health (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    issue TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    test_count BIGINT NOT NULL CHECK (test_count >= 0),
    duration_ms BIGINT NOT NULL CHECK (duration_ms >= 0),
    flags TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(flags)),
    created_at BIGINT NOT NULL
);
CREATE TABLE coverage (
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    file TEXT COLLATE "C" NOT NULL,
    concept TEXT COLLATE "C" NOT NULL,
    notes TEXT COLLATE "C" NOT NULL DEFAULT '',
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project, file, concept)
);
CREATE TABLE spending (
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    day BIGINT NOT NULL,
    tokens BIGINT NOT NULL DEFAULT 0,
    cost_micros BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (project, day)
);
CREATE TABLE plan (
    id TEXT COLLATE "C" PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    path TEXT COLLATE "C" NOT NULL,
    document TEXT COLLATE "C" NOT NULL CHECK (json_valid(document)),
    options TEXT COLLATE "C" NOT NULL CHECK (json_valid(options)),
    target_branch TEXT COLLATE "C",
    base_commit TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('running', 'paused', 'awaiting_user_decision', 'review', 'completed', 'failed', 'aborted')),
    is_abort_requested BIGINT NOT NULL DEFAULT 0 CHECK (is_abort_requested IN (0, 1)),
    started_at BIGINT NOT NULL,
    completed_at BIGINT,
    merged_commit TEXT COLLATE "C",
    revision BIGINT NOT NULL DEFAULT 1,
    needs_clean_up BIGINT NOT NULL DEFAULT 0 CHECK (needs_clean_up IN (0, 1)),
    base_head TEXT COLLATE "C",
    CHECK ((status IN ('completed', 'failed', 'aborted')) = (completed_at IS NOT NULL))
);
CREATE TABLE plan_phase (
    plan TEXT COLLATE "C" NOT NULL REFERENCES plan (id) DEFERRABLE,
    phase TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'ready', 'running', 'retrying', 'awaiting_decision', 'complete', 'failed', 'blocked', 'aborted')),
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    progress TEXT COLLATE "C" NOT NULL CHECK (json_valid(progress)),
    PRIMARY KEY (plan, phase),
    CHECK ((status = 'running') = (run IS NOT NULL))
);
CREATE TABLE plan_artifact (
    plan TEXT COLLATE "C" NOT NULL,
    phase TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    type TEXT COLLATE "C" NOT NULL CHECK (type IN ('file_created', 'file_modified', 'file_deleted', 'export', 'note')),
    path TEXT COLLATE "C",
    name TEXT COLLATE "C",
    content TEXT COLLATE "C",
    metadata TEXT COLLATE "C" CHECK (json_valid(metadata)),
    PRIMARY KEY (plan, phase, number),
    FOREIGN KEY (plan, phase) REFERENCES plan_phase (plan, phase) DEFERRABLE
);
CREATE TABLE plan_outcome (
    run TEXT COLLATE "C" PRIMARY KEY REFERENCES run (id) DEFERRABLE,
    outcome TEXT COLLATE "C" NOT NULL CHECK (json_valid(outcome)),
    artifacts TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(artifacts)),
    at BIGINT NOT NULL
);
CREATE TABLE profile_override (
    agent TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" REFERENCES project (id) DEFERRABLE,
    custom_instructions TEXT COLLATE "C",
    model TEXT COLLATE "C",
    updated_at BIGINT NOT NULL
);
CREATE TABLE phase_claim (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    issue TEXT COLLATE "C" NOT NULL REFERENCES issue (id) DEFERRABLE,
    phase TEXT COLLATE "C" NOT NULL,
    artifact_path TEXT COLLATE "C",
    summary TEXT COLLATE "C" NOT NULL,
    skip_to TEXT COLLATE "C",
    next_phase TEXT COLLATE "C",
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    author TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('submitted', 'accepted', 'awaiting_judge', 'rejected')),
    reasons TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(reasons)),
    verdict TEXT COLLATE "C" CHECK (json_valid(verdict)),
    head_commit TEXT COLLATE "C",
    open BIGINT NOT NULL CHECK (open IN (0, 1)),
    created_at BIGINT NOT NULL,
    CHECK (state IN ('accepted', 'rejected') OR open = 1),
    CHECK (state <> 'rejected' OR open = 0),
    CHECK (state NOT IN ('accepted', 'awaiting_judge') OR head_commit IS NOT NULL)
);
CREATE TABLE notification (
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    key TEXT COLLATE "C" NOT NULL,
    item TEXT COLLATE "C" NOT NULL CHECK (json_valid(item)),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'failed')),
    problem TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (project, key)
);
CREATE TABLE publication (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    pull_request BIGINT NOT NULL REFERENCES pull_request (id) DEFERRABLE,
    commit_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'published', 'failed')),
    exit_code BIGINT,
    url TEXT COLLATE "C",
    output TEXT COLLATE "C" NOT NULL DEFAULT '',
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    CHECK ((state = 'running') = (ended_at IS NULL))
);
CREATE TABLE gate_pass (
    key TEXT COLLATE "C" PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    gate TEXT COLLATE "C" NOT NULL,
    tree TEXT COLLATE "C" NOT NULL,
    passed_at BIGINT NOT NULL
);
CREATE TABLE gate_failure (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    issue TEXT COLLATE "C" NOT NULL REFERENCES issue (id) DEFERRABLE,
    run TEXT COLLATE "C" NOT NULL REFERENCES run (id) DEFERRABLE,
    tree TEXT COLLATE "C" NOT NULL,
    print TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    gates TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    passed_since BIGINT NOT NULL DEFAULT 0 CHECK (passed_since IN (0, 1))
);
CREATE TABLE exit_handling (
    run TEXT COLLATE "C" PRIMARY KEY REFERENCES run (id) DEFERRABLE,
    outcome TEXT COLLATE "C" NOT NULL CHECK (json_valid(outcome)),
    tries BIGINT NOT NULL DEFAULT 0 CHECK (tries >= 0),
    due_at BIGINT,
    problem TEXT COLLATE "C",
    CHECK ((due_at IS NULL) = (problem IS NULL))
);
CREATE TABLE base_look (
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    branch TEXT COLLATE "C" NOT NULL,
    head TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (project, branch)
);
CREATE TABLE hold_trial (
    scope TEXT COLLATE "C" NOT NULL,
    item TEXT COLLATE "C" NOT NULL CHECK (json_valid(item)),
    turn BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    held BIGINT NOT NULL,
    witness TEXT COLLATE "C",
    alone BIGINT NOT NULL DEFAULT 0,
    doubted BIGINT NOT NULL DEFAULT 0 CHECK (doubted IN (0, 1)),
    PRIMARY KEY (scope, item)
);
CREATE TABLE tried_gate (
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    digest TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (project, digest)
);
CREATE TABLE clean_up_fault (
    issue TEXT COLLATE "C" PRIMARY KEY REFERENCES issue (id) DEFERRABLE,
    tries BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    problem TEXT COLLATE "C" NOT NULL,
    since BIGINT NOT NULL
);
CREATE TABLE base_notice (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    issue TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    plan TEXT COLLATE "C" REFERENCES plan (id) DEFERRABLE CHECK (issue IS NULL OR plan IS NULL),
    pull_request BIGINT REFERENCES pull_request (id) DEFERRABLE,
    kind TEXT COLLATE "C" NOT NULL,
    commit_id TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    dismissed_at BIGINT,
    UNIQUE (issue, kind, commit_id),
    UNIQUE (plan, kind, commit_id)
);
CREATE TABLE review_point (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    issue TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    plan TEXT COLLATE "C" REFERENCES plan (id) DEFERRABLE,
    number BIGINT NOT NULL CHECK (number > 0),
    severity TEXT COLLATE "C" NOT NULL CHECK (severity IN ('must', 'should', 'note')),
    text TEXT COLLATE "C" NOT NULL CHECK (length(text) BETWEEN 1 AND 2000),
    file TEXT COLLATE "C",
    lines TEXT COLLATE "C" CHECK (lines IS NULL OR file IS NOT NULL),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'closed')),
    round BIGINT NOT NULL CHECK (round > 0),
    author TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    pull_request BIGINT REFERENCES pull_request (id) DEFERRABLE,
    claim BIGINT REFERENCES phase_claim (id) DEFERRABLE,
    commit_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    unverified TEXT COLLATE "C",
    source TEXT COLLATE "C" CHECK (source IS NULL OR source IN ('cli', 'web', 'agent', 'tracker')),
    "user" TEXT COLLATE "C" CHECK ("user" IS NULL OR author = 'human'),
    CHECK ((issue IS NULL) <> (plan IS NULL)),
    CHECK (pull_request IS NULL OR claim IS NULL)
);
CREATE TABLE point_answer (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    point BIGINT NOT NULL REFERENCES review_point (id) DEFERRABLE,
    round BIGINT NOT NULL CHECK (round > 0),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('fixed', 'declined', 'question', 'remark')),
    text TEXT COLLATE "C" NOT NULL CHECK (length(text) BETWEEN 1 AND 2000),
    commit_id TEXT COLLATE "C",
    author TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    created_at BIGINT NOT NULL,
    unverified TEXT COLLATE "C",
    source TEXT COLLATE "C" CHECK (source IS NULL OR source IN ('cli', 'web', 'agent', 'tracker')),
    "user" TEXT COLLATE "C" CHECK ("user" IS NULL OR author = 'human')
);
CREATE TABLE learning_source (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    learning TEXT COLLATE "C" NOT NULL REFERENCES learning (id) DEFERRABLE,
    issue TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    plan TEXT COLLATE "C" REFERENCES plan (id) DEFERRABLE,
    run TEXT COLLATE "C" NOT NULL REFERENCES run (id) DEFERRABLE,
    CHECK ((issue IS NULL) <> (plan IS NULL))
);
CREATE TABLE finding (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    issue TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    kind TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    files TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
    author TEXT COLLATE "C" NOT NULL,
    run TEXT COLLATE "C" REFERENCES run (id) DEFERRABLE,
    created_at BIGINT NOT NULL
);
CREATE TABLE issue_case (
    issue TEXT COLLATE "C" PRIMARY KEY REFERENCES issue (id) DEFERRABLE,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    merged_first_time BIGINT NOT NULL CHECK (merged_first_time IN (0, 1)),
    attempts BIGINT NOT NULL CHECK (attempts > 0),
    tokens BIGINT NOT NULL CHECK (tokens >= 0),
    ended_at BIGINT NOT NULL
);
CREATE TABLE case_learning (
    learning TEXT COLLATE "C" NOT NULL REFERENCES learning (id) DEFERRABLE,
    issue TEXT COLLATE "C" NOT NULL REFERENCES issue_case (issue) DEFERRABLE,
    PRIMARY KEY (learning, issue)
);
CREATE TABLE tracker (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    name TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    cursor TEXT COLLATE "C" NOT NULL DEFAULT '',
    seen_event BIGINT NOT NULL,
    own_user TEXT COLLATE "C",
    looked_at BIGINT,
    tries BIGINT NOT NULL DEFAULT 0,
    held_since BIGINT,
    held_until BIGINT,
    fault TEXT COLLATE "C" CHECK (fault IS NULL OR json_valid(fault)),
    CHECK ((held_until IS NULL) = (fault IS NULL)),
    UNIQUE (project, name)
);
CREATE TABLE tracker_link (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    tracker BIGINT NOT NULL REFERENCES tracker (id) DEFERRABLE,
    external_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    issue TEXT COLLATE "C" REFERENCES issue (id) DEFERRABLE,
    base TEXT COLLATE "C" NOT NULL CHECK (json_valid(base)),
    written TEXT COLLATE "C" NOT NULL DEFAULT '{}' CHECK (json_valid(written)),
    linked_at BIGINT NOT NULL,
    is_waiting BIGINT NOT NULL CHECK (is_waiting IN (0, 1)),
    UNIQUE (tracker, external_id),
    UNIQUE (tracker, issue)
);
CREATE TABLE tracker_change (
    number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    link BIGINT NOT NULL REFERENCES tracker_link (id) DEFERRABLE,
    change TEXT COLLATE "C" NOT NULL CHECK (json_valid(change)),
    covers TEXT COLLATE "C" NOT NULL CHECK (json_valid(covers)),
    state TEXT COLLATE "C" NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'applied', 'refused', 'withdrawn')),
    decided_at BIGINT NOT NULL,
    tried_at BIGINT,
    tries BIGINT NOT NULL DEFAULT 0,
    due_at BIGINT NOT NULL,
    problem TEXT COLLATE "C",
    created TEXT COLLATE "C",
    ended_at BIGINT,
    CHECK ((state = 'waiting') = (ended_at IS NULL))
);
CREATE TABLE tracker_comment (
    link BIGINT NOT NULL REFERENCES tracker_link (id) DEFERRABLE,
    external_id TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL,
    comment BIGINT REFERENCES comment (id) DEFERRABLE,
    begun_event BIGINT,
    is_done BIGINT NOT NULL DEFAULT 1 CHECK (is_done IN (0, 1)),
    PRIMARY KEY (link, external_id)
);
CREATE TABLE forge (
    project TEXT COLLATE "C" PRIMARY KEY REFERENCES project (id) DEFERRABLE,
    place TEXT COLLATE "C" NOT NULL,
    repository TEXT COLLATE "C",
    rules TEXT COLLATE "C" NOT NULL DEFAULT '{}' CHECK (json_valid(rules)),
    bases TEXT COLLATE "C" NOT NULL DEFAULT '{}' CHECK (json_valid(bases)),
    seen_event BIGINT NOT NULL DEFAULT 0,
    looked_at BIGINT,
    tries BIGINT NOT NULL DEFAULT 0,
    held_since BIGINT,
    held_until BIGINT,
    fault TEXT COLLATE "C" CHECK (fault IS NULL OR json_valid(fault)),
    problem TEXT COLLATE "C",
    CHECK ((held_until IS NULL) = (fault IS NULL))
);
CREATE TABLE forge_pull (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    branch TEXT COLLATE "C" NOT NULL,
    pr BIGINT NOT NULL REFERENCES pull_request (id) DEFERRABLE,
    number BIGINT,
    url TEXT COLLATE "C",
    is_open BIGINT NOT NULL DEFAULT 1 CHECK (is_open IN (0, 1)),
    pushed TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(pushed)),
    written TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(written)),
    checks_head TEXT COLLATE "C",
    checks TEXT COLLATE "C" NOT NULL DEFAULT '[]' CHECK (json_valid(checks)),
    read_at BIGINT,
    red_heads BIGINT NOT NULL DEFAULT 0,
    ends TEXT COLLATE "C" NOT NULL DEFAULT '{}' CHECK (json_valid(ends)),
    problem TEXT COLLATE "C",
    objection TEXT COLLATE "C"
);
CREATE TABLE forge_left (
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    number BIGINT NOT NULL,
    PRIMARY KEY (project, number)
);
CREATE TABLE forge_seen (
    pull BIGINT NOT NULL REFERENCES forge_pull (id) DEFERRABLE,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('review', 'comment')),
    external_id TEXT COLLATE "C" NOT NULL,
    verdict TEXT COLLATE "C" CHECK (verdict IS NULL OR json_valid(verdict)),
    updated_at BIGINT,
    point BIGINT,
    thread TEXT COLLATE "C",
    PRIMARY KEY (pull, kind, external_id)
);
CREATE TABLE forge_reply (
    id TEXT COLLATE "C" PRIMARY KEY,
    pull BIGINT NOT NULL REFERENCES forge_pull (id) DEFERRABLE,
    thread TEXT COLLATE "C" NOT NULL,
    point BIGINT NOT NULL,
    answer BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'applied', 'refused')),
    tried_at BIGINT,
    problem TEXT COLLATE "C",
    UNIQUE (pull, point, answer)
);
CREATE TABLE service_job (
    ticket TEXT COLLATE "C" PRIMARY KEY,
    worker TEXT COLLATE "C" NOT NULL UNIQUE,
    task TEXT COLLATE "C" NOT NULL CHECK (task IN ('attempt', 'after_run', 'remove')),
    identifier TEXT COLLATE "C" NOT NULL,
    attempt BIGINT CHECK (attempt >= 0),
    snapshot TEXT COLLATE "C" NOT NULL CHECK (json_valid(snapshot)),
    started_at BIGINT NOT NULL,
    ending TEXT COLLATE "C" CHECK (ending IN ('stop', 'clean', 'stall', 'quit')),
    ending_at BIGINT,
    error TEXT COLLATE "C",
    CHECK ((ending IS NULL) = (ending_at IS NULL))
);
CREATE TABLE service_retry (
    ticket TEXT COLLATE "C" PRIMARY KEY,
    identifier TEXT COLLATE "C" NOT NULL,
    attempt BIGINT NOT NULL CHECK (attempt >= 1),
    due_at BIGINT NOT NULL,
    error TEXT COLLATE "C"
);
CREATE TABLE service_ended (
    number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    worker TEXT COLLATE "C" NOT NULL UNIQUE,
    ticket TEXT COLLATE "C" NOT NULL,
    identifier TEXT COLLATE "C" NOT NULL,
    attempt BIGINT,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    error TEXT COLLATE "C",
    session TEXT COLLATE "C",
    turns BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    total_tokens BIGINT NOT NULL
);
CREATE TABLE service_total (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY CHECK (id = 1),
    attempts BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    total_tokens BIGINT NOT NULL,
    ms BIGINT NOT NULL,
    rate_limits TEXT COLLATE "C" CHECK (rate_limits IS NULL OR json_valid(rate_limits))
);
ALTER TABLE run ADD FOREIGN KEY (pull_request) REFERENCES pull_request (id) DEFERRABLE;
ALTER TABLE run ADD FOREIGN KEY (plan) REFERENCES plan (id) DEFERRABLE;
ALTER TABLE pull_request ADD FOREIGN KEY (plan) REFERENCES plan (id) DEFERRABLE;
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
CREATE INDEX learning_pack_project ON learning_pack (project);
CREATE INDEX learning_project ON learning (project, created_at, id);
CREATE INDEX issue_split ON issue (project, done_subtasks DESC, id) WHERE status = 'blocked' AND blocked_by = 'subtasks' AND open_subtasks = 0;
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
CREATE UNIQUE INDEX run_live_plan_review ON run (plan) WHERE plan IS NOT NULL AND pull_request IS NOT NULL AND status IN ('starting', 'running');
CREATE UNIQUE INDEX run_live_project ON run (project, agent) WHERE issue IS NULL AND plan IS NULL AND status IN ('starting', 'running');
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

CREATE FUNCTION event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'events are append-only'; END $$;
CREATE TRIGGER event_is_append_only_u BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION event_is_append_only();
CREATE TRIGGER event_is_append_only_d BEFORE DELETE ON event FOR EACH ROW EXECUTE FUNCTION event_is_append_only();

CREATE FUNCTION learning_given_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM learning_prepared WHERE project = NEW.project AND learning = NEW.id;
    RETURN NULL;
END $$;
CREATE FUNCTION learning_taken_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO learning_prepared (project, learning, issue, learning_type, created_at, prepared)
    VALUES (NEW.project, NEW.id, NEW.issue, NEW.learning_type, NEW.created_at, ''::bytea);
    RETURN NULL;
END $$;
CREATE TRIGGER learning_added AFTER INSERT ON learning FOR EACH ROW
    WHEN (NEW.state = 'accepted') EXECUTE FUNCTION learning_taken_in();
CREATE TRIGGER learning_accepted AFTER UPDATE OF state ON learning FOR EACH ROW
    WHEN (OLD.state <> 'accepted' AND NEW.state = 'accepted') EXECUTE FUNCTION learning_taken_in();
CREATE TRIGGER learning_withdrawn AFTER UPDATE OF state ON learning FOR EACH ROW
    WHEN (OLD.state = 'accepted' AND NEW.state <> 'accepted') EXECUTE FUNCTION learning_given_up();

CREATE FUNCTION subtask_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET
        open_subtasks = open_subtasks + (NEW.status NOT IN ('done', 'cancelled'))::int,
        done_subtasks = done_subtasks + (NEW.status = 'done')::int
    WHERE id = NEW.parent;
    RETURN NULL;
END $$;
CREATE TRIGGER subtask_added AFTER INSERT ON issue FOR EACH ROW
    WHEN (NEW.parent IS NOT NULL) EXECUTE FUNCTION subtask_added();
CREATE FUNCTION subtask_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET
        open_subtasks = open_subtasks + (NEW.status NOT IN ('done', 'cancelled'))::int - (OLD.status NOT IN ('done', 'cancelled'))::int,
        done_subtasks = done_subtasks + (NEW.status = 'done')::int - (OLD.status = 'done')::int
    WHERE id = NEW.parent;
    RETURN NULL;
END $$;
CREATE TRIGGER subtask_moved AFTER UPDATE OF status ON issue FOR EACH ROW
    WHEN (NEW.parent IS NOT NULL AND NEW.status <> OLD.status AND (NEW.status IN ('done', 'cancelled') OR OLD.status IN ('done', 'cancelled')))
    EXECUTE FUNCTION subtask_moved();

INSERT INTO service_total VALUES (1, 0, 0, 0, 0, 0, NULL);
