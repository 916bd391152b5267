-- What ranking reads of each learning that is not retired, apart from the texts: a dispatch reads one stretch of it.
-- `prepared` begins with the version of the algorithm that made it; empty, or of another version, it is made anew by
-- whoever reads it. The triggers see to it that each learning that may be given begins with a row here.
CREATE TABLE learning_prepared (
    project       TEXT NOT NULL,
    learning      TEXT NOT NULL REFERENCES learning (id),
    issue         TEXT,
    learning_type TEXT,
    created_at    INTEGER NOT NULL,
    prepared      BLOB NOT NULL,
    PRIMARY KEY (project, learning)
) STRICT, WITHOUT ROWID;

INSERT INTO learning_prepared (project, learning, issue, learning_type, created_at, prepared)
SELECT project, id, issue, learning_type, created_at, x'' FROM learning WHERE retired = 0;

CREATE TRIGGER learning_added AFTER INSERT ON learning WHEN NEW.retired = 0 BEGIN
    INSERT INTO learning_prepared (project, learning, issue, learning_type, created_at, prepared)
    VALUES (NEW.project, NEW.id, NEW.issue, NEW.learning_type, NEW.created_at, x'');
END;
CREATE TRIGGER learning_retired AFTER UPDATE OF retired ON learning WHEN OLD.retired = 0 AND NEW.retired = 1 BEGIN
    DELETE FROM learning_prepared WHERE project = NEW.project AND learning = NEW.id;
END;
CREATE TRIGGER learning_restored AFTER UPDATE OF retired ON learning WHEN OLD.retired = 1 AND NEW.retired = 0 BEGIN
    INSERT INTO learning_prepared (project, learning, issue, learning_type, created_at, prepared)
    VALUES (NEW.project, NEW.id, NEW.issue, NEW.learning_type, NEW.created_at, x'');
END;

-- The same forms, many in one row, one behind the other (`learning_pack.rs`): a dispatch reads thousands of them at the
-- speed of memory. A learning that may be given is either here or in learning_prepared.
CREATE TABLE learning_pack (
    id      INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    forms   BLOB NOT NULL
) STRICT;
CREATE INDEX learning_pack_project ON learning_pack (project);

-- lists show retired ones too
DROP INDEX learning_project;
CREATE INDEX learning_project ON learning (project, created_at, id);

-- which learnings stood in the prompts of a run
CREATE TABLE learning_given (
    learning TEXT NOT NULL REFERENCES learning (id),
    run      TEXT NOT NULL REFERENCES run (id),
    PRIMARY KEY (learning, run)
) STRICT, WITHOUT ROWID;
