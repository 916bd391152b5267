-- a digest of what was red when the gates of a project were tried on its base: what differs from it is tried anew
ALTER TABLE hold ADD COLUMN tried TEXT;
