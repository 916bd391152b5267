-- With what something was written, and as which user of the page; NULL in what older versions wrote, and for Symphony itself.
ALTER TABLE event ADD COLUMN source TEXT CHECK (source IS NULL OR source IN ('cli', 'web', 'agent'));
ALTER TABLE event ADD COLUMN user TEXT CHECK (user IS NULL OR actor = 'human');
ALTER TABLE comment ADD COLUMN source TEXT CHECK (source IS NULL OR source IN ('cli', 'web', 'agent'));
ALTER TABLE comment ADD COLUMN user TEXT CHECK (user IS NULL OR author = 'human');
ALTER TABLE review_point ADD COLUMN source TEXT CHECK (source IS NULL OR source IN ('cli', 'web', 'agent'));
ALTER TABLE review_point ADD COLUMN user TEXT CHECK (user IS NULL OR author = 'human');
ALTER TABLE point_answer ADD COLUMN source TEXT CHECK (source IS NULL OR source IN ('cli', 'web', 'agent'));
ALTER TABLE point_answer ADD COLUMN user TEXT CHECK (user IS NULL OR author = 'human');
