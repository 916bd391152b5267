//! The main job: an issue becomes a merged change, carried out by an agent, checked by gates, reviewed by a judge, merged
//! by a person.

use serde_json::{Value, json};

use crate::support::{
    Project, WORKER, agents_of, bash, commit, create_pr, hang, scenario, scenarios, text,
};

/// The scenario file that the scripted agent and the real CLIs play alike.
pub(crate) const MAIN_JOB: &str = include_str!("../fixtures/main_job.json");

/// Asserts that an object has at least these fields.
fn assert_fields(object: &Value, names: &str) {
    let missing: Vec<&str> = names
        .split_whitespace()
        .filter(|name| object.get(name).is_none())
        .collect();
    assert!(missing.is_empty(), "{missing:?} missing in {object:#}");
}

/// Tokens a run of the scenario uses: a turn's, so many times.
fn usage(turns: u64, [input, output, read, creation]: [u64; 4]) -> Value {
    json!([
        input * turns,
        output * turns,
        read * turns,
        creation * turns
    ])
}

fn tokens(run: &Value) -> Value {
    let usage = &run["usage"];
    let names = [
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_creation_tokens",
    ];
    names.iter().map(|name| usage[name].clone()).collect()
}

#[test]
fn an_issue_becomes_a_merged_change() {
    let scenarios: Value = serde_json::from_str(MAIN_JOB).unwrap();
    let project = Project::new(
        "my project",
        &scenarios,
        &json!({ "keep_run_files": false }),
    );
    assert_eq!(
        project.git(&["status", "--porcelain"]),
        "",
        "`init` leaves a clean tree"
    );

    let issue = project.json(&[
        "issue",
        "add",
        "Say hello",
        "--description",
        "hello.txt says hello.",
        "--label",
        "i18n",
    ]);
    assert_fields(
        &issue,
        "identifier title description status priority size labels parent depends_on phase",
    );
    assert_eq!(
        (&issue["identifier"], &issue["status"]),
        (&json!("SYM-1"), &json!("todo"))
    );
    assert_eq!(issue["labels"], json!(["i18n"]));

    let tick = project.json(&["tick", "--wait"]);
    assert_fields(&tick, "actions decisions runs");
    assert_eq!(
        (
            &tick["actions"][0]["action"],
            &tick["actions"][0]["profile"]
        ),
        (&json!("start_run"), &json!("worker"))
    );
    let worker = &tick["runs"][0];
    assert_fields(
        worker,
        "id issue profile phase attempt provider model status started_at ended_at duration_ms exit_code error usage worktree \
         branch metadata",
    );
    assert_eq!(
        (&worker["status"], &worker["issue"]),
        (&json!("succeeded"), &json!("SYM-1")),
        "{worker:#}"
    );
    assert_eq!(tokens(worker), usage(6, [111, 22, 3333, 444]));
    assert!(
        worker["usage"]["cost_usd"].as_f64().unwrap() > 0.0 && worker["usage"]["turns"] == 6,
        "{worker:#}"
    );
    assert_eq!(agents_of(worker["id"].as_str().unwrap()), [""; 0]);
    assert_eq!(project.issue("SYM-1")["status"], "review");

    let list = project.json(&["pr", "list"]);
    let pr = &list["items"][0];
    assert_fields(
        pr,
        "id issue title branch base head_commit state gates reported_gates files insertions deletions",
    );
    assert_eq!(
        json!([
            pr["title"],
            pr["state"],
            pr["branch"],
            pr["base"],
            pr["insertions"],
            pr["deletions"]
        ]),
        json!(["Say hello", "open", "symphony/SYM-1", "main", 1, 0])
    );
    assert_eq!(
        pr["head_commit"],
        project.git(&["rev-parse", "symphony/SYM-1"])
    );
    let gates = json!([
        pr["gates"][0]["name"],
        pr["gates"][0]["passed"],
        pr["gates_commit"]
    ]);
    assert_eq!(gates, json!(["check", true, pr["head_commit"]]));

    let judge = project.tick_one("judge", "succeeded");
    assert_eq!(tokens(&judge), usage(4, [211, 12, 1111, 44]));
    let approved = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(approved["state"], "approved");
    assert_eq!(
        json!([
            approved["verdict"]["author"],
            approved["verdict"]["run"],
            approved["verdict"]["commit"]
        ]),
        json!(["judge", judge["id"], pr["head_commit"]]),
        "{approved:#}"
    );
    assert_eq!(
        project.tick_wait(),
        [Value::Null; 0],
        "an approved pull request waits for a person"
    );

    let merged = project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(merged["state"], "merged");
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello from SYM-1");
    assert_eq!(
        project
            .git(&["show", "--stat", "--format=", "main"])
            .lines()
            .count(),
        2,
        "one file changed"
    );
    assert_eq!(
        std::fs::read_to_string(project.root.join("hello.txt")).unwrap(),
        "hello from SYM-1\n"
    );
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    assert_nothing_left(&project, "SYM-1", &[worker, &judge]);
    project.assert_sound();
}

/// Asserts that a finished issue left no worktree, branch, process or prompt behind.
fn assert_nothing_left(project: &Project, issue: &str, runs: &[&Value]) {
    assert!(!project.worktree(issue).exists());
    assert_eq!(
        project
            .git(&["worktree", "list", "--porcelain"])
            .matches("worktree ")
            .count(),
        1
    );
    assert_eq!(project.git(&["branch", "--list", "symphony/*"]), "");
    for run in runs {
        let id = run["id"].as_str().unwrap();
        assert_eq!(agents_of(id), [""; 0]);
        for name in ["user-prompt.md", "system-prompt.md", "mcp.json", "mcp.sock"] {
            assert!(!project.run_folder(id).join(name).exists(), "{name} stayed");
        }
        assert!(project.ok(&["runs", "logs", id]).contains("[result]"));
    }
    let second = project.json(&["tick", "--wait"]);
    assert_eq!(
        (&second["actions"], &second["runs"]),
        (&json!([]), &json!([])),
        "{second:#}"
    );
}

#[test]
fn what_a_worker_leaves_is_committed_and_secrets_are_not() {
    let when =
        |issue: &str| json!({ "match_system": WORKER, "match_prompt": format!("^# {issue}: ") });
    let look = bash("grep -c TOKEN .env && printf 'left\\n' > leftover.txt");
    let late = [
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
        commit("late.txt", "late"),
        bash("printf 'later\\n' > later.txt"),
    ];
    let scenarios = scenarios([
        scenario(
            "leaves work",
            &when("SYM-1"),
            [look, json!({ "expect": "^1$", "content": [] })],
        ),
        scenario("goes on after its pull request", &when("SYM-2"), late),
    ]);
    let project = Project::new("project", &scenarios, &json!({}));
    std::fs::write(project.root.join(".env"), "TOKEN=correct-horse-battery\n").unwrap();
    assert_eq!(
        (project.add_issue("Leave"), project.add_issue("Go on")),
        ("SYM-1".into(), "SYM-2".into())
    );
    let runs = project.tick_wait();
    let statuses: Vec<&Value> = runs.iter().map(|run| &run["status"]).collect();
    assert_eq!(statuses, ["succeeded", "succeeded"], "{runs:#?}");

    let last = project.git(&["log", "-1", "--format=%an <%ae> %s", "symphony/SYM-1"]);
    assert_eq!(
        last,
        "Symphony <symphony@localhost> symphony(SYM-1): work in progress"
    );
    assert_eq!(
        project.git(&["show", "symphony/SYM-1:leftover.txt"]),
        "left"
    );
    assert!(
        project.worktree("SYM-1").join(".env").is_file(),
        ".env was copied"
    );
    let retries = project.retries();
    assert_eq!(
        json!([retries[0]["issue"], retries[0]["kind"]]),
        json!(["SYM-1", "continuation"]),
        "{retries:#?}"
    );

    let pr = project.json(&["pr", "show", "SYM-2"]);
    assert_eq!(
        project.git(&["rev-parse", "symphony/SYM-2"]),
        text(&pr["head_commit"])
    );
    assert_eq!(
        project.git(&["ls-tree", "--name-only", "symphony/SYM-2"]),
        "README.md\nhello.txt"
    );
    assert_eq!(
        pr["gates"][0]["passed"], true,
        "the gates ran on the recorded commit: {pr:#}"
    );
    let rescued = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/symphony/rescue/SYM-2",
    ]);
    assert!(!rescued.is_empty(), "the later work was put aside");
    let saved: Vec<String> = rescued
        .lines()
        .map(|name| project.git(&["ls-tree", "--name-only", name]))
        .collect();
    for file in ["late.txt", "later.txt"] {
        assert!(
            saved
                .iter()
                .any(|tree| tree.lines().any(|line| line == file)),
            "{file} is in none of {saved:#?}"
        );
    }
    let all = project.git(&["log", "--all", "--name-only", "--format="]);
    assert!(!all.lines().any(|line| line == ".env"), "{all}");
}

#[test]
fn a_branch_with_a_secret_of_a_copied_file_gets_no_pull_request() {
    let when = json!({ "match_system": WORKER });
    let [refused, again] = [
        json!({ "expect": "contain secrets .*`TOKEN` in .env", "content": bash("git rm -q --cached .env")["content"] }),
        create_pr("Say hello"),
    ];
    let amend = bash(
        "git -c user.name=w -c user.email=w@example.invalid commit -q --amend -m 'write hello.txt'",
    );
    let careless = bash(
        "echo hello-everybody > hello.txt && git add -A && git -c user.name=w -c user.email=w@example.invalid commit -qm all",
    );
    let turns = [careless, create_pr("Say hello"), refused, amend, again];
    let project = Project::new(
        "project",
        &scenarios([scenario("adds all", &when, turns)]),
        &json!({}),
    );
    std::fs::write(project.root.join(".env"), "TOKEN=correct-horse-battery\n").unwrap();
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let errors = project.tool_errors(&text(&run["id"]));
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(
        !errors[0].contains("correct-horse"),
        "the value itself is not told: {errors:#?}"
    );
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(
        json!([pr["state"], pr["files"][0]["path"], pr["files"][1]]),
        json!(["open", "hello.txt", null])
    );

    // what became a secret meanwhile is not merged either
    let local = project.root.join(".env.local");
    std::fs::write(&local, "GREETING=hello-everybody\n").unwrap();
    let answer = project.symphony(&["pr", "merge", "SYM-1", "--force"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    assert!(
        answer.stderr.contains("`GREETING` in .env.local"),
        "{answer:#?}"
    );
    assert_eq!(
        project.git(&["ls-tree", "--name-only", "main"]),
        "README.md"
    );
    std::fs::remove_file(&local).unwrap();
    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(
        project.git(&["ls-tree", "--name-only", "main"]),
        "README.md\nhello.txt"
    );
    project.assert_sound();
}

#[test]
fn eight_ticks_at_once_start_one_run() {
    let scenarios = scenarios([scenario(
        "works",
        &json!({ "match_system": WORKER }),
        [hang()],
    )]);
    let project = Project::new(
        "project",
        &scenarios,
        &json!({ "max_concurrent_agents": 8 }),
    );
    for round in 1..=3 {
        let issue = project.add_issue(&format!("Round {round}"));
        let ticks: Vec<_> = (0..8)
            .map(|_| {
                let mut tick = project.command(&["tick", "--json"]);
                tick.stdout(std::process::Stdio::piped())
                    .stderr(std::process::Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let answers: Vec<Value> = ticks
            .into_iter()
            .map(|tick| {
                let answer = crate::support::Answer::from(tick.wait_with_output().unwrap());
                assert_eq!(answer.code, 0, "{answer:#?}");
                answer.json()
            })
            .collect();
        let started: usize = answers
            .iter()
            .map(|tick| tick["runs"].as_array().unwrap().len())
            .sum();
        assert_eq!(started, 1, "{answers:#?}");
        let runs = project.json(&["runs", "list", "--issue", &issue]);
        assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{runs:#}");
        assert_eq!(project.issue(&issue)["status"], "in_progress");
    }
    let runs = project.json(&["runs", "list"]);
    let live = |run: &&Value| matches!(run["status"].as_str(), Some("starting" | "running"));
    assert_eq!(
        runs["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter(live)
            .count(),
        3,
        "{runs:#}"
    );
    project.assert_sound();
}

#[test]
fn without_a_provider_nothing_is_started_and_nothing_is_used_up() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    let nowhere = project.beside.join("nowhere").join("claude");
    project.configure(
        &json!({ "provider": "claude-cli", "providers": { "claude-cli": { "binary": nowhere } } }),
    );
    project.add_issue("Wait");
    let answer = project.symphony(&["tick", "--wait", "--json"]);
    assert_eq!(answer.code, 1, "something waits that nothing will start");
    let tick = answer.json();
    assert_eq!(
        (&tick["actions"], &tick["runs"]),
        (&json!([]), &json!([])),
        "{tick:#}"
    );
    let reason = &tick["decisions"][0]["reasons"][0];
    assert_eq!(reason["reason"], "no_provider", "{tick:#}");
    let explained = project.json(&["explain", "SYM-1"]);
    for told in [&reason["text"], &explained["reasons"][0]["text"]] {
        let told = told.as_str().unwrap();
        assert!(
            told.contains("npm install -g @anthropic-ai/claude-code"),
            "{told}"
        );
        assert!(told.contains(nowhere.to_str().unwrap()), "{told}");
    }
    let issue = project.issue("SYM-1");
    assert_eq!(
        json!([
            issue["status"],
            issue["total_runs"],
            issue["consecutive_failures"],
            issue["runs"]
        ]),
        json!(["todo", 0, 0, []])
    );
}
