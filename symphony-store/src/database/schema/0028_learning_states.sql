-- Learnings have a life (spec: review, "Learnings have a life"): what a run learned is proposed until its work is done. All
-- that there are were given to agents already, and stay accepted.
DROP TRIGGER learning_added;
DROP TRIGGER learning_retired;
DROP TRIGGER learning_restored;
ALTER TABLE learning ADD COLUMN state TEXT NOT NULL DEFAULT 'accepted' CHECK (state IN ('proposed', 'accepted', 'dropped', 'retired'));
UPDATE learning SET state = 'retired' WHERE retired = 1;
ALTER TABLE learning DROP COLUMN retired;

-- `learning_prepared` and the packs hold the accepted ones
CREATE TRIGGER learning_added AFTER INSERT ON learning WHEN NEW.state = 'accepted' BEGIN
    INSERT INTO learning_prepared (project, learning, issue, learning_type, created_at, prepared)
    VALUES (NEW.project, NEW.id, NEW.issue, NEW.learning_type, NEW.created_at, x'');
END;
CREATE TRIGGER learning_withdrawn AFTER UPDATE OF state ON learning WHEN OLD.state = 'accepted' AND NEW.state <> 'accepted' BEGIN
    DELETE FROM learning_prepared WHERE project = NEW.project AND learning = NEW.id;
END;
CREATE TRIGGER learning_accepted AFTER UPDATE OF state ON learning WHEN OLD.state <> 'accepted' AND NEW.state = 'accepted' BEGIN
    INSERT INTO learning_prepared (project, learning, issue, learning_type, created_at, prepared)
    VALUES (NEW.project, NEW.id, NEW.issue, NEW.learning_type, NEW.created_at, x'');
END;

-- the work that a learning of a run comes from; the end of it decides about the learning
CREATE TABLE learning_source (
    id       INTEGER PRIMARY KEY,
    learning TEXT NOT NULL REFERENCES learning (id),
    issue    TEXT REFERENCES issue (id),
    plan     TEXT REFERENCES plan (id),
    run      TEXT NOT NULL REFERENCES run (id),
    CHECK ((issue IS NULL) <> (plan IS NULL))
) STRICT;
CREATE INDEX learning_source_learning ON learning_source (learning, id);
CREATE UNIQUE INDEX learning_source_issue ON learning_source (issue, learning) WHERE issue IS NOT NULL;
CREATE UNIQUE INDEX learning_source_plan ON learning_source (plan, learning) WHERE plan IS NOT NULL;
