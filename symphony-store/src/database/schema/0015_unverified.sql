-- Why Symphony could not tell that a person did this; NULL when it could, and for what agents and Symphony itself do.
ALTER TABLE event ADD COLUMN unverified TEXT CHECK (unverified IS NULL OR actor = 'human');
ALTER TABLE comment ADD COLUMN unverified TEXT CHECK (unverified IS NULL OR author = 'human');
