-- What a tick, the status and the inbox read stays as small as the open work, however much has ended. Triggers keep what is
-- derived, whoever writes the rows that it is derived from.

-- an agent filed it, and it was never moved
ALTER TABLE issue ADD COLUMN is_proposed INTEGER NOT NULL DEFAULT 0 CHECK (is_proposed IN (0, 1));
-- it was in a phase that delivered something
ALTER TABLE issue ADD COLUMN has_delivery INTEGER NOT NULL DEFAULT 0 CHECK (has_delivery IN (0, 1));

UPDATE issue SET is_proposed = 1 WHERE status NOT IN ('done', 'cancelled') AND EXISTS (
    SELECT 1 FROM event e WHERE e.id = (
        SELECT max(id) FROM event m WHERE m.issue = issue.id AND m.kind IN ('issue_added', 'issue_moved'))
    AND e.kind = 'issue_added' AND e.actor <> 'human');
UPDATE issue SET has_delivery = 1 WHERE id IN (SELECT issue FROM phase_claim);

CREATE TRIGGER issue_proposed AFTER INSERT ON event WHEN NEW.issue IS NOT NULL AND NEW.kind IN ('issue_added', 'issue_moved') BEGIN
    UPDATE issue SET is_proposed = (NEW.kind = 'issue_added' AND NEW.actor <> 'human')
    WHERE id = NEW.issue AND is_proposed <> (NEW.kind = 'issue_added' AND NEW.actor <> 'human');
END;
CREATE TRIGGER issue_delivered AFTER INSERT ON phase_claim BEGIN
    UPDATE issue SET has_delivery = 1 WHERE id = NEW.issue AND has_delivery = 0;
END;

CREATE INDEX issue_proposed ON issue (project, number) WHERE status = 'backlog' AND is_proposed = 1;
CREATE INDEX issue_delivered ON issue (project, id) WHERE has_delivery = 1 AND status NOT IN ('done', 'cancelled');
CREATE INDEX issue_open_part ON issue (project, id) WHERE parent IS NOT NULL AND status NOT IN ('done', 'cancelled');
-- both columns, so that the runs that have ended since a moment are read from the index alone
CREATE INDEX run_ended ON run (ended_at, started_at) WHERE ended_at IS NOT NULL;

-- how many issues of a project are in each status; a view on a server, where hosts would wait for each other's counts
CREATE TABLE issue_count (
    project TEXT NOT NULL REFERENCES project (id),
    status  TEXT NOT NULL,
    n       INTEGER NOT NULL CHECK (n >= 0),
    PRIMARY KEY (project, status)
) STRICT, WITHOUT ROWID;
INSERT INTO issue_count (project, status, n) SELECT project, status, count(*) FROM issue GROUP BY project, status;
CREATE TRIGGER issue_counted AFTER INSERT ON issue BEGIN
    INSERT INTO issue_count (project, status, n) VALUES (NEW.project, NEW.status, 1)
    ON CONFLICT (project, status) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER issue_recounted AFTER UPDATE OF status, project ON issue WHEN NEW.status <> OLD.status OR NEW.project <> OLD.project BEGIN
    UPDATE issue_count SET n = n - 1 WHERE project = OLD.project AND status = OLD.status;
    INSERT INTO issue_count (project, status, n) VALUES (NEW.project, NEW.status, 1)
    ON CONFLICT (project, status) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER issue_discounted AFTER DELETE ON issue BEGIN
    UPDATE issue_count SET n = n - 1 WHERE project = OLD.project AND status = OLD.status;
END;
