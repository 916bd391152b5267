-- Merges made outside: how far each base branch was looked at, and what a person is told of commits that reached it without
-- Symphony.
CREATE TABLE base_look (
    project TEXT NOT NULL REFERENCES project (id),
    branch  TEXT NOT NULL,
    head    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, branch)
) STRICT, WITHOUT ROWID;

-- The head of its base at which a pull request was looked for last, and how it was merged when that was not Symphony.
ALTER TABLE pull_request ADD COLUMN base_seen TEXT;
ALTER TABLE pull_request ADD COLUMN merged_outside TEXT CHECK (json_valid(merged_outside));

CREATE TABLE base_notice (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    project      TEXT NOT NULL REFERENCES project (id),
    issue        TEXT NOT NULL REFERENCES issue (id),
    pull_request INTEGER REFERENCES pull_request (id),
    kind         TEXT NOT NULL,
    commit_id    TEXT NOT NULL,
    text         TEXT NOT NULL,
    at           INTEGER NOT NULL,
    dismissed_at INTEGER,
    UNIQUE (issue, kind, commit_id)
) STRICT;
CREATE INDEX base_notice_open ON base_notice (project, id) WHERE dismissed_at IS NULL;
CREATE INDEX base_notice_pull_request ON base_notice (pull_request) WHERE dismissed_at IS NULL;
