-- The newest write of each connection (`db/postgres/session.rs`). It is the engine's own, and no copy takes it along.
CREATE TABLE engine_session (id text COLLATE "C" PRIMARY KEY, write bigint NOT NULL, at timestamptz NOT NULL) WITH (fillfactor = 50);
