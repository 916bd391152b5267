-- Trackers: up to where each was read, which issues are mirrored, and what waits to be sent (design 0046).

-- one for each tracker of a project's configuration
CREATE TABLE tracker (
    id          INTEGER PRIMARY KEY,
    project     TEXT NOT NULL REFERENCES project (id),
    name        TEXT NOT NULL,
    place       TEXT NOT NULL,              -- such as github:acme/web; the links are to this place
    cursor      TEXT NOT NULL DEFAULT '',
    seen_event  INTEGER NOT NULL,           -- the last entry of the log that was turned into changes
    own_user    TEXT,                       -- the id there of whoever the token is
    looked_at   INTEGER,                    -- when everything was last read
    tries       INTEGER NOT NULL DEFAULT 0, -- looks in a row that failed
    held_since  INTEGER,
    held_until  INTEGER,
    fault       TEXT CHECK (fault IS NULL OR json_valid(fault)),
    CHECK ((held_until IS NULL) = (fault IS NULL)),
    UNIQUE (project, name)
) STRICT;

-- an issue, and what it is at a tracker
CREATE TABLE tracker_link (
    id          INTEGER PRIMARY KEY,
    tracker     INTEGER NOT NULL REFERENCES tracker (id),
    external_id TEXT NOT NULL,
    key         TEXT NOT NULL,
    url         TEXT NOT NULL,
    issue       TEXT REFERENCES issue (id), -- NULL: deleted here, and not taken in again
    base        TEXT NOT NULL CHECK (json_valid(base)),
    written     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(written)), -- which milestones were written there
    linked_at   INTEGER NOT NULL,
    is_waiting  INTEGER NOT NULL CHECK (is_waiting IN (0, 1)), -- whether it has relations whose other end was not linked
    UNIQUE (tracker, external_id),
    UNIQUE (tracker, issue)
) STRICT;
CREATE INDEX tracker_link_waiting ON tracker_link (tracker, id) WHERE is_waiting = 1;
CREATE INDEX tracker_link_issue ON tracker_link (issue) WHERE issue IS NOT NULL;

-- the outbox: one row for each change, from its decision on
CREATE TABLE tracker_change (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,        -- a UUID, which what the change creates carries
    link       INTEGER NOT NULL REFERENCES tracker_link (id),
    change     TEXT NOT NULL CHECK (json_valid(change)),
    covers     TEXT NOT NULL CHECK (json_valid(covers)), -- what of ours it is about
    state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'applied', 'refused', 'withdrawn')),
    decided_at INTEGER NOT NULL,
    tried_at   INTEGER,                     -- the last attempt began; its result may be lost
    tries      INTEGER NOT NULL DEFAULT 0,  -- attempts that failed
    due_at     INTEGER NOT NULL,
    problem    TEXT,
    created    TEXT,                        -- the id of what it created there
    ended_at   INTEGER,
    CHECK ((state = 'waiting') = (ended_at IS NULL))
) STRICT;
CREATE INDEX tracker_change_waiting ON tracker_change (link, number) WHERE state = 'waiting';
CREATE INDEX tracker_change_refused ON tracker_change (link, number) WHERE state = 'refused';
CREATE INDEX tracker_change_created ON tracker_change (link, created) WHERE created IS NOT NULL;

-- comments of a tracker that were read
CREATE TABLE tracker_comment (
    link        INTEGER NOT NULL REFERENCES tracker_link (id),
    external_id TEXT NOT NULL,
    updated_at  INTEGER NOT NULL,
    comment     INTEGER REFERENCES comment (id),
    begun_event INTEGER,                    -- the last entry of the log before its command was carried out
    is_done     INTEGER NOT NULL DEFAULT 1 CHECK (is_done IN (0, 1)),
    PRIMARY KEY (link, external_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tracker_comment_comment ON tracker_comment (comment) WHERE comment IS NOT NULL;

ALTER TABLE comment ADD COLUMN login TEXT CHECK (login IS NULL OR author = 'tracker_user');

-- What is done at a tracker has a source of its own; as in 0012, the tables' texts are edited and no row is rewritten.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(''cli'', ''web'', ''agent'')', '(''cli'', ''web'', ''agent'', ''tracker'')')
    WHERE type = 'table' AND name IN ('event', 'comment', 'review_point', 'point_answer');
PRAGMA writable_schema = RESET;

CREATE INDEX issue_external ON issue (project, external_id) WHERE external_id IS NOT NULL;
