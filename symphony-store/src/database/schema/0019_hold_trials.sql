-- how each item fared with each condition: which one probes a hold next, and which one is at fault when it fails alone.
-- item is JSON; turn is a fence; witness is a run, which may be gone.
CREATE TABLE hold_trial (
    scope    TEXT NOT NULL,
    item     TEXT NOT NULL CHECK (json_valid(item)),
    turn     INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    held     INTEGER NOT NULL,
    witness  TEXT,
    PRIMARY KEY (scope, item)
) STRICT, WITHOUT ROWID;
