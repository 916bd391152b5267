-- An issue may be blocked by a person who has taken it over; as in 0012, the table's text is edited and no row is rewritten.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''gates'', ''question'')', '''gates'', ''question'', ''taken_over'')')
    WHERE type = 'table' AND name = 'issue';
PRAGMA writable_schema = RESET;
