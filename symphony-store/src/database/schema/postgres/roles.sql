-- What the roles may do. `symphony_control` is for everything but the schema; `symphony_worker` is for hosts that only run agents:
-- it does not change projects or settings. Nothing in the log is ever changed or removed.
DO $$
DECLARE member text;
BEGIN
    FOREACH member IN ARRAY ARRAY['symphony_control', 'symphony_worker'] LOOP
        IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = member) THEN
            EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), member);
            EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM %I', current_schema(), member);
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO %I', current_schema(), member);
            EXECUTE format('REVOKE UPDATE, DELETE ON event FROM %I', member);
            EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON schema_version FROM %I', member);
        END IF;
    END LOOP;
    IF EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'symphony_worker') THEN
        REVOKE INSERT, UPDATE, DELETE ON project, project_config, setting FROM symphony_worker;
        -- an agent that adds an issue takes the next number
        GRANT UPDATE (next_number) ON project TO symphony_worker;
    END IF;
END $$;
