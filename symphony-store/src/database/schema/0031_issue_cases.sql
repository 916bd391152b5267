-- What the issues that are done came to, and which learnings their agents had from the first attempt on: how useful a
-- learning is, is measured by it. Issues that ended before this have no row: of them it is not known exactly.
CREATE TABLE issue_case (
    issue             TEXT PRIMARY KEY REFERENCES issue (id),
    project           TEXT NOT NULL REFERENCES project (id),
    merged_first_time INTEGER NOT NULL CHECK (merged_first_time IN (0, 1)),
    attempts          INTEGER NOT NULL CHECK (attempts > 0),
    tokens            INTEGER NOT NULL CHECK (tokens >= 0),
    ended_at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_case_project ON issue_case (project, ended_at);

CREATE TABLE case_learning (
    learning TEXT NOT NULL REFERENCES learning (id),
    issue    TEXT NOT NULL REFERENCES issue_case (issue),
    PRIMARY KEY (learning, issue)
) STRICT, WITHOUT ROWID;
CREATE INDEX case_learning_issue ON case_learning (issue);

-- since when every issue may be given it; all cases are later than what was accepted before
ALTER TABLE learning ADD COLUMN accepted_at INTEGER;
UPDATE learning SET accepted_at = created_at WHERE state IN ('accepted', 'retired');
