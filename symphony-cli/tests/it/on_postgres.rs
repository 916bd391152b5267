//! Symphony with its database on a server of PostgreSQL, which `SYMPHONY_TEST_SERVER` names: the same commands do the same work.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{
    Answer, JUDGE, Project, Served, WORKER, call, commit, create_pr, scenario, scenarios, text,
    turn,
};

/// The address of a server's database, with a schema of this test's own.
pub(crate) fn address(schema: &str) -> String {
    let server = std::env::var("SYMPHONY_TEST_SERVER")
        .expect("SYMPHONY_TEST_SERVER names a server, as postgres://USER@127.0.0.1:PORT/DATABASE");
    let unique = symphony_store::new_installation_id();
    let sign = if server.contains('?') { '&' } else { '?' };
    format!("{server}{sign}schema={schema}_{unique}")
}

/// A repository whose user has the database on the server.
pub(crate) fn repository(database: &str) -> Project {
    let project = Project::repository("project");
    project.configure_home(&json!({ "sandbox": "off", "database": database }).to_string());
    project
}

/// Runs a command as on another host.
pub(crate) fn elsewhere(project: &Project, arguments: &[&str]) -> Answer {
    let mut command = command_elsewhere(project, arguments);
    command.output().unwrap().into()
}

/// A command as on another host: it has a folder of its own for state, and with it another name in the database.
pub(crate) fn command_elsewhere(project: &Project, arguments: &[&str]) -> Command {
    let home = project.beside.join("elsewhere");
    let config = ".config/symphony/config.json";
    std::fs::create_dir_all(home.join(config).parent().unwrap()).unwrap();
    std::fs::copy(project.home.join(config), home.join(config)).unwrap();
    let mut command = project.command(arguments);
    command.env("HOME", home);
    command
}

/// An agent that is rejected once, and a judge that approves the second time.
fn rejected_once() -> Value {
    let first = json!({ "match_system": JUDGE, "uses": 1 });
    let reject = json!({ "feedback": "Greet the whole world." });
    let close = json!({ "points": [{ "id": 1, "state": "closed" }] });
    let again = json!({ "match_system": WORKER, "match_prompt": "whole world" });
    let fixed = json!({ "point": 1, "answer": "fixed", "text": "It does." });
    scenarios([
        scenario(
            "rejects",
            &first,
            [turn(call("mcp__symphony__reject_pr", reject))],
        ),
        scenario(
            "closes",
            &json!({ "match_system": JUDGE }),
            [turn(call("mcp__symphony__approve_pr", close))],
        ),
        scenario(
            "listens",
            &again,
            [
                commit("hello.txt", "hello world"),
                turn(call("mcp__symphony__answer_review_point", fixed)),
                create_pr("Say more"),
            ],
        ),
        scenario(
            "begins",
            &json!({ "match_system": WORKER }),
            [commit("hello.txt", "hello"), create_pr("Say hello")],
        ),
    ])
}

#[test]
fn an_issue_becomes_a_merged_change_after_a_rejection() {
    let address = address("job");
    let project = repository(&address).set_up(&rejected_once(), &json!({}));
    assert_eq!(project.add_issue("Say hello"), "SYM-1");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    assert_eq!(project.issue("SYM-1")["status"], "todo");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let list = project.json(&["pr", "list"]);
    let states: Vec<&Value> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pr| &pr["state"])
        .collect();
    assert_eq!(states, ["approved", "rejected"], "newest first");
    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello world");
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
    // nothing but the folders of runs and the marker is in the repository
    assert!(!project.root.join(".symphony/symphony.db").exists());
    let state = project.home.join(".local/state/symphony");
    let folders: Vec<_> = std::fs::read_dir(state)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let [folder] = folders.as_slice() else {
        panic!("{folders:?}")
    };
    assert!(folder.join("symphony.tick.lock").exists());
    assert!(folder.join("symphony.mark.json").exists());
    let doctor = project.symphony(&["doctor"]);
    assert!(doctor.stdout.contains(&address), "{doctor:#?}");
}

#[test]
fn a_client_of_a_person_names_the_database_by_its_address() {
    let address = address("mcp");
    let project = repository(&address);
    project.ok(&["init", "--prefix", "SYM", "--no-try"]);
    let issue = project.add_issue("One");
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "add_comment", "arguments": { "content": "from a client" } } }),
    ];
    let mut input = String::new();
    for message in &messages {
        input.push_str(&message.to_string());
        input.push('\n');
    }
    let command = project.command(&["mcp", "--db", &address, "--issue-id", &issue]);
    let output = assert_cmd::Command::from_std(command)
        .write_stdin(input)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let comment = &project.issue(&issue)["comments"][0];
    assert_eq!(text(&comment["content"]), "from a client");
}

#[test]
fn a_command_before_init_makes_no_tables_and_says_what_to_do() {
    let address = address("empty");
    let project = repository(&address);
    let answer = project.symphony(&["issue", "list"]);
    assert_eq!(answer.code, 3, "{answer:#?}");
    assert!(answer.stderr.contains("symphony init"), "{answer:#?}");
    // the owner of the tables may have no repository on this machine
    let outside = project.beside.to_str().unwrap();
    let made = project.ok(&["-C", outside, "db", "init"]);
    assert!(made.contains("Created the tables in"), "{made}");
    let again = project.ok(&["db", "init"]);
    assert!(again.contains("up to date"), "{again}");
    project.ok(&["init", "--prefix", "SYM", "--no-try"]);
    project.add_issue("One");
}

#[test]
fn two_repositories_share_the_database_of_a_server() {
    let project = repository(&address("shared"));
    project.ok(&["init", "--prefix", "SYM", "--no-try"]);
    let other = project.beside.join("other");
    std::fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    project.git(&["-C", other, "init", "-q", "-b", "main"]);
    project.git(&["-C", other, "commit", "-q", "--allow-empty", "-m", "begin"]);
    project.ok(&["project", "add", other, "--prefix", "OTH", "--no-try"]);
    project.ok(&["-C", other, "issue", "add", "There"]);
    let projects = project.json(&["project", "list"]);
    assert_eq!(
        projects["items"].as_array().map(Vec::len),
        Some(2),
        "{projects:#}"
    );
}

#[test]
fn a_password_in_an_address_is_refused_and_not_repeated() {
    let project = repository("postgres://me:hunter2@127.0.0.1/team");
    for command in [
        &["init"][..],
        &["doctor"],
        &["config", "check"],
        &["status"],
    ] {
        let answer = project.symphony(command);
        let printed = format!("{}{}", answer.stdout, answer.stderr);
        assert_ne!(answer.code, 0, "{command:?}: {answer:#?}");
        assert!(
            printed.contains("an address that contains a password"),
            "{answer:#?}"
        );
        assert!(!printed.contains("hunter2"), "{answer:#?}");
    }
}

#[test]
fn an_installation_moves_to_a_server_and_back() {
    let project = Project::new("project", &rejected_once(), &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let address = address("moved");
    let copied = project.json(&["db", "copy", "--to", &address]);
    assert_eq!(copied["to"], json!(address));
    let first = project.json(&["issue", "show", "SYM-1"]);
    project.configure_more(&json!({ "database": address }));
    assert_eq!(project.json(&["issue", "show", "SYM-1"]), first);
    project.tick_one("judge", "succeeded");
    assert_eq!(project.add_issue("Two"), "SYM-2");
    project.assert_sound();

    // the file is an older copy now, and is not used any more
    project.configure_more(&json!({}));
    let older = project.symphony(&["issue", "list"]);
    assert!(older.stderr.contains("older copy"), "{older:#?}");

    project.configure_more(&json!({ "database": address }));
    let taken = project.symphony(&["db", "copy", "--to", ".symphony/symphony.db"]);
    assert!(taken.stderr.contains("already exists"), "{taken:#?}");
    let full = project.symphony(&["db", "copy", "--to", &address]);
    assert!(full.stderr.contains("already names"), "{full:#?}");
    let back = project.ok(&["db", "copy", "--to", ".symphony/back.db"]);
    assert!(!back.contains("the owner of the tables"), "{back}");
    project.configure_more(&json!({ "database": ".symphony/back.db" }));
    assert_eq!(project.add_issue("Three"), "SYM-3");
    let runs = project.tick_wait();
    assert!(!runs.is_empty());
    assert!(
        runs.iter().all(|run| run["status"] == "succeeded"),
        "{runs:#?}"
    );
    project.assert_sound();
}

/// Runs a statement on the tests' server.
pub(crate) fn psql(sql: &str) {
    postgres("psql", &["-qc", sql]);
}

/// Runs a program of PostgreSQL's on the tests' server.
fn postgres(program: &str, arguments: &[&str]) {
    let programs = std::env::var("SYMPHONY_TEST_POSTGRES")
        .expect("SYMPHONY_TEST_POSTGRES names the folder of PostgreSQL's programs");
    let server = std::env::var("SYMPHONY_TEST_SERVER").unwrap();
    let program = std::path::Path::new(&programs).join(program);
    #[expect(
        clippy::disallowed_methods,
        reason = "PostgreSQL's own tools make and restore dumps"
    )]
    let mut program = Command::new(program);
    let output = program
        .args(["-d", &server])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn an_older_dump_is_refused_until_a_person_keeps_it() {
    let address = address("dump");
    let schema = address.rsplit('=').next().unwrap();
    let project = repository(&address).set_up(&rejected_once(), &json!({}));
    assert_eq!(project.add_issue("Say hello"), "SYM-1");
    project.tick_one("worker", "succeeded");
    let dump = project.beside.join("dump");
    let dump = dump.to_str().unwrap();
    postgres("pg_dump", &["-n", schema, "-Fc", "-f", dump]);
    assert_eq!(project.add_issue("Two"), "SYM-2");

    let drop = format!("SET client_min_messages = warning; DROP SCHEMA {schema} CASCADE");
    psql(&drop);
    let lost = project.symphony(&["issue", "list"]);
    assert_ne!(lost.code, 0, "{lost:#?}");
    assert!(lost.stderr.contains("is missing"), "{lost:#?}");
    postgres("pg_restore", &[dump]);
    let older = project.symphony(&["issue", "list"]);
    assert!(older.stderr.contains("older copy"), "{older:#?}");
    assert!(older.stderr.contains("db restore --keep"), "{older:#?}");
    let replaced = project.symphony(&["db", "restore", "--yes"]);
    assert!(replaced.stderr.contains("is on a server"), "{replaced:#?}");

    let kept = project.ok(&["db", "restore", "--keep"]);
    assert!(kept.contains(&format!("Kept {address}.")), "{kept}");
    assert!(
        kept.contains("new issues of project continue from 3"),
        "{kept}"
    );
    assert_eq!(project.add_issue("Three"), "SYM-3");
    let checked = project.ok(&["db", "check"]);
    assert!(checked.contains("is intact"), "{checked}");
    project.assert_sound();
}

#[test]
fn the_page_shows_and_changes_what_is_on_a_server() {
    let project = repository(&address("page")).set_up(&rejected_once(), &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    for path in ["/", "/issues/SYM-1", "/runs", "/prs/1", "/health"] {
        let page = browser.get(path);
        assert_eq!(page.status, 200, "{path}: {page:#?}");
    }
    assert!(browser.get("/").body.contains("Say hello"));
    let said = browser.post("/issues/SYM-1/comment", &[("text", "from the page")]);
    assert!(said.status < 400, "{said:#?}");
    let comments = &project.issue("SYM-1")["comments"];
    assert!(
        comments.to_string().contains("from the page"),
        "{comments:#}"
    );
}
