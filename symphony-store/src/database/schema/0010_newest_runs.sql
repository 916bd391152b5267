-- Lists of runs are newest first, by fencing number: an issue's, a project's, a plan's last ones are read without the rest.
DROP INDEX run_issue;
CREATE INDEX run_issue ON run (issue, fence) WHERE issue IS NOT NULL;
DROP INDEX run_started;
CREATE INDEX run_project ON run (project, fence);
DROP INDEX run_plan;
CREATE INDEX run_plan ON run (plan, fence) WHERE plan IS NOT NULL;
