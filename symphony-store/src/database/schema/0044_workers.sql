-- Runs that workers on other hosts begin (design 0051). Runs of a single machine have no pool, and nothing here is written for them.
ALTER TABLE run ADD COLUMN pool TEXT;            -- where it waits; NULL where the control starts it
ALTER TABLE run ADD COLUMN host TEXT CHECK (host IS NULL OR pool IS NOT NULL); -- who began it
-- by the database's clock, which is no host's
ALTER TABLE run ADD COLUMN begun_at INTEGER CHECK ((begun_at IS NULL) = (host IS NULL));
ALTER TABLE run ADD COLUMN beat_at INTEGER CHECK ((beat_at IS NULL) = (host IS NULL)); -- no index has it: a beat changes one row and nothing else
ALTER TABLE run ADD COLUMN start_commit TEXT;    -- of its branch, when it began
ALTER TABLE run ADD COLUMN result_commit TEXT;   -- what its host brought to the hub
ALTER TABLE run ADD COLUMN promoted TEXT;         -- what the branch of its issue was moved to
CREATE INDEX run_queue ON run (pool, fence) WHERE pool IS NOT NULL AND status = 'starting' AND begun_at IS NULL;
CREATE INDEX run_unpromoted ON run (project, fence) WHERE result_commit IS NOT NULL AND promoted IS NULL;

ALTER TABLE project ADD COLUMN hub TEXT;         -- the URL of the repository that hosts share; NULL where there is none

-- the configuration that workers use for a project: theirs must not differ from the control's
CREATE TABLE project_config (
    project  TEXT PRIMARY KEY REFERENCES project (id),
    revision INTEGER NOT NULL CHECK (revision >= 1),
    layers   TEXT NOT NULL CHECK (json_valid(layers))
) STRICT;

-- one for each worker that ever began; gone ones are known by their age
CREATE TABLE worker (
    host    TEXT NOT NULL,
    pool    TEXT NOT NULL,
    version INTEGER NOT NULL,                    -- of the protocol between control and workers
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (host, pool)
) STRICT;

-- what a run on another host shows to readers; `seq` is how many bytes of it come before
CREATE TABLE run_log (
    run   TEXT NOT NULL REFERENCES run (id),
    seq   INTEGER NOT NULL CHECK (seq >= 0),
    at    INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
