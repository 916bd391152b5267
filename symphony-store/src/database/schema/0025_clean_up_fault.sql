-- worktrees of issues that have ended, and that could not be removed: how often it was tried, and when it is tried again
CREATE TABLE clean_up_fault (
    issue   TEXT PRIMARY KEY REFERENCES issue (id),
    tries   INTEGER NOT NULL,
    due_at  INTEGER NOT NULL,
    problem TEXT NOT NULL,
    since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
