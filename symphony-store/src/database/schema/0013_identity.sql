-- where the commits of a branch are that an issue's first run found and the database did not know; a person decides on them
ALTER TABLE issue ADD COLUMN rescued_branch TEXT;
CREATE INDEX issue_rescued_branch ON issue (project, id) WHERE rescued_branch IS NOT NULL;

-- when a person took the project out of the installation; what is recorded of it stays
ALTER TABLE project ADD COLUMN removed_at INTEGER;
