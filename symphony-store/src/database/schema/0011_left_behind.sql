-- Runs that left work in no commit: a person has to know of it.
CREATE INDEX run_left_behind ON run (project, fence) WHERE json_extract(metadata, '$.left_behind') IS NOT NULL;
