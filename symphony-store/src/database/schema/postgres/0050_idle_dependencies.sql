-- Dependencies that no run brings forward: in the backlog, cancelled, or of a project that has left.
CREATE VIEW idle_dependency AS
    SELECT d.issue, d.depends_on FROM issue_dependency d JOIN issue o ON o.id = d.depends_on JOIN project g ON g.id = o.project
    WHERE o.status IN ('backlog', 'cancelled') OR g.removed_at IS NOT NULL;
ALTER TABLE issue ADD COLUMN idle_dependencies BIGINT NOT NULL DEFAULT 0 CHECK (idle_dependencies >= 0);
UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id IN (SELECT issue FROM idle_dependency);
CREATE INDEX issue_waiting_idly ON issue (project, id) WHERE status = 'todo' AND open_dependencies > 0 AND idle_dependencies > 0;

CREATE FUNCTION dependency_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id = NEW.issue;
    RETURN NULL;
END $$;
CREATE TRIGGER dependency_added AFTER INSERT ON issue_dependency FOR EACH ROW EXECUTE FUNCTION dependency_added();
CREATE FUNCTION dependency_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id = OLD.issue;
    RETURN NULL;
END $$;
CREATE TRIGGER dependency_removed AFTER DELETE ON issue_dependency FOR EACH ROW EXECUTE FUNCTION dependency_removed();
CREATE FUNCTION dependency_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id IN (SELECT issue FROM issue_dependency WHERE depends_on = NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER dependency_moved AFTER UPDATE OF status, project ON issue FOR EACH ROW
    WHEN ((NEW.status IN ('backlog', 'cancelled')) <> (OLD.status IN ('backlog', 'cancelled')) OR NEW.project <> OLD.project)
    EXECUTE FUNCTION dependency_moved();
CREATE FUNCTION dependency_left() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET idle_dependencies = (SELECT count(*) FROM idle_dependency d WHERE d.issue = issue.id)
    WHERE id IN (SELECT d.issue FROM issue o JOIN issue_dependency d ON d.depends_on = o.id WHERE o.project = NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER dependency_left AFTER UPDATE OF removed_at ON project FOR EACH ROW
    WHEN (NEW.removed_at IS DISTINCT FROM OLD.removed_at) EXECUTE FUNCTION dependency_left();
