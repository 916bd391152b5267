CREATE TABLE run_spending (
    run TEXT COLLATE "C" NOT NULL REFERENCES run (id) DEFERRABLE,
    day BIGINT NOT NULL,
    project TEXT COLLATE "C" NOT NULL REFERENCES project (id) DEFERRABLE,
    tokens BIGINT NOT NULL DEFAULT 0,
    cost_micros BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (run, day)
);
CREATE INDEX run_spending_of_project ON run_spending (project, day);
