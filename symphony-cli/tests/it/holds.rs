//! Fairness of holds, end to end: an item whose answers are always errors, among others and alone; a login that has expired.

use serde_json::{Value, json};

use crate::plan_support::{PLAN_WORKER, PlanRun, any_phase, of_phase, phase, plan_of};
use crate::support::{Project, WORKER, commit, create_pr, scenario, scenarios, text, until};

/// A turn that the provider answers with an error, whenever it is asked.
fn refused(status: u16) -> Value {
    json!({ "content": [{ "type": "text", "text": "never said" }],
            "faults": [{ "type": "http", "status": status, "times": -1 }] })
}

/// Makes a project with delays of a millisecond and one agent at a time.
fn quick(play: &Value, hold_ms: u64) -> Project {
    let config = json!({ "judge_enabled": false, "max_concurrent_agents": 1, "max_retry_backoff_ms": 1, "max_retries": 3 });
    let project = Project::new("project", play, &config);
    let scenario = project.beside.join("scenario.json");
    let scripted = json!({ "scenario": scenario, "hold_ms": hold_ms });
    let mut config = config;
    config["providers"] = json!({ "scripted": scripted });
    project.configure_more(&config);
    project
}

/// The issue SYM-1 is poisonous; all others are done at once.
fn poisoned() -> Value {
    let poison = json!({ "match_system": WORKER, "match_prompt": "SYM-1\\b" });
    let good = [commit("hello.txt", "hello"), create_pr("Say hello")];
    scenarios([
        scenario("poison", &poison, [refused(500)]),
        scenario("good", &json!({ "match_system": WORKER }), good),
    ])
}

fn items(project: &Project) -> Vec<Value> {
    let inbox = project.json(&["inbox"]);
    inbox["items"].as_array().unwrap().clone()
}

fn item_of_kind(project: &Project, kind: &str) -> Value {
    let items = items(project);
    let found = items.iter().find(|item| item["kind"] == kind);
    found
        .unwrap_or_else(|| panic!("no {kind} in {items:#?}"))
        .clone()
}

#[test]
fn an_item_whose_answer_is_always_an_error_starves_nobody_and_ends_at_its_breaker() {
    let project = quick(&poisoned(), 1);
    let poison = project.add_issue("Poison");
    project.ok(&["issue", "edit", &poison, "--priority", "urgent"]);
    let good: Vec<String> = (0..3)
        .map(|n| project.add_issue(&format!("Good {n}")))
        .collect();
    until("all to have ended", || {
        project.tick_wait();
        let status = |id: &String| text(&project.issue(id)["status"]);
        let ended = good.iter().all(|id| status(id) == "review") && status(&poison) == "backlog";
        ended.then_some(())
    });
    // the others waited for its first failure, and for none after that
    let runs = project.json(&["runs", "list", "--issue", &poison, "-n", "0"]);
    let ends = runs["items"].as_array().unwrap().iter().rev();
    let classes: Vec<&Value> = ends.map(|run| &run["error"]["class"]).collect();
    let own = "model_error";
    assert_eq!(json!(classes), json!(["provider_error", own, own, own]));
    let events = project.ok(&["events", "-n", "0", "--json"]);
    let placed = events.matches(r#""kind":"hold_placed""#);
    assert_eq!(placed.count(), 1, "one hold, and one probe that lifts it");
    let issue = project.issue(&poison);
    assert_eq!(issue["consecutive_failures"], 3, "{issue:#}");
    let waits = item_of_kind(&project, "breaker");
    assert_eq!(waits["issue"], json!(poison));
    let status = project.json(&["status"]);
    assert_eq!(status["holds"], json!([]), "{status:#}");
    // the breaker says what happened, and why it counts
    let comments = issue["comments"].to_string();
    assert!(comments.contains("provider_error: "), "{comments}");
    assert!(
        comments.contains("counts as a failure of the run"),
        "{comments}"
    );
    let explained = project.json(&["explain", &poison]).to_string();
    assert!(
        explained.contains("counts as a failure of the run"),
        "{explained}"
    );
    project.assert_sound();
}

#[test]
fn a_lone_item_is_for_a_person_after_five_failed_probes() {
    let project = quick(&poisoned(), 1);
    let poison = project.add_issue("Poison");
    // it meets the condition, then four probes fail
    for probes in 0..5 {
        project.tick_one("worker", "failed");
        let hold = &project.json(&["status"])["holds"][0];
        assert_eq!(
            json!([
                hold["scope"],
                hold["name"],
                hold["model"],
                hold["class"],
                hold["probes"],
                hold["lone"]
            ]),
            json!(["model", "scripted", null, "provider_error", probes, null]),
            "{hold:#}"
        );
        assert!(items(&project).iter().all(|item| item["kind"] != "probe"));
    }
    project.tick_one("worker", "failed");
    let waits = item_of_kind(&project, "probe");
    assert_eq!(waits["issue"], json!(poison));
    let said = text(&waits["text"]);
    assert!(
        said.starts_with(
            "SYM-1 failed 5 probes of the default model of provider scripted in a row, and no other item is waiting"
        ),
        "{said}"
    );
    assert_eq!(
        waits["answers"],
        json!([
            "symphony explain SYM-1",
            "symphony doctor",
            "symphony issue edit SYM-1 --description TEXT",
            "symphony resume"
        ])
    );
    assert_eq!(project.json(&["status"])["holds"][0]["lone"], "SYM-1");
    let issue = project.issue(&poison);
    assert_eq!(
        (&issue["total_runs"], &issue["status"]),
        (&json!(0), &json!("todo"))
    );
    project.assert_sound();

    // another one comes: it probes, and tells who is at fault
    let good = project.add_issue("Good");
    project.tick_one("worker", "succeeded");
    assert_eq!(project.issue(&good)["status"], "review");
    assert!(items(&project).iter().all(|item| item["kind"] != "probe"));
    project.tick_one("worker", "failed");
    assert_eq!(project.issue(&poison)["consecutive_failures"], 1);
    assert_eq!(project.json(&["status"])["holds"], json!([]));
    project.assert_sound();
}

#[test]
fn phases_of_a_plan_take_turns_with_each_other() {
    let play = scenarios([
        scenario("poison", &of_phase("poison"), [refused(500)]),
        any_phase(),
    ]);
    let project = quick(&play, 1);
    let phases: [(&str, &[&str]); 3] = [("poison", &[]), ("one", &[]), ("two", &[])];
    std::fs::write(project.root.join("plan.md"), plan_of(&phases)).unwrap();
    let run = PlanRun::start(
        &project,
        &[
            "plan.md",
            "--max-parallel",
            "1",
            "--on-failure",
            "fail",
            "--json",
        ],
    );
    let answer = run.answer();
    let plan = project.json(&["plan", "status"]);
    for (id, status) in [
        ("poison", "failed"),
        ("one", "complete"),
        ("two", "complete"),
    ] {
        assert_eq!(
            phase(&project, id)["status"],
            status,
            "{plan:#}\n{answer:#?}"
        );
    }
    let error = text(&phase(&project, "poison")["error"]);
    assert!(error.contains("counts as a failure of the run"), "{error}");
}

#[test]
fn a_plan_does_not_keep_the_probe_from_the_backlog() {
    let poison = json!({ "match_system": PLAN_WORKER });
    let good = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let play = scenarios([
        scenario("poison", &poison, [refused(500)]),
        scenario("good", &json!({ "match_system": WORKER }), good),
    ]);
    let project = quick(&play, 1_500);
    std::fs::write(project.root.join("plan.md"), plan_of(&[("poison", &[])])).unwrap();
    let run = PlanRun::start(&project, &["plan.md", "--json"]);
    until("a hold", || {
        let plan = project.json(&["plan", "status"]);
        let hold = plan["holds"].as_array().unwrap().first().cloned();
        hold.filter(|hold| hold["class"] == "provider_error")
    });
    let human = project.ok(&["plan", "status"]);
    assert!(
        human.contains("the default model of provider scripted is on hold: "),
        "{human}"
    );
    // the plan's loop looks every two seconds, the ticks come when they come: it leaves them a turn
    let issue = project.add_issue("Good");
    until("the issue to have its turn", || {
        project.tick_wait();
        (project.issue(&issue)["status"] == "review").then_some(())
    });
    run.kill();
}

/// Stands in for the program of a provider: refuses its credentials until a file is there.
const CLI: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.330 (Claude Code)"; exit 0; fi
read -r _prompt
echo '{"type":"system","subtype":"init","session_id":"s","model":"m","mcp_servers":[{"name":"symphony","status":"connected"}],"tools":[]}'
if [ ! -e LOGIN ]; then
  echo '{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":501,"error_status":401,"error":"authentication_failed","session_id":"s"}'
  sleep 60
  exit 1
fi
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","session_id":"s","terminal_reason":"completed","usage":{"input_tokens":1,"output_tokens":1},"model_usage_since_last_result":{"m":{"inputTokens":1,"outputTokens":1,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.0}}}'
"#;

#[test]
fn an_expired_login_holds_the_provider_and_names_the_command() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut project = quick(&json!({ "scenarios": [] }), 1);
    project.set_variable("IS_SANDBOX", "1");
    let (cli, login) = (
        project.beside.join("claude"),
        project.beside.join("logged-in"),
    );
    let script = CLI.replace("LOGIN", login.to_str().unwrap());
    std::fs::write(&cli, script).unwrap();
    std::fs::set_permissions(&cli, std::fs::Permissions::from_mode(0o755)).unwrap();
    project.configure_more(&json!({
        "judge_enabled": false,
        "max_concurrent_agents": 1,
        "provider": "claude-cli",
        "providers": { "claude-cli": { "binary": cli, "hold_ms": 4_000 } },
    }));
    let issue = project.add_issue("Do it");
    project.add_issue("Do more");
    let run = project.tick_one("worker", "failed");
    assert_eq!(run["error"]["class"], "auth_failed", "{run:#}");
    assert_eq!(project.issue(&issue)["total_runs"], 0, "it uses no attempt");

    let status = project.json(&["status"]);
    let hold = &status["holds"][0];
    assert_eq!(
        json!([hold["scope"], hold["name"], hold["class"], hold["login"]]),
        json!(["provider", "claude-cli", "auth_failed", "claude auth login"]),
        "{status:#}"
    );
    let advice = "log in with `claude auth login`";
    for shown in [
        project.ok(&["status"]),
        project.ok(&["explain", &issue]),
        project.ok(&["inbox"]),
    ] {
        let plain = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains(advice), "{shown}");
    }
    let waits = item_of_kind(&project, "hold");
    assert_eq!(
        waits["answers"],
        json!(["claude auth login", "symphony resume", "symphony doctor"])
    );

    // logged in again: the next probe lifts the hold by itself
    std::fs::write(&login, "").unwrap();
    until("the hold to be lifted", || {
        project.tick_wait();
        (project.json(&["status"])["holds"] == json!([])).then_some(())
    });
    project.assert_sound();
}
