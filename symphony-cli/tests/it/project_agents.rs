//! Agents that work on a project itself, and intake, end to end: what they leave, and that they leave nothing else.

use serde_json::{Value, json};
use symphony_core::id::ProjectId;

use crate::records::store;
use crate::support::{
    JUDGE, Project, WORKER, bash, call, commit, create_pr, scenario, scenarios, text, turn,
};

const WIZARD: &str = "^# Setup wizard$";
const SCANNER: &str = "^# Scanner$";
const RESEARCHER: &str = "^# Researcher$";
const INTAKE: &str = "^# Intake$";

fn when(system: &str) -> Value {
    json!({ "match_system": system })
}

fn tool(name: &str, input: Value) -> Value {
    turn(call(&format!("mcp__symphony__{name}"), input))
}

/// Asserts that no temporary worktree is left, no branch was made, and nothing was put aside.
fn assert_nothing_left(project: &Project) {
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    let folders = std::fs::read_dir(project.root.join(".symphony-workspaces"))
        .map_or(0, |entries| entries.flatten().count());
    assert_eq!(folders, 0);
    let refs = project.git(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/main");
}

fn issues(project: &Project, status: &str) -> Vec<Value> {
    let list = project.json(&["issue", "list", "--status", status]);
    list["items"].as_array().unwrap().clone()
}

fn configure_call() -> Value {
    tool(
        "configure_project",
        json!({
            "gates": [{ "name": "greets", "command": "test ! -e hello.txt || grep -q hello hello.txt" }],
            "sensitive_paths": ["hello.txt"],
            "worker_instructions": "Greetings are lower case (`hello.txt`).",
            "judge_instructions": "Look at the case of greetings.",
        }),
    )
}

/// A repository that was set up by `init --wizard` and nothing else; only the scripted agent is named.
fn with_wizard(plays: &Value) -> Project {
    let project = Project::repository("fresh");
    std::fs::write(project.root.join("Makefile"), "test:\n\ttrue\n").unwrap();
    project.git(&["add", "Makefile"]);
    project.git(&["commit", "-q", "-m", "make"]);
    let said = project.ok(&["init", "--wizard", "--prefix", "SYM"]);
    assert!(said.contains("The setup wizard runs first"), "{said}");
    let scenario = project.beside.join("scenario.json");
    std::fs::write(&scenario, plays.to_string()).unwrap();
    for (key, value) in [
        ("provider", "scripted"),
        ("providers.scripted.scenario", scenario.to_str().unwrap()),
        ("keep_run_files", "true"),
        ("judge_cooldown_ms", "0"),
    ] {
        project.ok(&["config", "set", key, value]);
    }
    project
}

#[test]
fn a_wizard_that_helps_itself_to_the_configuration_is_in_the_inbox() {
    let helps_itself = "git -C ../.. config core.pager evil; sed -i 's/scripted/other/' ../../symphony.config.json";
    let project = with_wizard(&scenarios([scenario(
        "sets up",
        &when(WIZARD),
        [bash(helps_itself), configure_call()],
    )]));
    project.add_issue("Greet");
    project.tick_one("wizard", "succeeded");
    let inbox = project.ok(&["inbox"]);
    let shown: Vec<&str> = inbox.split_whitespace().collect();
    let shown = shown.join(" ");
    for changed in ["(core.pager)", "Symphony's configuration changed (provider"] {
        assert!(shown.contains(changed), "{changed}: {inbox}");
    }
    // what it set up by its tool is no change of the file
    assert!(!shown.contains("sensitive_paths"), "{inbox}");
}

#[test]
fn the_wizard_configures_a_project_from_nothing() {
    let project = with_wizard(&scenarios([
        scenario("sets up", &when(WIZARD), [configure_call()]),
        scenario(
            "greets",
            &when(WORKER),
            [commit("hello.txt", "hello"), create_pr("Greet")],
        ),
        scenario("looks", &when(JUDGE), [tool("approve_pr", json!({}))]),
    ]));
    let issue = project.add_issue("Greet");
    // until the wizard has found better ones, the gates that were detected hold
    assert_eq!(gates(&project), json!(["test"]));
    let plan = project.json(&["tick", "--dry-run"]);
    assert_eq!(plan["actions"][0]["profile"], "wizard");
    assert_eq!(plan["actions"][0]["issue"], Value::Null);
    let reason = &plan["decisions"][0]["reasons"][0]["reason"];
    assert_eq!(reason, "wizard_first");

    let wizard = project.tick_one("wizard", "succeeded");
    let prompt = project.run_file(&text(&wizard["id"]), "user-prompt.md");
    assert!(prompt.contains("test: `make test`"), "{prompt}");
    assert!(prompt.contains("- Makefile"), "{prompt}");
    assert_nothing_left(&project);
    let state = project.json(&["project", "wizard"]);
    assert_eq!(
        (&state["wizard"], &state["run"]["id"]),
        (&json!("completed"), &wizard["id"])
    );
    assert_eq!(gates(&project), json!(["greets"]));
    // a new configuration file leaves the gates to the wizard
    let file = project.root.join("symphony.config.json");
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    project.ok(&["init", "--no-try"]);
    assert_eq!(gates(&project), json!(["greets"]));
    std::fs::write(&file, before).unwrap();
    let shown = project.json(&["config", "show", "sensitive_paths"]);
    assert_eq!(shown["items"][0]["source"], "database");

    // what the wizard found is tried on the base before a worker is paid
    project.tick_one("gates", "succeeded");
    let worker = project.tick_one("worker", "succeeded");
    let prompt = project.run_file(&text(&worker["id"]), "user-prompt.md");
    for wanted in ["Greetings are lower case", "grep -q hello hello.txt"] {
        assert!(prompt.contains(wanted), "{wanted}: {prompt}");
    }
    let judge = project.tick_one("judge", "succeeded");
    let prompt = project.run_file(&text(&judge["id"]), "user-prompt.md");
    for wanted in ["Look at the case of greetings", "greets"] {
        assert!(prompt.contains(wanted), "{wanted}: {prompt}");
    }
    let pr = &project.issue(&issue)["pull_requests"][0];
    assert_eq!(pr["gates"][0]["name"], "greets", "{pr:#}");
    // the file wins over what the wizard found
    project.ok(&["config", "set", "gates", "[]"]);
    assert_eq!(gates(&project), json!([]));
}

#[test]
fn what_is_offered_for_a_red_gate_works_wherever_the_gate_comes_from() {
    let red = |name: &str| json!({ "name": name, "command": "echo broken; false" });
    let both = json!([{ "name": "first", "command": "true" }, red("second")]);
    let configure = tool("configure_project", json!({ "gates": both }));
    let wizard = scenario("configures", &when(WIZARD), [configure]);
    let project = with_wizard(&scenarios([wizard]));
    project.tick_one("wizard", "succeeded");
    assert_eq!(gates(&project), json!(["first", "second"]));
    let file = project.root.join("symphony.config.json");
    let untouched = std::fs::read_to_string(&file).unwrap();
    let global = project.beside.join("home/.config/symphony/config.json");
    std::fs::create_dir_all(global.parent().unwrap()).unwrap();
    let id = text(&project.json(&["project", "show"])["id"]);
    for place in ["wizard", "file", "section", "global"] {
        std::fs::write(&file, &untouched).unwrap();
        match place {
            "file" => drop(project.ok(&["config", "set", "gates", &both.to_string()])),
            "section" => {
                project.ok(&["config", "set", "gates", "[]"]);
                let key = format!("projects.{id}.gates");
                project.ok(&["config", "set", &key, &both.to_string()]);
            }
            "global" => std::fs::write(&global, json!({ "gates": both }).to_string()).unwrap(),
            _ => {}
        }
        assert_eq!(project.symphony(&["doctor", "--gates"]).code, 1, "{place}");
        let inbox = project.json(&["inbox"]);
        let shown = inbox["items"].to_string() + &project.ok(&["inbox"]);
        let offered = "symphony config set 'gates[1].command' 'COMMAND'";
        assert!(shown.contains(offered), "{place}: {shown}");
        let command = offered.replace("COMMAND", "true");
        let symphony = format!("'{}' ", env!("CARGO_BIN_EXE_symphony"));
        let mut shell = project.program("sh");
        let shell = shell
            .arg("-c")
            .arg(command.replacen("symphony ", &symphony, 1));
        let output = shell.current_dir(&project.root).output().unwrap();
        assert!(output.status.success(), "{place}: {output:#?}");
        let value = project.json(&["config", "show", "gates"])["items"][0]["value"].clone();
        assert_eq!(value[1]["command"], "true", "{place}: {value:#}");
        assert_eq!(gates(&project), json!(["first", "second"]), "{place}");
        project.ok(&["doctor", "--gates"]);
    }
}

fn gates(project: &Project) -> Value {
    let shown = project.json(&["config", "show", "gates"]);
    let gates = shown["items"][0]["value"].as_array().unwrap().clone();
    gates.iter().map(|gate| gate["name"].clone()).collect()
}

#[test]
fn a_wizard_that_configures_nothing_has_failed_until_a_person_asks_again() {
    let idle = turn(json!({ "type": "text", "text": "Nothing to see." }));
    let project = with_wizard(&scenarios([
        scenario(
            "gives up",
            &json!({ "match_system": WIZARD, "uses": 1 }),
            [idle],
        ),
        scenario("sets up", &when(WIZARD), [configure_call()]),
    ]));
    let run = project.tick_one("wizard", "failed");
    assert_eq!(run["error"]["class"], "no_outcome");
    assert_eq!(project.json(&["project", "wizard"])["wizard"], "failed");
    let waits = &project.json(&["inbox"])["items"];
    assert_eq!(
        json!([waits[0]["kind"], waits[0]["text"], waits[0]["answers"]]),
        json!([
            "project",
            "its setup wizard failed",
            ["symphony project wizard --again"]
        ])
    );
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    // what was detected holds: work is not done without gates
    assert_eq!(gates(&project), json!(["test"]));
    project.ok(&["config", "set", "wizard_enabled", "false"]);
    let again = project.json(&["project", "wizard", "--again"]);
    assert_eq!(project.json(&["inbox"])["items"], json!([]));
    assert_eq!(
        (&again["wizard"], &again["enabled"]),
        (&json!("pending"), &json!(true))
    );
    project.tick_one("wizard", "succeeded");
    assert_eq!(gates(&project), json!(["greets"]));
}

#[test]
fn a_scanner_files_issues_and_no_duplicates() {
    let file = |title: &str| {
        tool(
            "create_issue",
            json!({ "title": title, "description": "README.md says nothing", "labels": ["docs"] }),
        )
    };
    let plays = scenarios([
        scenario(
            "first look",
            &json!({ "match_system": SCANNER, "uses": 1 }),
            [
                tool("list_issues", json!({})),
                file("Say what this is"),
                bash("echo scribble > notes.txt"),
            ],
        ),
        scenario(
            "second look",
            &when(SCANNER),
            [file("say  WHAT this is"), file("Say how to build it")],
        ),
    ]);
    let config = json!({ "scanner_enabled": true, "scanner_interval_ms": 0 });
    let project = Project::new("scanned", &plays, &config);
    let first = project.tick_one("scanner", "succeeded");
    assert_eq!(first["issue"], Value::Null);
    assert!(text(&first["worktree"]).starts_with(".symphony-workspaces/_scanner-"));
    let prompt = project.run_file(&text(&first["id"]), "user-prompt.md");
    assert!(
        prompt.starts_with("Scan this project for work worth doing."),
        "{prompt}"
    );
    let filed = issues(&project, "backlog");
    assert_eq!(filed.len(), 1);
    assert_eq!(filed[0]["labels"], json!(["docs", "phase:research"]));

    let second = project.tick_one("scanner", "succeeded");
    let refused = project.tool_errors(&text(&second["id"]));
    assert_eq!(refused.len(), 1);
    assert!(
        refused[0].contains("SYM-1 is open and has the same title"),
        "{refused:?}"
    );
    let titles: Vec<String> = issues(&project, "backlog")
        .iter()
        .map(|issue| text(&issue["title"]))
        .collect();
    assert_eq!(titles, ["Say what this is", "Say how to build it"]);
    // the scribble was put aside, as everything that is removed; nothing was committed to a branch
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(
        project.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]),
        "refs/heads/main"
    );

    // with something to do, nobody looks for more
    project.add_issue("Do this");
    let plan = project.json(&["tick", "--dry-run"]);
    let waits = plan["decisions"].as_array().unwrap().iter();
    let of_scanner: Vec<&Value> = waits.filter(|wait| wait["profile"] == "scanner").collect();
    assert_eq!(
        of_scanner[0]["reasons"][0]["reason"], "work_waits",
        "{plan:#}"
    );
}

#[test]
fn background_research_records_coverage() {
    let plays = scenarios([scenario(
        "reads",
        &when(RESEARCHER),
        [
            tool(
                "record_coverage",
                json!({ "file": "README.md", "concept": "purpose", "notes": "a project" }),
            ),
            tool(
                "add_learning",
                json!({ "pattern": "The README is the only documentation", "learning_type": "convention" }),
            ),
            tool(
                "complete_phase",
                json!({ "phase": "research", "summary": "done" }),
            ),
        ],
    )]);
    let config = json!({
        "background_research": true,
        "external_research": { "enabled": true, "max_searches": 3 },
    });
    let project = Project::new("studied", &plays, &config);
    let run = project.tick_one("researcher", "succeeded");
    let id = text(&run["id"]);
    let refused = project.tool_errors(&id);
    assert_eq!(refused.len(), 1);
    assert!(
        refused[0].contains("has no tool `complete_phase`"),
        "{refused:?}"
    );
    let system = project.run_file(&id, "system-prompt.md");
    assert!(system.contains("at most 3"), "{system}");
    let covered = store(&project)
        .coverage(&ProjectId::parse("studied").unwrap(), 10)
        .unwrap();
    let found: Vec<_> = covered
        .iter()
        .map(|entry| (entry.file.as_str(), entry.concept.as_str()))
        .collect();
    assert_eq!(found, [("README.md", "purpose")]);
    assert_nothing_left(&project);
    // its interval has not passed
    let plan = project.json(&["tick", "--dry-run"]);
    assert_eq!(plan["actions"], json!([]));
    assert_eq!(plan["decisions"][0]["reasons"][0]["reason"], "ran_recently");
}

#[test]
fn a_loop_that_ends_when_idle_ends_although_the_scanner_may_run_at_any_time() {
    let looks = scenario("looks", &when(SCANNER), [tool("list_issues", json!({}))]);
    let studies = scenario(
        "studies",
        &when(RESEARCHER),
        [tool("list_issues", json!({}))],
    );
    let config = json!({
        "scanner_enabled": true, "background_research": true, "scanner_interval_ms": 0,
    });
    let project = Project::new("idle", &scenarios([looks, studies]), &config);
    project.ok(&["run", "--until-idle", "--interval", "1"]);
    let runs = project.json(&["runs", "list"]);
    let mut profiles: Vec<String> = runs["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| text(&run["profile"]))
        .collect();
    profiles.sort();
    assert_eq!(profiles, ["researcher", "scanner"]);
    // a tick by itself keeps to the configuration
    project.tick_wait();
    let runs = project.json(&["runs", "list"]);
    assert_eq!(runs["items"].as_array().unwrap().len(), 4);
}

#[test]
fn findings_about_the_project_are_kept_shown_and_told_to_the_next_one() {
    let finding =
        json!({ "kind": "risk", "text": "Nothing locks the cache", "files": ["README.md"] });
    let plays = scenarios([scenario(
        "finds",
        &when(RESEARCHER),
        [tool("add_finding", finding)],
    )]);
    let config = json!({ "background_research": true, "scanner_interval_ms": 0 });
    let project = Project::new("found", &plays, &config);
    let run = project.tick_one("researcher", "succeeded");
    assert_eq!(project.tool_errors(&text(&run["id"])), Vec::<String>::new());
    let shown = project.json(&["project", "show"]);
    assert_eq!(shown["findings"][0]["text"], "Nothing locks the cache");
    assert_eq!(shown["findings"][0]["author"], "researcher");
    let shown = project.ok(&["project", "show"]);
    assert!(
        shown.contains("Findings about the project") && shown.contains("Nothing locks the cache"),
        "{shown}"
    );
    let next = project.tick_one("researcher", "succeeded");
    let prompt = project.run_file(&text(&next["id"]), "user-prompt.md");
    assert!(prompt.contains("## Previous Findings"), "{prompt}");
    assert!(prompt.contains("Nothing locks the cache"), "{prompt}");
}

#[test]
fn a_run_is_ended_past_its_searches_of_the_web_and_shows_their_number() {
    let search = |query: &str| turn(call("WebSearch", json!({ "query": query })));
    let plays = scenarios([scenario(
        "searches",
        &when(RESEARCHER),
        [
            search("one"),
            search("two"),
            search("three"),
            tool(
                "add_learning",
                json!({ "pattern": "It went on after its limit" }),
            ),
        ],
    )]);
    let config = json!({
        "background_research": true,
        "external_research": { "enabled": true, "max_searches": 2 },
    });
    let project = Project::new("curious", &plays, &config);
    let run = project.tick_one("researcher", "failed");
    assert_eq!(
        run["error"],
        json!({
            "class": "too_many_searches",
            "message": "ended: it searched the web more than 2 times (external_research.max_searches)",
        })
    );
    assert_eq!(run["metadata"]["web_searches"], json!(3));
    let shown = project.ok(&["runs", "show", run["id"].as_str().unwrap()]);
    assert!(shown.contains("web searches  3"), "{shown}");
    assert_nothing_left(&project);
}

#[test]
fn intake_triages_an_issue_of_the_backlog_once() {
    let sort = tool(
        "update_issue_status",
        json!({ "labels": ["bug", "ui"], "size": "small", "priority": "high", "phase": "ready" }),
    );
    let take_up = tool("update_issue_status", json!({ "status": "todo" }));
    let plays = scenarios([
        scenario(
            "sorts",
            &json!({ "match_system": INTAKE, "match_prompt": "SYM-1" }),
            [take_up, sort],
        ),
        scenario(
            "has nothing to say",
            &when(INTAKE),
            [turn(json!({ "type": "text", "text": "No idea." }))],
        ),
    ]);
    let project = Project::new("sorted", &plays, &json!({ "intake_enabled": true }));
    for title in ["The button is gone", "Hm"] {
        project.ok(&[
            "issue", "add", title, "--status", "backlog", "--label", "ui",
        ]);
    }
    let runs = project.tick_wait();
    assert_eq!(runs.len(), 2, "{runs:#?}");
    for run in &runs {
        assert_eq!(
            (&run["profile"], &run["status"]),
            (&json!("intake"), &json!("succeeded"))
        );
    }
    let first = project.issue("SYM-1");
    let sorted =
        ["status", "labels", "size", "priority", "total_runs"].map(|key| first[key].clone());
    assert_eq!(
        sorted,
        [
            json!("backlog"),
            json!(["bug", "phase:ready", "ui"]),
            json!("small"),
            json!("high"),
            json!(0)
        ]
    );
    let refused = project.tool_errors(&text(&first["runs"][0]["id"]));
    assert!(
        refused[0].contains("cannot move an issue to `todo`"),
        "{refused:?}"
    );
    assert_nothing_left(&project);
    assert_eq!(project.tick_wait(), Vec::<Value>::new());

    // what intake left as it was waits for a person, who edits it
    let waits = &project.json(&["inbox"])["items"];
    let told = json!([
        waits.as_array().unwrap().len(),
        waits[0]["kind"],
        waits[0]["issue"],
        waits[0]["text"],
        waits[0]["answers"][1]
    ]);
    let left = "intake triaged it and changed nothing";
    assert_eq!(
        told,
        json!([1, "intake", "SYM-2", left, "symphony issue move SYM-2 todo"])
    );
    let explained = project.ok(&["explain", "SYM-2"]);
    assert!(explained.contains(left), "{explained}");
    let shown = project.ok(&["inbox"]);
    assert!(
        shown.contains("  symphony issue move SYM-2 todo\n"),
        "{shown}"
    );
    project.ok(&["issue", "edit", "SYM-2", "--description", "The menu hums."]);
    assert_eq!(project.json(&["inbox"])["items"], json!([]));
}

#[test]
fn a_list_of_projects_calls_no_wizard_pending_that_nobody_asked_for() {
    let project = Project::new("plain", &scenarios([]), &json!({}));
    let listed = project.ok(&["project", "list"]);
    assert!(!listed.contains("pending"), "{listed}");
    assert!(listed.contains(" off "), "{listed}");
    let asked = with_wizard(&scenarios([]));
    let listed = asked.ok(&["project", "list"]);
    assert!(listed.contains("pending"), "{listed}");
}
