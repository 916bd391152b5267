-- A finding may be about the project as a whole: those of scanners and background researchers, which have no issue.
CREATE TABLE finding_new (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL REFERENCES project (id),
    issue      TEXT REFERENCES issue (id),
    kind       TEXT NOT NULL,
    text       TEXT NOT NULL,
    files      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
    author     TEXT NOT NULL,
    run        TEXT REFERENCES run (id),
    created_at INTEGER NOT NULL
) STRICT;
INSERT INTO finding_new (id, project, issue, kind, text, files, author, run, created_at)
    SELECT f.id, i.project, f.issue, f.kind, f.text, f.files, f.author, f.run, f.created_at
    FROM finding f JOIN issue i ON i.id = f.issue;
-- the log names findings by number: none is given out again
DELETE FROM sqlite_sequence WHERE name = 'finding_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'finding_new', seq FROM sqlite_sequence WHERE name = 'finding';
DROP TABLE finding;
ALTER TABLE finding_new RENAME TO finding;
CREATE INDEX finding_issue ON finding (issue, id) WHERE issue IS NOT NULL;
CREATE INDEX finding_project ON finding (project, id) WHERE issue IS NULL;
CREATE INDEX finding_run ON finding (run) WHERE run IS NOT NULL;
