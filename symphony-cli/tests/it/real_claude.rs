//! The main job with the real Claude CLI, in front of a scripted model: the scenario file is the scripted agent's.

use std::path::Path;

use serde_json::{Value, json};

use crate::done::{review_plays, review_to_the_end};
use crate::main_job::MAIN_JOB;
use crate::pipeline::{PIPELINE, drive};
use crate::plan_run::{assert_carried_out, carry_out, plan_scenarios};
use crate::plan_support::runs_of;
use crate::review_points;
use crate::support::{
    JUDGE_TOOLS, Model, Project, RealCli, WORKER, WORKER_TOOLS, agents_of, bash, is_there, row,
    scenario, scenarios, text, until,
};

/// What the CLI puts before a tool's name.
const MCP_PREFIX: &str = "mcp__symphony__";
/// A name that the CLI itself reserves in its requests; there is no tool behind it.
const RESERVED: &str = "DeferredToolPlaceholder";

/// What the first request of a scenario told the model.
struct Given<'a> {
    system: &'a str,
    tools: Vec<&'a str>,
    last_block: &'a str,
    prompt: &'a str,
}

impl<'a> Given<'a> {
    fn first(requests: &'a [Value], scenario: &str) -> Self {
        let request = requests
            .iter()
            .find(|request| request["scenario"] == scenario && request["turn"] == 0)
            .unwrap_or_else(|| panic!("no request played {scenario}"));
        let content = &request["body"]["messages"][0]["content"];
        let last_block = content
            .as_array()
            .and_then(|blocks| blocks.last())
            .map_or(content, |block| &block["text"]);
        Self {
            system: request["system"].as_str().unwrap(),
            tools: request["tools"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .collect(),
            last_block: last_block.as_str().expect("the prompt is text"),
            prompt: request["prompt"].as_str().unwrap(),
        }
    }

    fn of_symphony(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .tools
            .iter()
            .filter_map(|name| name.strip_prefix(MCP_PREFIX))
            .map(str::to_owned)
            .collect();
        names.sort();
        names
    }

    fn built_in(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .tools
            .iter()
            .copied()
            .filter(|name| !name.starts_with(MCP_PREFIX) && *name != RESERVED)
            .collect();
        names.sort_unstable();
        names
    }
}

/// Asserts what holds for both: the whole system prompt, the whole user prompt as it went to standard input.
fn assert_given(project: &Project, run: &Value, given: &Given<'_>) {
    let id = text(&run["id"]);
    let system = project.run_file(&id, "system-prompt.md");
    assert!(
        given.system.contains(system.trim()),
        "the system prompt is not whole:\n{}",
        given.system
    );
    assert!(
        system.starts_with("## CRITICAL: Workspace Boundary\n"),
        "{system}"
    );
    assert_eq!(
        given.last_block.trim(),
        project.run_file(&id, "user-prompt.md").trim()
    );
    let worktree = project.worktree("SYM-1");
    let head = format!(
        "# SYM-1: Say hello\n\n> **Working in**: `{}` | **Branch**: `symphony/SYM-1`\n",
        worktree.display()
    );
    assert!(given.last_block.starts_with(&head), "{}", given.last_block);
    assert!(
        given.last_block.contains("hello.txt says hello."),
        "{}",
        given.last_block
    );
}

/// The body of a shipped profile.
fn profile(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../prompts/profiles")
        .join(format!("{name}.md"));
    let file = std::fs::read_to_string(path).unwrap();
    let (_, body) = file
        .strip_prefix("---\n")
        .unwrap()
        .split_once("\n---\n")
        .unwrap();
    body.trim().to_owned()
}

/// Asserts that a run used what the model dealt out, and cost what the CLI reckoned.
fn assert_usage(project: &Project, run: &Value, requests: &[Value], scenario: &str) {
    let file: Value = serde_json::from_str(MAIN_JOB).unwrap();
    let played = file["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .find(|played| played["name"] == scenario)
        .unwrap();
    let times = requests
        .iter()
        .filter(|request| request["scenario"] == scenario)
        .count() as u64;
    let dealt = |name: &str| played["usage"][name].as_u64().unwrap() * times;
    let usage = &run["usage"];
    assert_eq!(
        json!([
            usage["input_tokens"],
            usage["output_tokens"],
            usage["cache_read_tokens"],
            usage["cache_creation_tokens"]
        ]),
        json!([
            dealt("input_tokens"),
            dealt("output_tokens"),
            dealt("cache_read_input_tokens"),
            dealt("cache_creation_input_tokens")
        ]),
        "{run:#}"
    );
    let stream = project.run_file(&text(&run["id"]), "stream.ndjson");
    let events = stream
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let reckoned: f64 = events
        .filter(|event| event["type"] == "result")
        .flat_map(|result| {
            result["model_usage_since_last_result"]
                .as_object()
                .cloned()
                .unwrap_or_default()
        })
        .map(|(_, model)| model["costUSD"].as_f64().unwrap())
        .sum();
    assert!(reckoned > 0.0);
    let micros = |usd: f64| (usd * 1e6).round();
    assert!(
        (micros(usage["cost_usd"].as_f64().unwrap()) - micros(reckoned)).abs() < 0.5,
        "{usage:#} {reckoned}"
    );
}

fn project(scenarios: &str) -> (Project, Model) {
    RealCli::Claude.project(scenarios, &json!({}))
}

#[test]
fn the_main_job_passes_with_the_real_claude_cli() {
    let (project, model) = project(MAIN_JOB);
    std::fs::write(
        project.root.join("CLAUDE.md"),
        "Greetings are in lower case.\n",
    )
    .unwrap();
    project.git(&["add", "CLAUDE.md"]);
    project.git(&["commit", "-q", "-m", "say how greetings are written"]);

    project.json(&[
        "issue",
        "add",
        "Say hello",
        "--description",
        "hello.txt says hello.",
    ]);
    let worker = project.tick_one("worker", "succeeded");
    let judge = project.tick_one("judge", "succeeded");
    let requests = model.requests();

    let given = Given::first(&requests, "worker");
    assert_given(&project, &worker, &given);
    assert!(
        given.system.contains(&profile("worker")),
        "{}",
        given.system
    );
    assert!(
        given.prompt.contains("Greetings are in lower case."),
        "the CLI reads CLAUDE.md by itself"
    );
    assert_eq!(given.of_symphony(), row(WORKER_TOOLS));
    for absent in ["WebSearch", "WebFetch", "ListAgents", "SendMessage"] {
        assert!(!given.tools.contains(&absent), "{:?}", given.tools);
    }
    for present in ["Bash", "Edit", "Read", "Write"] {
        assert!(given.tools.contains(&present), "{:?}", given.tools);
    }

    let given = Given::first(&requests, "judge");
    assert_given(&project, &judge, &given);
    assert!(given.system.contains(&profile("judge")), "{}", given.system);
    assert!(
        given.system.contains("Greetings are in lower case."),
        "a judge gets CLAUDE.md as a layer"
    );
    assert!(
        given.last_block.contains("+hello from SYM-1"),
        "a judge gets the diff"
    );
    assert_eq!(given.of_symphony(), row(JUDGE_TOOLS));
    assert_eq!(given.built_in(), ["Glob", "Grep", "Read"]);

    for (run, scenario) in [(&worker, "worker"), (&judge, "judge")] {
        assert_usage(&project, run, &requests, scenario);
        assert_eq!(agents_of(&text(&run["id"])), [""; 0]);
        assert!(run["model"].is_null(), "no model was asked for: {run:#}");
    }

    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello from SYM-1");
    assert!(!project.git(&["log", "main"]).contains("Co-Authored-By"));
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert!(!project.worktree("SYM-1").exists());
}

/// A claim that is refused, a design that is sent back and a red gate on the way: the scenario file is the scripted agent's.
#[test]
fn the_whole_pipeline_passes_with_the_real_claude_cli() {
    let (project, model) = project(PIPELINE);
    drive(&project);
    let requests = model.requests();
    let given = Given::first(&requests, "design, first");
    assert_eq!(
        given.of_symphony(),
        row(
            "get_issue list_issues update_issue_status create_issue add_finding add_learning add_comment \
             search_learnings complete_phase answer_review_point record_coverage"
        )
    );
    let given = Given::first(&requests, "judge refuses the first design");
    assert_eq!(
        given.of_symphony(),
        row(
            "get_issue list_issues update_issue_status add_finding add_learning add_comment search_learnings \
             approve_phase reject_phase"
        )
    );
    assert_eq!(given.built_in(), ["Glob", "Grep", "Read"]);
}

/// A pull request is rejected with points; the next worker answers them, and the next judge closes them and approves.
#[test]
fn a_rejected_pull_request_is_answered_and_approved_with_the_real_claude_cli() {
    let (project, model) = project(&review_points::review_plays().to_string());
    review_points::review_to_the_end(&project);
    let requests = model.requests();
    let given = Given::first(&requests, "answers");
    assert_eq!(given.of_symphony(), row(WORKER_TOOLS));
    for point in ["Greet the world.", "Say it in a test.", "A nice file."] {
        assert!(given.last_block.contains(point), "{}", given.last_block);
    }
    let given = Given::first(&requests, "closes");
    assert_eq!(given.of_symphony(), row(JUDGE_TOOLS));
    assert_eq!(given.built_in(), ["Glob", "Grep", "Read"]);
    assert!(
        given.last_block.contains("there are no tests of texts"),
        "{}",
        given.last_block
    );
}

/// A proposal that nothing is left to do is rejected with a point, which is answered and closed.
#[test]
fn nothing_left_to_do_passes_with_the_real_claude_cli() {
    let (project, model) = project(&review_plays().to_string());
    review_to_the_end(&project);
    let requests = model.requests();
    let given = Given::first(&requests, "answers");
    assert_eq!(given.of_symphony(), row(WORKER_TOOLS));
    assert!(
        given.last_block.contains("Where is it?"),
        "{}",
        given.last_block
    );
    let given = Given::first(&requests, "closes");
    assert_eq!(
        given.of_symphony(),
        row(
            "get_issue list_issues update_issue_status add_finding add_learning add_comment search_learnings \
             approve_done reject_done"
        )
    );
    assert!(
        given.last_block.contains("## Nothing Left To Do"),
        "{}",
        given.last_block
    );
}

/// The CLI gives each of its shells a session of its own, and these have children that leave even that.
#[test]
fn nothing_of_the_real_claude_cli_survives_its_end() {
    let shells = bash(
        "(setsid python3 -c 'import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); \
         print(os.getpid(), file=open(\"pids.txt\", \"a\")); time.sleep(3600)' &) ; \
         nohup python3 -c 'import os, time; print(os.getpid(), file=open(\"pids.txt\", \"a\")); time.sleep(3600)' & \
         python3 -c 'import os, time; print(os.getpid(), file=open(\"pids.txt\", \"a\")); time.sleep(3600)'",
    );
    let file = scenarios([scenario(
        "works",
        &json!({ "match_system": WORKER }),
        [shells],
    )]);
    let (project, _model) = project(&file.to_string());
    project.add_issue("Take for ever");
    let run = project.tick_start();
    let pids = until("the children of the shells", || {
        let text = std::fs::read_to_string(project.worktree("SYM-1").join("pids.txt")).ok()?;
        let pids: Vec<i32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        (pids.len() == 3).then_some(pids)
    });
    assert!(
        pids.iter().all(|pid| is_there(*pid, &run)),
        "{:?}",
        agents_of(&run)
    );
    assert_eq!(
        project.json(&["runs", "cancel", "SYM-1"])["status"],
        "cancelled"
    );
    assert_eq!(agents_of(&run), [""; 0]);
    assert!(!pids.iter().any(|pid| is_there(*pid, &run)));
    assert_eq!(project.issue("SYM-1")["status"], "todo");
}

/// The plan of the embedded agent's test, with the real CLI.
#[test]
fn a_plan_passes_with_the_real_claude_cli() {
    // what lies beside the project, seen from the worktree of a phase
    let file = plan_scenarios("../../..").to_string();
    let (project, model) =
        RealCli::Claude.project(&file, &json!({ "max_concurrent_agents": 4, "gates": [] }));
    let summary = carry_out(&project);
    assert_carried_out(&project, &summary);

    let requests = model.requests();
    let given = Given::first(&requests, "left");
    assert_eq!(
        given.of_symphony(),
        [
            "add_learning",
            "answer_review_point",
            "complete_phase",
            "search_learnings"
        ]
    );
    let run = runs_of(&project, "plan", "left").remove(0);
    let system = project.run_file(&text(&run["id"]), "system-prompt.md");
    assert!(given.system.contains(system.trim()), "{}", given.system);
    assert!(
        system.starts_with("## CRITICAL: Workspace Boundary\n"),
        "{system}"
    );
    let prompt = project.run_file(&text(&run["id"]), "user-prompt.md");
    assert_eq!(given.last_block.trim(), prompt.trim());
    assert_eq!(agents_of(&text(&run["id"])), [""; 0]);
}
