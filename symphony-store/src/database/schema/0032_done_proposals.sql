-- A proposal that nothing is left to do is a review without a change: it has the record of a pull request, with its evidence here.
-- Its head is the commit of the base that it was made on, its body the reason.
ALTER TABLE pull_request ADD COLUMN proposal TEXT CHECK (json_valid(proposal)) CHECK (proposal IS NULL OR head_commit = base_commit);

-- `confirmed` is how a proposal ends well. Editing the table's text and reading the schema again is SQLite's documented way to
-- change a constraint, and rewrites no row.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(''open'', ''approved'', ''rejected'', ''merged'', ''closed'')', '(''open'', ''approved'', ''rejected'', ''merged'', ''closed'', ''confirmed'')')
    WHERE type = 'table' AND name = 'pull_request';
PRAGMA writable_schema = RESET;
