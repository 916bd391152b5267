-- What the runs of a project spent, by day of UTC (days since 1970): the caps of a project and of its day are sums of few
-- rows. A run's growing usage is added as it is recorded, in the same transaction.
CREATE TABLE spending (
    project     TEXT NOT NULL REFERENCES project (id),
    day         INTEGER NOT NULL,
    tokens      INTEGER NOT NULL DEFAULT 0,
    cost_micros INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project, day)
) STRICT, WITHOUT ROWID;

INSERT INTO spending (project, day, tokens, cost_micros)
SELECT project, coalesce(ended_at, started_at) / 86400000,
       sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), sum(coalesce(cost_micros, 0))
FROM run GROUP BY 1, 2;
