-- What people were told of, once each. One that was being sent when its sender died is not sent again.
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
CREATE INDEX notification_queued ON notification (created_at, key) WHERE state = 'queued';

-- Pull requests as they were published elsewhere: the intent first, then what came of it.
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
CREATE INDEX publication_pull_request ON publication (pull_request, id);
CREATE UNIQUE INDEX publication_running ON publication (pull_request) WHERE state = 'running';
