-- What `run --workflow` and `tick --workflow` know (design 0049): tickets that a worker has, tickets whose next attempt has a
-- time, attempts that ended, and what they used together. Tickets are a tracker's, and no issues.

-- one for each ticket that a worker process has; it is written before the process is started
CREATE TABLE service_job (
    ticket      TEXT PRIMARY KEY,           -- the tracker's id
    worker      TEXT NOT NULL UNIQUE,
    task        TEXT NOT NULL CHECK (task IN ('attempt', 'after_run', 'remove')),
    identifier  TEXT NOT NULL,
    attempt     INTEGER CHECK (attempt >= 0), -- NULL for the first
    snapshot    TEXT NOT NULL CHECK (json_valid(snapshot)), -- the ticket as the tracker showed it last
    started_at  INTEGER NOT NULL,
    ending      TEXT CHECK (ending IN ('stop', 'clean', 'stall', 'quit')), -- why it was asked to end
    ending_at   INTEGER,
    error       TEXT,                       -- why its attempt failed, while `after_run` runs for it
    CHECK ((ending IS NULL) = (ending_at IS NULL))
) STRICT;

CREATE TABLE service_retry (
    ticket      TEXT PRIMARY KEY,
    identifier  TEXT NOT NULL,
    attempt     INTEGER NOT NULL CHECK (attempt >= 1),
    due_at      INTEGER NOT NULL,
    error       TEXT                        -- NULL after an attempt that ended well
) STRICT;

CREATE TABLE service_ended (
    number        INTEGER PRIMARY KEY,
    worker        TEXT NOT NULL UNIQUE,
    ticket        TEXT NOT NULL,
    identifier    TEXT NOT NULL,
    attempt       INTEGER,
    started_at    INTEGER NOT NULL,
    ended_at      INTEGER NOT NULL,
    outcome       TEXT NOT NULL,
    error         TEXT,
    session       TEXT,
    turns         INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    total_tokens  INTEGER NOT NULL
) STRICT;
CREATE INDEX service_ended_identifier ON service_ended (identifier, number);

-- one row: sums of all attempts that ended, also of those that are no longer listed
CREATE TABLE service_total (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    attempts      INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    total_tokens  INTEGER NOT NULL,
    ms            INTEGER NOT NULL,
    rate_limits   TEXT CHECK (rate_limits IS NULL OR json_valid(rate_limits))
) STRICT;
INSERT INTO service_total VALUES (1, 0, 0, 0, 0, 0, NULL);
