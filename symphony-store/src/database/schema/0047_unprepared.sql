-- how often in a row the worker's host could not prepare a run, as long as the worker takes nothing for that
ALTER TABLE worker ADD COLUMN unprepared INTEGER NOT NULL DEFAULT 0;
