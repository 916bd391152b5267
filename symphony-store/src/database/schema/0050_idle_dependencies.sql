-- Which issues wait for one that only a person brings forward, without a look at all that wait: the inbox and each tick ask for them.
-- Triggers keep the count, whoever writes the rows that it is derived from.

-- Dependencies that no run brings forward: in the backlog, cancelled, or of a project that has left.
CREATE VIEW idle_dependency AS
    SELECT d.issue, d.depends_on FROM issue_dependency d JOIN issue o ON o.id = d.depends_on JOIN project g ON g.id = o.project
    WHERE o.status IN ('backlog', 'cancelled') OR g.removed_at IS NOT NULL;
ALTER TABLE issue ADD COLUMN idle_dependencies INTEGER NOT NULL DEFAULT 0 CHECK (idle_dependencies >= 0);
UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id IN (SELECT issue FROM idle_dependency);
CREATE INDEX issue_waiting_idly ON issue (project, id) WHERE status = 'todo' AND open_dependencies > 0 AND idle_dependencies > 0;

CREATE TRIGGER dependency_added AFTER INSERT ON issue_dependency BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id) WHERE id = NEW.issue;
END;
CREATE TRIGGER dependency_removed AFTER DELETE ON issue_dependency BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id) WHERE id = OLD.issue;
END;
CREATE TRIGGER dependency_moved AFTER UPDATE OF status, project ON issue
WHEN (NEW.status IN ('backlog', 'cancelled')) <> (OLD.status IN ('backlog', 'cancelled')) OR NEW.project <> OLD.project BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id IN (SELECT issue FROM issue_dependency WHERE depends_on = NEW.id);
END;
CREATE TRIGGER dependency_left AFTER UPDATE OF removed_at ON project WHEN NEW.removed_at IS NOT OLD.removed_at BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id IN (SELECT d.issue FROM issue o JOIN issue_dependency d ON d.depends_on = o.id WHERE o.project = NEW.id);
END;
