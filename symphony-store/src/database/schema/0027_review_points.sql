-- What reviews ask for, point by point, and what was answered: apart from comments, so that nothing pushes it out of a prompt.
-- `round` counts how often a point was opened; an answer counts for the round in which it was given.
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
    unverified   TEXT,
    CHECK ((issue IS NULL) <> (plan IS NULL)),
    CHECK (pull_request IS NULL OR claim IS NULL)
) STRICT;
CREATE UNIQUE INDEX review_point_issue ON review_point (issue, number) WHERE issue IS NOT NULL;
CREATE UNIQUE INDEX review_point_plan ON review_point (plan, number) WHERE plan IS NOT NULL;
CREATE INDEX review_point_run ON review_point (run) WHERE run IS NOT NULL;

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
) STRICT;
CREATE INDEX point_answer_point ON point_answer (point, id);
CREATE INDEX point_answer_run ON point_answer (run) WHERE run IS NOT NULL;

-- An issue may be blocked by a question about a point; as in 0012, the table's text is edited and no row is rewritten.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''human'', ''gates'')', '''human'', ''gates'', ''question'')')
    WHERE type = 'table' AND name = 'issue';
PRAGMA writable_schema = RESET;
