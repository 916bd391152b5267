-- What the worker answered to each acceptance criterion when it handed the work in, with the criterion's text of that time.
ALTER TABLE pull_request ADD COLUMN checklist TEXT NOT NULL DEFAULT '[]';
