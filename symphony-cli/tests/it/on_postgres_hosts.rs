//! Two hosts with one database: what runs on one of them cannot be seen by the other, so that it starts nothing meanwhile.

use std::path::Path;

use serde_json::{Value, json};
use symphony_core::config::ServerAddress;
use symphony_store::Store;

use crate::on_postgres::{address, elsewhere, repository};
use crate::plan_support::plan_of;
use crate::support::{
    Project, WORKER, approving_judge, bash, commit, create_pr, scenario, scenarios, worker,
};

/// What an agent does until a file is there.
fn wait_for(go: &Path) -> Value {
    bash(&format!(
        "while ! test -e {}; do sleep 0.1; done",
        go.display()
    ))
}

/// A command on the other host says that an agent works here, and starts nothing.
fn assert_refused_elsewhere(project: &Project, address: &str, command: &[&str], agent: &str) {
    let refused = elsewhere(project, command);
    assert_ne!(refused.code, 0, "{refused:#?}");
    let said = "agents on another host are using this database";
    assert!(refused.stderr.contains(said), "{refused:#?}");
    let store = Store::open_on(&ServerAddress::parse(address).unwrap()).unwrap();
    let live = store.live_runs().unwrap();
    let live: Vec<&str> = live.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(live, [agent], "it started nothing");
}

#[test]
fn gates_start_on_another_host_only_when_no_agent_works_here() {
    let address = address("gates");
    let project = repository(&address);
    let go = project.beside.join("go");
    let waits = json!({ "match_system": WORKER, "match_prompt": "Wait for me" });
    let scripted = scenarios([
        scenario("waits", &waits, [wait_for(&go)]),
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        approving_judge(),
    ]);
    let gates = json!({ "gates": [{ "name": "check", "command": "test -e hello.txt" }] });
    let project = project.set_up(&scripted, &gates);
    let approved = project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    project.add_issue("Wait for me");
    let agent = project.tick_start();

    let check = ["pr", "check", approved.as_str()];
    assert_refused_elsewhere(&project, &address, &check, &agent);
    project.ok(&check);

    std::fs::write(go, "").unwrap();
    project.until_ended(&agent);
    let checked = elsewhere(&project, &check);
    assert_eq!(checked.code, 0, "{checked:#?}");
    project.assert_sound();
}

#[test]
fn a_plan_begins_on_another_host_only_when_no_agent_works_here() {
    let address = address("plans");
    let project = repository(&address);
    let go = project.beside.join("go");
    let scripted = scenarios([worker([wait_for(&go)])]);
    let project = project.set_up(&scripted, &json!({}));
    std::fs::write(project.root.join("plan.md"), plan_of(&[("first", &[])])).unwrap();
    project.add_issue("Wait for me");
    let agent = project.tick_start();

    assert_refused_elsewhere(&project, &address, &["plan", "run", "plan.md"], &agent);
    let list = project.json(&["plan", "list"]);
    assert_eq!(list["items"], json!([]), "no plan was begun");

    std::fs::write(go, "").unwrap();
    project.until_ended(&agent);
    project.assert_sound();
}
