-- digests of gates as they were configured when they passed on the base of a project: what has none is tried there before an
-- agent is paid
CREATE TABLE tried_gate (
    project TEXT NOT NULL REFERENCES project (id),
    digest  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, digest)
) STRICT, WITHOUT ROWID;
