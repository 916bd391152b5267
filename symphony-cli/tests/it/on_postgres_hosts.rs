//! Two hosts with one database: what runs on one of them cannot be seen by the other, so that it starts nothing meanwhile.

use serde_json::json;
use symphony_core::config::ServerAddress;
use symphony_store::Store;

use crate::on_postgres::{address, elsewhere, repository};
use crate::plan_support::plan_of;
use crate::support::{
    WORKER, approving_judge, bash, commit, create_pr, scenario, scenarios, worker,
};

#[test]
fn gates_start_on_another_host_only_when_no_agent_works_here() {
    let address = address("gates");
    let project = repository(&address);
    let go = project.beside.join("go");
    let wait = format!("while ! test -e {}; do sleep 0.1; done", go.display());
    let waits = json!({ "match_system": WORKER, "match_prompt": "Wait for me" });
    let scripted = scenarios([
        scenario("waits", &waits, [bash(&wait)]),
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        approving_judge(),
    ]);
    let gates = json!({ "gates": [{ "name": "check", "command": "test -e hello.txt" }] });
    let project = project.set_up(&scripted, &gates);
    let store = Store::open_on(&ServerAddress::parse(&address).unwrap()).unwrap();
    let approved = project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    project.add_issue("Wait for me");
    let agent = project.tick_start();

    let check = ["pr", "check", approved.as_str()];
    let refused = elsewhere(&project, &check);
    assert_ne!(refused.code, 0, "{refused:#?}");
    let said = "agents on another host are using this database";
    assert!(refused.stderr.contains(said), "{refused:#?}");
    let live = store.live_runs().unwrap();
    let live: Vec<&str> = live.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(live, [agent.as_str()], "it started nothing");
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
    let wait = format!("while ! test -e {}; do sleep 0.1; done", go.display());
    let scripted = scenarios([worker([bash(&wait)])]);
    let project = project.set_up(&scripted, &json!({}));
    std::fs::write(project.root.join("plan.md"), plan_of(&[("first", &[])])).unwrap();
    let store = Store::open_on(&ServerAddress::parse(&address).unwrap()).unwrap();
    project.add_issue("Wait for me");
    let agent = project.tick_start();

    let refused = elsewhere(&project, &["plan", "run", "plan.md"]);
    assert_ne!(refused.code, 0, "{refused:#?}");
    let said = "agents on another host are using this database";
    assert!(refused.stderr.contains(said), "{refused:#?}");
    let list = project.json(&["plan", "list"]);
    assert_eq!(list["items"], json!([]), "no plan was begun");
    let live = store.live_runs().unwrap();
    let live: Vec<&str> = live.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(live, [agent.as_str()], "it started nothing");

    std::fs::write(go, "").unwrap();
    project.until_ended(&agent);
    project.assert_sound();
}
