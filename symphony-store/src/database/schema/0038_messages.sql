-- A comment that is a message to an agent, and the run whose agent got it.
ALTER TABLE comment ADD COLUMN addressee TEXT CHECK (addressee IS NULL OR (addressee IN ('author', 'judge') AND author = 'human'));
ALTER TABLE comment ADD COLUMN read_by TEXT REFERENCES run (id);
ALTER TABLE comment ADD COLUMN read_at INTEGER CHECK ((read_at IS NULL) = (read_by IS NULL) AND (read_at IS NULL OR addressee IS NOT NULL));
CREATE INDEX comment_unread ON comment (issue, addressee) WHERE addressee IS NOT NULL AND read_by IS NULL;
CREATE INDEX comment_read_by ON comment (read_by) WHERE read_by IS NOT NULL;
