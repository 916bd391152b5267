-- The statements read the database's clock as SQLite has it: seconds with a fraction.
CREATE FUNCTION unixepoch(t text) RETURNS double precision VOLATILE STRICT LANGUAGE sql AS
    'SELECT extract(epoch FROM clock_timestamp())::double precision';

ALTER TABLE run ADD COLUMN pool TEXT COLLATE "C";
ALTER TABLE run ADD COLUMN host TEXT COLLATE "C" CHECK (host IS NULL OR pool IS NOT NULL);
ALTER TABLE run ADD COLUMN begun_at BIGINT CHECK ((begun_at IS NULL) = (host IS NULL));
ALTER TABLE run ADD COLUMN beat_at BIGINT CHECK ((beat_at IS NULL) = (host IS NULL));
ALTER TABLE run ADD COLUMN start_commit TEXT COLLATE "C";
ALTER TABLE run ADD COLUMN result_commit TEXT COLLATE "C";
ALTER TABLE run ADD COLUMN promoted TEXT COLLATE "C";
CREATE INDEX run_queue ON run (pool, fence) WHERE pool IS NOT NULL AND status = 'starting' AND begun_at IS NULL;
CREATE INDEX run_unpromoted ON run (project, fence) WHERE result_commit IS NOT NULL AND promoted IS NULL;

ALTER TABLE project ADD COLUMN hub TEXT COLLATE "C";

CREATE TABLE project_config (
    project TEXT COLLATE "C" PRIMARY KEY REFERENCES project (id) DEFERRABLE,
    revision BIGINT NOT NULL CHECK (revision >= 1),
    layers TEXT COLLATE "C" NOT NULL CHECK (json_valid(layers))
);
CREATE TABLE worker (
    host TEXT COLLATE "C" NOT NULL,
    pool TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (host, pool)
);
CREATE TABLE run_log (
    run TEXT COLLATE "C" NOT NULL REFERENCES run (id) DEFERRABLE,
    seq BIGINT NOT NULL CHECK (seq >= 0),
    at BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (run, seq)
);
