-- How many sub-tasks of an issue are open, and how many are done: a tick reads only issues that can go on. The triggers
-- keep both counts, whoever makes or moves a sub-task.
ALTER TABLE issue ADD COLUMN open_subtasks INTEGER NOT NULL DEFAULT 0 CHECK (open_subtasks >= 0);
ALTER TABLE issue ADD COLUMN done_subtasks INTEGER NOT NULL DEFAULT 0 CHECK (done_subtasks >= 0);

UPDATE issue SET
    open_subtasks = (SELECT count(*) FROM issue c WHERE c.parent = issue.id AND c.status NOT IN ('done', 'cancelled')),
    done_subtasks = (SELECT count(*) FROM issue c WHERE c.parent = issue.id AND c.status = 'done')
WHERE id IN (SELECT parent FROM issue WHERE parent IS NOT NULL);

CREATE TRIGGER subtask_added AFTER INSERT ON issue WHEN NEW.parent IS NOT NULL BEGIN
    UPDATE issue SET
        open_subtasks = open_subtasks + (NEW.status NOT IN ('done', 'cancelled')),
        done_subtasks = done_subtasks + (NEW.status = 'done')
    WHERE id = NEW.parent;
END;
CREATE TRIGGER subtask_moved AFTER UPDATE OF status ON issue
WHEN NEW.parent IS NOT NULL AND NEW.status <> OLD.status AND (NEW.status IN ('done', 'cancelled') OR OLD.status IN ('done', 'cancelled')) BEGIN
    UPDATE issue SET
        open_subtasks = open_subtasks + (NEW.status NOT IN ('done', 'cancelled')) - (OLD.status NOT IN ('done', 'cancelled')),
        done_subtasks = done_subtasks + (NEW.status = 'done') - (OLD.status = 'done')
    WHERE id = NEW.parent;
END;

CREATE INDEX issue_split ON issue (project, done_subtasks DESC, id)
    WHERE status = 'blocked' AND blocked_by = 'subtasks' AND open_subtasks = 0;

-- what was reported about the tests; `flags` are the signs of bloat that were found then
CREATE TABLE test_health (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    project     TEXT NOT NULL REFERENCES project (id),
    issue       TEXT REFERENCES issue (id),
    run         TEXT REFERENCES run (id),
    test_count  INTEGER NOT NULL CHECK (test_count >= 0),
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    flags       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(flags)),
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX test_health_project ON test_health (project, id);
CREATE INDEX test_health_run ON test_health (run) WHERE run IS NOT NULL;

-- which file was looked at for which concept; looking again updates the entry
CREATE TABLE coverage (
    project    TEXT NOT NULL REFERENCES project (id),
    file       TEXT NOT NULL,
    concept    TEXT NOT NULL,
    notes      TEXT NOT NULL DEFAULT '',
    run        TEXT REFERENCES run (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project, file, concept)
) STRICT, WITHOUT ROWID;
CREATE INDEX coverage_run ON coverage (run) WHERE run IS NOT NULL;
