-- what a merge is about to do: `{"base_before": COMMIT, "merged": COMMIT}`, from before the base moves until the merge is recorded or
-- taken back; meanwhile nothing else is done to the pull request
ALTER TABLE pull_request ADD COLUMN merge_intent TEXT;
CREATE INDEX pull_request_merging ON pull_request (project, id) WHERE merge_intent IS NOT NULL;
UPDATE pull_request SET merge_intent = (
    SELECT json_object('base_before', e.payload ->> '$.base_before', 'merged', e.payload ->> '$.merged') FROM event e
    WHERE e.kind = 'merge_intended' AND (e.issue = pull_request.issue OR e.plan = pull_request.plan)
      AND CAST(e.payload ->> '$.pr' AS INTEGER) = pull_request.id
    ORDER BY e.id DESC LIMIT 1)
WHERE state IN ('open', 'approved');
