-- What a live run spent, by day of UTC: its own rows, so that runs do not wait for each other with each progress. At its end they are added to
-- those of its project (`spending`), in the same transaction. What a project spent is the sum of both.
CREATE TABLE run_spending (
    run         TEXT NOT NULL REFERENCES run (id),
    day         INTEGER NOT NULL,
    project     TEXT NOT NULL REFERENCES project (id),
    tokens      INTEGER NOT NULL DEFAULT 0,
    cost_micros INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_spending_of_project ON run_spending (project, day);
