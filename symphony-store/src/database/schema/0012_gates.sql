-- Gates are jobs of their own: when those of a pull request are due, how often they could not be run, why, and whether a
-- person asked for them to run anew.
ALTER TABLE pull_request ADD COLUMN gates_due_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pull_request ADD COLUMN gates_tries INTEGER NOT NULL DEFAULT 0 CHECK (gates_tries >= 0);
ALTER TABLE pull_request ADD COLUMN gates_problem TEXT;
ALTER TABLE pull_request ADD COLUMN gates_fresh INTEGER NOT NULL DEFAULT 0 CHECK (gates_fresh IN (0, 1));

-- Gates that passed: the key is a digest of the tree, the gate, the set-up, copied files, environment and toolchain. A
-- failure is never kept.
CREATE TABLE gate_pass (
    key       TEXT PRIMARY KEY,
    project   TEXT NOT NULL REFERENCES project (id),
    gate      TEXT NOT NULL,
    tree      TEXT NOT NULL,
    passed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX gate_pass_age ON gate_pass (passed_at);

-- How the gates of an issue's pull requests failed since a person last started it again; `print` is equal for failures
-- that are the same.
CREATE TABLE gate_failure (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    issue  TEXT NOT NULL REFERENCES issue (id),
    run    TEXT NOT NULL REFERENCES run (id),
    tree   TEXT NOT NULL,
    print  TEXT NOT NULL,
    at     INTEGER NOT NULL
) STRICT;
CREATE INDEX gate_failure_issue ON gate_failure (issue, id);

-- An issue may be blocked by gates. SQLite has no statement that changes a CHECK; editing the table's text and reading the
-- schema again is its documented way, and rewrites no row.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''tampered'', ''human'')', '''tampered'', ''human'', ''gates'')')
    WHERE type = 'table' AND name = 'issue';
PRAGMA writable_schema = RESET;
