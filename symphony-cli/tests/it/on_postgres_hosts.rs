//! Two hosts with one database: what runs on one of them cannot be seen by the other, so that it starts nothing meanwhile.

use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use symphony_core::config::ServerAddress;
use symphony_store::Store;

use crate::merge_crossings::{answer, begin_merge, spawned};
use crate::on_postgres::{address, command_elsewhere, elsewhere, repository};
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

#[test]
fn a_merge_that_is_under_way_is_not_taken_back_on_another_host() {
    let project = repository(&address("merges"));
    let scripted = scenarios([worker([
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let project = project.set_up(&scripted, &json!({ "judge_enabled": false, "gates": [] }));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let (merge, lock) = begin_merge(&project);
    let pid = Pid::from_raw(merge.id().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    drop(lock);
    // the files that show it here are not on the other host
    let merges = project.root.join(".symphony/merges");
    std::fs::rename(&merges, project.beside.join("merges")).unwrap();

    let order = ["pr", "reject", "1", "--feedback", "no"];
    let mut order = spawned(&mut command_elsewhere(&project, &order));
    std::thread::sleep(Duration::from_secs(3));
    let waits = order.try_wait().unwrap().is_none();
    kill_process(pid, Signal::CONT).unwrap();
    let (merge, order) = (answer(merge), answer(order));
    assert!(waits, "{order:#?}");
    assert_eq!(merge.code, 0, "{merge:#?}");
    assert_ne!(order.code, 0, "{order:#?}");
    assert_eq!(project.json(&["pr", "show", "1"])["state"], "merged");
    project.assert_sound();
}
