//! The database on a server, which `SYMPHONY_TEST_SERVER` names as `postgres://USER@127.0.0.1:PORT/DATABASE`: how it is reached,
//! and what its roles may do.

use symphony_core::config::ServerAddress;
use symphony_store::{
    HostTurn, SCHEMA_VERSION, SchemaChange, Store, StoreError, new_installation_id,
};

use symphony_core::run::RunStatus;

use crate::plain_client::PlainClient;
use crate::support::{add, add_project, at, finish, human, system, worker};

/// The tests' server, with parameters added.
pub(crate) fn address(parameters: &str) -> ServerAddress {
    let server =
        std::env::var("SYMPHONY_TEST_SERVER").expect("SYMPHONY_TEST_SERVER names a server");
    let separator = if server.contains('?') { '&' } else { '?' };
    ServerAddress::parse(&format!("{server}{separator}{parameters}")).unwrap()
}

/// A name that no other schema has.
pub(crate) fn schema() -> String {
    format!("test_{}", new_installation_id())
}

#[test]
fn tables_are_made_once_and_those_of_another_version_are_refused() {
    let address = address(&format!("schema={}", schema()));
    let empty = Store::open_on(&address).unwrap_err();
    assert!(matches!(empty, StoreError::Empty { .. }), "{empty:?}");
    assert_eq!(Store::prepare_on(&address).unwrap(), SchemaChange::Created);
    assert_eq!(
        Store::prepare_on(&address).unwrap(),
        SchemaChange::Unchanged
    );
    add_project(&mut Store::open_on(&address).unwrap());
    let client = PlainClient::connect(&address);
    let become_version = |version: i64| {
        let only = "WITH others AS (DELETE FROM schema_version WHERE version <> $1)
             INSERT INTO schema_version (version) VALUES ($1) ON CONFLICT DO NOTHING";
        client.execute(only, &[&version]).unwrap();
    };
    become_version(SCHEMA_VERSION + 1);
    for newer in [
        Store::open_on(&address).map(|_| ()),
        Store::create_on(&address).map(|_| ()),
        Store::prepare_on(&address).map(|_| ()),
    ] {
        let found = SCHEMA_VERSION + 1;
        assert!(
            matches!(newer, Err(StoreError::NewerSchema { found: of, .. }) if of == found),
            "{newer:?}"
        );
    }
    become_version(SCHEMA_VERSION - 1);
    let older = Store::open_on(&address).unwrap_err();
    assert_eq!(
        older.to_string(),
        format!(
            "the database {address} cannot be opened: its schema has version {}, and this Symphony needs {SCHEMA_VERSION}",
            SCHEMA_VERSION - 1
        )
    );
}

#[test]
fn the_tables_of_another_program_are_left_alone() {
    let name = schema();
    let address = address(&format!("schema={name}"));
    let client = PlainClient::connect(&address);
    client
        .batch_execute(&format!(
            "CREATE SCHEMA {name}; CREATE TABLE {name}.invoice (id int)"
        ))
        .unwrap();
    for refused in [
        Store::open_on(&address).map(|_| ()),
        Store::prepare_on(&address).map(|_| ()),
    ] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("tables of another program"), "{text}");
    }
}

#[test]
fn eight_that_begin_at_once_make_the_tables_once() {
    let address = address(&format!("schema={}", schema()));
    let all: Vec<SchemaChange> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| Store::prepare_on(&address).unwrap()))
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let made = all.iter().filter(|one| **one == SchemaChange::Created);
    assert_eq!(made.count(), 1, "{all:?}");
}

/// Makes a user of a role, and returns the address for it.
fn user_of(role: &str, owner: &ServerAddress) -> ServerAddress {
    let client = PlainClient::connect(owner);
    let user = format!("{role}_test");
    for sql in [
        format!("CREATE ROLE {role} NOLOGIN"),
        format!("CREATE ROLE {user} LOGIN IN ROLE {role}"),
    ] {
        // roles are the server's: another run has made them
        let _exists = client.batch_execute(&sql);
    }
    let text = owner
        .to_string()
        .replacen(&format!("{}@", owner.user()), &format!("{user}@"), 1);
    ServerAddress::parse(&text).unwrap()
}

#[test]
fn a_role_does_what_it_is_for_and_no_more() {
    let owner = address(&format!("schema={}", schema()));
    let [control, of_worker] =
        ["symphony_control", "symphony_worker"].map(|role| user_of(role, &owner));
    Store::prepare_on(&owner).unwrap();
    let mut store = Store::open_on(&control).unwrap();
    add_project(&mut store);
    let issue = add(&mut store, "One");
    let run = worker(&mut store, "first", &issue.id);
    store.set_paused(&human(3), true).unwrap();
    // an agent on another host comments, and adds an issue
    let mut on_host = Store::open_on(&of_worker).unwrap();
    let context = crate::support::by(&run, 4);
    on_host.add_comment(&context, &issue.id, "done").unwrap();
    add(&mut on_host, "Two");
    let paused = on_host
        .set_paused(&human(5), false)
        .unwrap_err()
        .to_string();
    assert!(paused.contains("permission denied"), "{paused}");
    for (user, statement) in [
        (&control, "UPDATE event SET kind = 'x'"),
        (&control, "DELETE FROM event"),
        (&control, "DROP TABLE hold"),
        (&control, "CREATE TABLE more (id int)"),
        (&control, "INSERT INTO schema_version VALUES (99)"),
        (&of_worker, "UPDATE event SET kind = 'x'"),
        (&of_worker, "UPDATE project SET root = '/x'"),
        (&of_worker, "DELETE FROM project"),
        (
            &of_worker,
            "INSERT INTO project_config VALUES ('demo', 1, '{}')",
        ),
        (&of_worker, "INSERT INTO setting VALUES ('a', 'b')"),
        (&of_worker, "UPDATE setting SET value = 'x'"),
        (&of_worker, "ALTER TABLE hold ADD COLUMN x int"),
        (&of_worker, "CREATE TABLE more (id int)"),
    ] {
        let error = PlainClient::connect(user)
            .batch_execute(statement)
            .unwrap_err();
        let code = error.code().map(tokio_postgres::error::SqlState::code);
        assert_eq!(code, Some("42501"), "{statement}: {error:?}");
    }
    let refused = Store::prepare_on(&of_worker).unwrap_err().to_string();
    assert!(
        refused.contains("ask the schema's owner to run `symphony db init`"),
        "{refused}"
    );
}

#[test]
fn the_agents_of_one_host_are_not_another_ones() {
    let address = address(&format!("schema={}", schema()));
    let mut store = Store::create_on(&address).unwrap();
    add_project(&mut store);
    let issue = add(&mut store, "One").id;
    let take = |store: &mut Store, host: &str| store.take_host(at(3), host).unwrap();
    assert_eq!(take(&mut store, "one:/state"), None);
    // nothing runs: another host may go on
    assert_eq!(take(&mut store, "two:/state"), None);
    let run = worker(&mut store, "live", &issue);
    assert_eq!(take(&mut store, "two:/state"), None);
    assert_eq!(
        take(&mut store, "one:/state"),
        Some("two:/state".to_owned())
    );
    let done = finish(&run, RunStatus::Cancelled, None);
    store.finish_run(&system(4), &done).unwrap();
    assert_eq!(take(&mut store, "one:/state"), None);
}

#[test]
fn a_server_tells_what_a_doctor_asks() {
    let address = address(&format!("schema={}", schema()));
    let store = Store::create_on(&address).unwrap();
    let facts = store.server_facts().unwrap().unwrap();
    assert!(facts.version_number >= 140_000, "{facts:?}");
    assert_eq!(facts.encoding, "UTF8");
    assert_eq!(facts.other_collations, [""; 0]);
    assert!(!facts.is_encrypted && !facts.is_standby, "{facts:?}");
    // the server of the tests is on this machine
    assert!(facts.clock_ahead_ms.abs() < 2_000, "{facts:?}");
    assert_eq!(store.other_sessions().unwrap(), [0_i64; 0]);
    let other = Store::open_on(&address).unwrap();
    assert_eq!(store.other_sessions().unwrap().len(), 1);
    drop(other);
}

#[test]
fn a_check_finds_what_a_dump_lost_and_what_is_switched_off() {
    let address = address(&format!("schema={}", schema()));
    let mut store = Store::create_on(&address).unwrap();
    add_project(&mut store);
    let issue = add(&mut store, "One").id;
    store.add_comment(&human(2), &issue, "hello").unwrap();
    assert_eq!(store.check_file().unwrap(), []);
    let client = PlainClient::connect(&address);
    for sql in [
        // as `pg_restore --disable-triggers` leaves a dump that was cut
        "SET session_replication_role = replica; DELETE FROM issue; RESET session_replication_role",
        "ALTER TABLE event DISABLE TRIGGER USER",
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('run_live_issue')",
    ] {
        client.batch_execute(sql).unwrap();
    }
    let found = store.check_file().unwrap();
    let text: Vec<String> = found
        .iter()
        .map(|one| format!("{}: {}", one.subject, one.detail))
        .collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn the_rows_of_old_sessions_are_removed() {
    let address = address(&format!("schema={}", schema()));
    let mut store = Store::create_on(&address).unwrap();
    add_project(&mut store);
    let client = PlainClient::connect(&address);
    client
        .batch_execute(
            "INSERT INTO engine_session (id, write, at)
             VALUES ('old', 1, now() - interval '25 hours'), ('idle', 1, now() - interval '23 hours')",
        )
        .unwrap();
    assert_eq!(store.take_host_turn().unwrap(), HostTurn::Taken);
    let rows = client
        .query(
            "SELECT id FROM engine_session WHERE id IN ('old', 'idle')",
            &[],
        )
        .unwrap();
    let left: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(left, ["idle"]);
    // its own row went with the day, and its next write makes it again
    client
        .batch_execute("UPDATE engine_session SET at = now() - interval '2 days'")
        .unwrap();
    let other = Store::open_on(&address).unwrap();
    store.end_host_turn();
    assert_eq!(other.take_host_turn().unwrap(), HostTurn::Taken);
    add(&mut store, "after a quiet day");
}
