-- Functions that call others of these have bodies that are read when they are made: a dump is restored with no schema to search in, and its
-- indexes need them.
CREATE FUNCTION json_valid(t text) RETURNS boolean IMMUTABLE STRICT LANGUAGE plpgsql AS $$
BEGIN PERFORM t::json; RETURN true; EXCEPTION WHEN invalid_text_representation THEN RETURN false; END $$;
CREATE FUNCTION json_path(path text) RETURNS text[] IMMUTABLE STRICT LANGUAGE sql AS $$
    SELECT CASE WHEN path LIKE '$.%' THEN string_to_array(substr(path, 3), '.') ELSE ARRAY[path] END
$$;
CREATE FUNCTION json_extract(t text, path text) RETURNS text IMMUTABLE STRICT LANGUAGE sql
    RETURN t::json #>> json_path(path);
CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_extract);
CREATE FUNCTION json_part(t text, path text) RETURNS text IMMUTABLE STRICT LANGUAGE sql
    RETURN (t::json #> json_path(path))::text;
CREATE OPERATOR -> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_part);
CREATE FUNCTION json_set(t text, path text, value json) RETURNS text IMMUTABLE STRICT LANGUAGE sql
    RETURN jsonb_set(t::jsonb, json_path(path), value::jsonb)::text;
CREATE FUNCTION json_remove(t text, path text) RETURNS text IMMUTABLE STRICT LANGUAGE sql
    RETURN (t::jsonb #- json_path(path))::text;
CREATE FUNCTION json(t text) RETURNS json IMMUTABLE STRICT LANGUAGE sql AS 'SELECT t::json';
CREATE FUNCTION json_object(key text, value text) RETURNS text IMMUTABLE LANGUAGE sql AS
    'SELECT json_build_object(key, value)::text';
CREATE FUNCTION json_each(t text) RETURNS TABLE (value text) IMMUTABLE STRICT LANGUAGE sql AS
    'SELECT value FROM json_array_elements_text(t::json)';
CREATE FUNCTION json_each(t text, path text) RETURNS TABLE (value text) IMMUTABLE STRICT LANGUAGE sql
    BEGIN ATOMIC SELECT e.value FROM json_array_elements_text(t::json #> json_path(path)) e; END;
CREATE FUNCTION max(a bigint, b bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT greatest(a, b)';
CREATE FUNCTION min(a bigint, b bigint) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT least(a, b)';
CREATE FUNCTION instr(t text, part text) RETURNS bigint IMMUTABLE STRICT LANGUAGE sql AS 'SELECT strpos(t, part)::bigint';
CREATE FUNCTION add_bool(total bigint, value boolean) RETURNS bigint IMMUTABLE LANGUAGE sql AS
    'SELECT coalesce(total, 0) + value::int WHERE value IS NOT NULL UNION ALL SELECT total WHERE value IS NULL';
CREATE AGGREGATE sum(boolean) (SFUNC = add_bool, STYPE = bigint);
CREATE FUNCTION add_total(total bigint, value bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT total + coalesce(value, 0)';
CREATE AGGREGATE total(bigint) (SFUNC = add_total, STYPE = bigint, INITCOND = '0');

CREATE FUNCTION add_item(items text, item text) RETURNS text IMMUTABLE LANGUAGE sql AS
    $$SELECT coalesce(items || ',', '') || coalesce(to_json(item)::text, 'null')$$;
CREATE FUNCTION add_item(items text, item json) RETURNS text IMMUTABLE LANGUAGE sql AS
    $$SELECT coalesce(items || ',', '') || coalesce(item::text, 'null')$$;
CREATE FUNCTION close_items(items text) RETURNS text IMMUTABLE LANGUAGE sql AS $$SELECT '[' || coalesce(items, '') || ']'$$;
CREATE AGGREGATE json_group_array(text) (SFUNC = add_item, STYPE = text, FINALFUNC = close_items);
CREATE AGGREGATE json_group_array(json) (SFUNC = add_item, STYPE = text, FINALFUNC = close_items);
CREATE FUNCTION add_part(parts text, part text, sep text) RETURNS text IMMUTABLE LANGUAGE sql AS
    $$SELECT CASE WHEN part IS NULL THEN parts ELSE coalesce(parts || sep, '') || part END$$;
CREATE FUNCTION add_part(parts text, part text) RETURNS text IMMUTABLE LANGUAGE sql
    RETURN add_part(parts, part, ',');
CREATE FUNCTION add_part(parts text, part bigint, sep text) RETURNS text IMMUTABLE LANGUAGE sql
    RETURN add_part(parts, part::text, sep);
CREATE AGGREGATE group_concat(text, text) (SFUNC = add_part, STYPE = text);
CREATE AGGREGATE group_concat(bigint, text) (SFUNC = add_part, STYPE = text);
CREATE AGGREGATE group_concat(text) (SFUNC = add_part, STYPE = text);
