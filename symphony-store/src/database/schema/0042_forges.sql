-- Forges: whether each can be asked, and what its pull requests have (design 0048).

-- at most one for each project
CREATE TABLE forge (
    project    TEXT PRIMARY KEY REFERENCES project (id),
    place      TEXT NOT NULL,               -- such as github:acme/web
    repository TEXT,                        -- its id there, which no rename changes; NULL: not asked yet
    rules      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(rules)), -- what is demanded of base branches, by name
    bases      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(bases)), -- the commits that base branches had there, by name
    seen_event INTEGER NOT NULL DEFAULT 0,  -- the last entry of the log before the last look
    looked_at  INTEGER,                     -- when everything was last read
    tries      INTEGER NOT NULL DEFAULT 0,  -- looks in a row that failed
    held_since INTEGER,
    held_until INTEGER,
    fault      TEXT CHECK (fault IS NULL OR json_valid(fault)),
    problem    TEXT,                        -- why the base is not as it is there
    CHECK ((held_until IS NULL) = (fault IS NULL))
) STRICT, WITHOUT ROWID;

-- a branch with its pull request there; through rejections it stays the same one
CREATE TABLE forge_pull (
    id          INTEGER PRIMARY KEY,
    project     TEXT NOT NULL REFERENCES project (id),
    branch      TEXT NOT NULL,
    pr          INTEGER NOT NULL REFERENCES pull_request (id), -- the newest here
    number      INTEGER,                    -- NULL: pushed, and not opened yet
    url         TEXT,
    is_open     INTEGER NOT NULL DEFAULT 1 CHECK (is_open IN (0, 1)), -- there
    pushed      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(pushed)), -- commits, oldest first, each from before its push on
    written     TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(written)), -- title and text as they are ours there: last written, and about to be
    checks_head TEXT,                       -- the commit that the checks are of
    checks      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(checks)),
    read_at     INTEGER,                    -- the forge's time of the last change, once all of its second was read
    red_heads   INTEGER NOT NULL DEFAULT 0, -- commits in a row whose checks failed
    ends        TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(ends)), -- what is known of how it ends
    problem     TEXT,                       -- what keeps it from being mirrored
    objection   TEXT                        -- what a person there demands that could not be taken in: nothing is merged meanwhile
) STRICT;
CREATE UNIQUE INDEX forge_pull_open ON forge_pull (project, branch) WHERE is_open = 1;
CREATE INDEX forge_pull_pr ON forge_pull (pr);
-- one pull request there can have several rows: it was closed, and opened again for a later attempt
CREATE INDEX forge_pull_number ON forge_pull (project, number);

-- pull requests whose issue was deleted here: they are closed there at the next look
CREATE TABLE forge_left (
    project TEXT NOT NULL REFERENCES project (id),
    number  INTEGER NOT NULL,
    PRIMARY KEY (project, number)
) STRICT, WITHOUT ROWID;

-- reviews and comments there that were read
CREATE TABLE forge_seen (
    pull       INTEGER NOT NULL REFERENCES forge_pull (id),
    kind       TEXT NOT NULL CHECK (kind IN ('review', 'comment')),
    external_id TEXT NOT NULL,
    verdict    TEXT CHECK (verdict IS NULL OR json_valid(verdict)), -- of a review, as it was read
    updated_at INTEGER,                     -- of a comment, as it was read
    point      INTEGER,                     -- the number of the point that a comment, or the text of a review, became
    thread     TEXT,                        -- of a reply: the first comment of its thread
    PRIMARY KEY (pull, kind, external_id)
) STRICT, WITHOUT ROWID;

-- replies to comments there: one row for each answer to a point, from the decision on
CREATE TABLE forge_reply (
    id         TEXT PRIMARY KEY,            -- a UUID made of its content, which the reply carries
    pull       INTEGER NOT NULL REFERENCES forge_pull (id),
    thread     TEXT NOT NULL,               -- the first comment of the thread
    point      INTEGER NOT NULL,
    answer     INTEGER NOT NULL,            -- the number of the answer within its point, from 0
    body       TEXT NOT NULL,
    state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'applied', 'refused')),
    tried_at   INTEGER,
    problem    TEXT,
    UNIQUE (pull, point, answer)
) STRICT, WITHOUT ROWID;
CREATE INDEX forge_reply_waiting ON forge_reply (pull) WHERE state = 'waiting';
