ALTER TABLE issue DROP CONSTRAINT issue_blocked_by_check;
ALTER TABLE issue ADD CONSTRAINT issue_blocked_by_check
    CHECK (blocked_by IN ('subtasks', 'agent', 'cap', 'tampered', 'human', 'gates', 'question', 'taken_over', 'hosts_lost'));
