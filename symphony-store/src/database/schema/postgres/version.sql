-- One row for each version that the tables have had. SQLite keeps the number in the head of its file.
CREATE TABLE schema_version (
    version BIGINT PRIMARY KEY,
    set_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
