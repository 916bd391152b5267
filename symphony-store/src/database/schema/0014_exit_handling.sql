-- Runs whose agent is gone and whose end is not recorded yet: what the agent came to, recorded before anything is done with
-- its work, so that whoever goes on with the exit handling knows it. `tries` counts those that failed; `due_at` and `problem` say when
-- it is tried again, and why.
CREATE TABLE exit_handling (
    run     TEXT PRIMARY KEY REFERENCES run (id),
    outcome TEXT NOT NULL CHECK (json_valid(outcome)),
    tries   INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    due_at  INTEGER,
    problem TEXT,
    CHECK ((due_at IS NULL) = (problem IS NULL))
) STRICT, WITHOUT ROWID;
