-- What the authors of an issue run with; NULL for what the profile or the project says.
ALTER TABLE issue ADD COLUMN provider TEXT CHECK (provider IS NULL OR provider <> '');
ALTER TABLE issue ADD COLUMN model TEXT CHECK (model IS NULL OR model <> '');

-- How often an item failed in a row under the current hold; at first, of a hold that only it has met.
ALTER TABLE hold_trial ADD COLUMN alone INTEGER NOT NULL DEFAULT 0;
UPDATE hold_trial SET alone = held
WHERE NOT EXISTS (SELECT 1 FROM hold_trial o WHERE o.scope = hold_trial.scope AND o.item <> hold_trial.item AND o.held > 0);
-- Whether another item has met the condition since its witness reached the provider.
ALTER TABLE hold_trial ADD COLUMN doubted INTEGER NOT NULL DEFAULT 0 CHECK (doubted IN (0, 1));
