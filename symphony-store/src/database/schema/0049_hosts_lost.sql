-- Runs that lose their hosts, one after the other, block an issue; as in 0039, the table's text is edited and no row is rewritten.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''question'', ''taken_over'')', '''question'', ''taken_over'', ''hosts_lost'')')
    WHERE type = 'table' AND name = 'issue';
PRAGMA writable_schema = RESET;
