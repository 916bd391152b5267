-- since when a hold stands: it is one warning, however often its probes fail
ALTER TABLE hold ADD COLUMN placed_at INTEGER NOT NULL DEFAULT 0;

-- what waits for a human, apart from reviews and blocked issues
CREATE INDEX issue_spent ON issue (project, id) WHERE status = 'backlog' AND total_runs > 0;
CREATE INDEX issue_waiting ON issue (project, id) WHERE status = 'todo' AND open_dependencies > 0;
