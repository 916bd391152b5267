ALTER TABLE issue ADD COLUMN is_proposed BIGINT NOT NULL DEFAULT 0 CHECK (is_proposed IN (0, 1));
ALTER TABLE issue ADD COLUMN has_delivery BIGINT NOT NULL DEFAULT 0 CHECK (has_delivery IN (0, 1));

UPDATE issue SET is_proposed = 1 WHERE status NOT IN ('done', 'cancelled') AND EXISTS (
    SELECT 1 FROM event e WHERE e.id = (
        SELECT max(id) FROM event m WHERE m.issue = issue.id AND m.kind IN ('issue_added', 'issue_moved'))
    AND e.kind = 'issue_added' AND e.actor <> 'human');
UPDATE issue SET has_delivery = 1 WHERE id IN (SELECT issue FROM phase_claim);

CREATE FUNCTION issue_proposed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET is_proposed = (NEW.kind = 'issue_added' AND NEW.actor <> 'human')::int
    WHERE id = NEW.issue AND is_proposed <> (NEW.kind = 'issue_added' AND NEW.actor <> 'human')::int;
    RETURN NULL;
END $$;
CREATE TRIGGER issue_proposed AFTER INSERT ON event FOR EACH ROW
    WHEN (NEW.issue IS NOT NULL AND NEW.kind IN ('issue_added', 'issue_moved')) EXECUTE FUNCTION issue_proposed();
CREATE FUNCTION issue_delivered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE issue SET has_delivery = 1 WHERE id = NEW.issue AND has_delivery = 0;
    RETURN NULL;
END $$;
CREATE TRIGGER issue_delivered AFTER INSERT ON phase_claim FOR EACH ROW EXECUTE FUNCTION issue_delivered();

CREATE INDEX issue_proposed ON issue (project, number) WHERE status = 'backlog' AND is_proposed = 1;
CREATE INDEX issue_delivered ON issue (project, id) WHERE has_delivery = 1 AND status NOT IN ('done', 'cancelled');
CREATE INDEX issue_open_part ON issue (project, id) WHERE parent IS NOT NULL AND status NOT IN ('done', 'cancelled');
CREATE INDEX run_ended ON run (ended_at, started_at) WHERE ended_at IS NOT NULL;

CREATE VIEW issue_count AS SELECT project, status, count(*) AS n FROM issue GROUP BY project, status;
