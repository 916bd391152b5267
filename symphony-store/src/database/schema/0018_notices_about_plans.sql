-- What a person is told of a base branch may be about the pull request of a plan.
CREATE TABLE base_notice_new (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    project      TEXT NOT NULL REFERENCES project (id),
    issue        TEXT REFERENCES issue (id),
    plan         TEXT REFERENCES plan (id) CHECK ((issue IS NULL) <> (plan IS NULL)),
    pull_request INTEGER REFERENCES pull_request (id),
    kind         TEXT NOT NULL,
    commit_id    TEXT NOT NULL,
    text         TEXT NOT NULL,
    at           INTEGER NOT NULL,
    dismissed_at INTEGER,
    UNIQUE (issue, kind, commit_id),
    UNIQUE (plan, kind, commit_id)
) STRICT;
INSERT INTO base_notice_new (id, project, issue, pull_request, kind, commit_id, text, at, dismissed_at)
    SELECT id, project, issue, pull_request, kind, commit_id, text, at, dismissed_at FROM base_notice;
-- no number is given out again
DELETE FROM sqlite_sequence WHERE name = 'base_notice_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'base_notice_new', seq FROM sqlite_sequence WHERE name = 'base_notice';
DROP TABLE base_notice;
ALTER TABLE base_notice_new RENAME TO base_notice;
CREATE INDEX base_notice_open ON base_notice (project, id) WHERE dismissed_at IS NULL;
CREATE INDEX base_notice_pull_request ON base_notice (pull_request) WHERE dismissed_at IS NULL;
