-- What a tick, the status and the inbox read no longer grows with what is open, but only with what they show.

-- Issues that others wait for and that only a person brings forward: a dependency of one in `todo`, or a sub-task in the backlog of one
-- that waits for its sub-tasks. Each may be there several times.
CREATE VIEW awaited_issue AS
    SELECT d.depends_on AS id FROM idle_dependency d JOIN issue t ON t.id = d.issue WHERE t.status = 'todo'
    UNION ALL
    SELECT c.id FROM issue c JOIN issue b ON b.id = c.parent
    WHERE c.status = 'backlog' AND b.status = 'blocked' AND b.blocked_by = 'subtasks';
ALTER TABLE issue ADD COLUMN is_awaited BIGINT NOT NULL DEFAULT 0 CHECK (is_awaited IN (0, 1));
UPDATE issue SET is_awaited = 1 WHERE id IN (SELECT id FROM awaited_issue);
-- the inbox begins with what is awaited, and no longer with all that wait
CREATE INDEX issue_awaited ON issue (project, number) WHERE is_awaited = 1;
DROP INDEX issue_waiting_idly;

-- Only a row that is no longer right is written: many issues may wait for the same one.
CREATE FUNCTION awaited_depends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id = NEW.depends_on AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id)::int;
    RETURN NULL;
END $$;
CREATE TRIGGER awaited_depends AFTER INSERT ON issue_dependency FOR EACH ROW
    EXECUTE FUNCTION awaited_depends();
CREATE FUNCTION awaited_released() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id = OLD.depends_on AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id)::int;
    RETURN NULL;
END $$;
CREATE TRIGGER awaited_released AFTER DELETE ON issue_dependency FOR EACH ROW
    EXECUTE FUNCTION awaited_released();
CREATE FUNCTION awaited_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id = NEW.id AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id)::int;
    RETURN NULL;
END $$;
CREATE TRIGGER awaited_added AFTER INSERT ON issue FOR EACH ROW
    WHEN (NEW.parent IS NOT NULL AND NEW.status = 'backlog')
    EXECUTE FUNCTION awaited_added();
CREATE FUNCTION awaited_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id = NEW.id AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id)::int;
    RETURN NULL;
END $$;
CREATE TRIGGER awaited_moved AFTER UPDATE OF status, project, parent ON issue FOR EACH ROW
    WHEN (NEW.status <> OLD.status AND (NEW.status IN ('backlog', 'cancelled') OR OLD.status IN ('backlog', 'cancelled'))
          OR NEW.project <> OLD.project OR NEW.parent IS DISTINCT FROM OLD.parent)
    EXECUTE FUNCTION awaited_moved();
-- No claim fires it: an issue that can start has no open dependency.
CREATE FUNCTION awaited_waits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id IN (SELECT depends_on FROM issue_dependency WHERE issue = NEW.id)
    AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id)::int;
    RETURN NULL;
END $$;
CREATE TRIGGER awaited_waits AFTER UPDATE OF status ON issue FOR EACH ROW
    WHEN ((NEW.status = 'todo') <> (OLD.status = 'todo') AND NEW.idle_dependencies > 0)
    EXECUTE FUNCTION awaited_waits();
CREATE FUNCTION awaited_split() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE parent = NEW.id AND status = 'backlog' AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id)::int;
    RETURN NULL;
END $$;
CREATE TRIGGER awaited_split AFTER UPDATE OF status, blocked_by ON issue FOR EACH ROW
    WHEN ((NEW.blocked_by IS NOT DISTINCT FROM 'subtasks') <> (OLD.blocked_by IS NOT DISTINCT FROM 'subtasks'))
    EXECUTE FUNCTION awaited_split();
CREATE FUNCTION awaited_left() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET is_awaited = 1 - is_awaited
    WHERE id IN (SELECT d.depends_on FROM issue o JOIN issue_dependency d ON d.depends_on = o.id WHERE o.project = NEW.id)
    AND is_awaited <> EXISTS (SELECT 1 FROM awaited_issue a WHERE a.id = issue.id)::int;
    RETURN NULL;
END $$;
CREATE TRIGGER awaited_left AFTER UPDATE OF removed_at ON project FOR EACH ROW
    WHEN (NEW.removed_at IS DISTINCT FROM OLD.removed_at)
    EXECUTE FUNCTION awaited_left();

-- without those that wait for their sub-tasks, which no person has to answer
CREATE INDEX issue_blocked_for_person ON issue (project, id) WHERE status = 'blocked' AND blocked_by <> 'subtasks';
-- what open issues are parts of, where it delivered something or is itself a part: not each part is read
CREATE INDEX issue_delivered_whole ON issue (project, id) WHERE has_delivery = 1 AND open_subtasks > 0;
CREATE INDEX issue_nested_whole ON issue (project, id) WHERE parent IS NOT NULL AND open_subtasks > 0;
DROP INDEX issue_open_part;
-- open issues that repair a gate; the label is that of `FIXES_GATE_LABEL`
CREATE INDEX issue_repairing ON issue (project, number) WHERE status NOT IN ('done', 'cancelled') AND instr(labels, 'fixes-gate:') > 0;
