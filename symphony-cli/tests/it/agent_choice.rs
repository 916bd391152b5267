//! Choosing the agent and the model: on an issue, in a profile, in a plan; and where the choice is shown.

use serde_json::{Value, json};

use crate::plan_support::{PlanRun, any_phase, runs_of};
use crate::support::{
    Project, WORKER, approving_judge, commit, create_pr, scenario, scenarios, text,
};

/// Workers open a pull request, and judges approve it.
fn set_up() -> Project {
    let good = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let play = scenarios([
        scenario("worker", &json!({ "match_system": WORKER }), good),
        approving_judge(),
    ]);
    let project = Project::new("project", &play, &json!({ "max_concurrent_agents": 1 }));
    project.configure_more(&json!({
        "max_concurrent_agents": 1,
        "model": "of-project",
        "providers": {
            "scripted": { "scenario": project.beside.join("scenario.json") },
            "command": { "command": "echo done" },
            "gemini": { "binary": "/nonexistent/gemini" },
        },
    }));
    project
}

/// The provider and the model of a run, each with the place where it was set.
fn used(run: &Value) -> Value {
    let metadata = &run["metadata"];
    json!([
        run["provider"],
        metadata["provider_source"],
        run["model"],
        metadata["model_source"]
    ])
}

fn added(project: &Project, title: &str, choice: &[&str]) -> String {
    let arguments = [&["issue", "add", title], choice].concat();
    text(&project.json(&arguments)["identifier"])
}

/// Runs ticks until a worker or a judge has ended, whatever gates run before it.
fn next(project: &Project, profile: &str) -> Value {
    crate::support::until(&format!("a {profile} to end"), || {
        let runs = project.tick_wait();
        let run = runs.iter().find(|run| run["profile"] == profile)?;
        Some(project.run(&text(&run["id"])))
    })
}

#[test]
fn an_issue_chooses_for_its_workers_and_its_judges_keep_the_projects() {
    let project = set_up();
    let issue = added(&project, "Do it", &["--model", "of-issue"]);
    let explained = project.json(&["explain", &issue]);
    assert_eq!(
        explained["author"],
        json!({ "profile": "worker", "provider": "scripted", "provider_source": "project",
                "model": "of-issue", "model_source": "issue" })
    );
    let run = next(&project, "worker");
    assert_eq!(
        used(&run),
        json!(["scripted", "project", "of-issue", "issue"])
    );
    let shown = project.ok(&["runs", "show", &text(&run["id"])]);
    assert!(shown.contains("of-issue (set on the issue)"), "{shown}");
    assert!(
        shown.contains("scripted (set in the configuration)"),
        "{shown}"
    );
    let judge = next(&project, "judge");
    assert_eq!(
        used(&judge),
        json!(["scripted", "project", "of-project", "project"])
    );

    // another provider: the project's model is none of its models
    let other = added(&project, "Do more", &["--agent", "command"]);
    let shown = project.ok(&["issue", "show", &other]);
    assert!(shown.contains("command"), "{shown}");
    let explained = project.ok(&["explain", &other]);
    assert!(
        explained.contains("command (set on the issue)\n"),
        "{explained}"
    );
    let run = next(&project, "worker");
    assert_eq!(used(&run), json!(["command", "issue", null, null]));

    project.ok(&["issue", "edit", &other, "--no-agent", "--model", "m"]);
    let edited = project.issue(&other);
    assert_eq!(
        (&edited["agent"], &edited["model"]),
        (&json!(null), &json!("m"))
    );
    project.assert_sound();
}

#[test]
fn a_provider_that_there_is_not_is_refused_and_one_that_is_missing_is_named() {
    let project = set_up();
    let refused = project.symphony(&["issue", "add", "Do it", "--agent", "codex-cl"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("'codex-cli'"),
        "it suggests the nearest: {}",
        refused.stderr
    );
    let warned = project.symphony(&["issue", "add", "Do it", "--agent", "codex-cli"]);
    assert_eq!(warned.code, 0);
    assert!(
        warned
            .stderr
            .contains("no agent can start on SYM-1 yet: provider `codex-cli` needs `codex`"),
        "{}",
        warned.stderr
    );
    let explained = project.ok(&["explain", "SYM-1"]);
    let plain = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains("no provider can be used: provider `codex-cli` needs `codex`"),
        "{explained}"
    );
    // everything else goes on
    let other = project.add_issue("Do more");
    let run = next(&project, "worker");
    assert_eq!(run["issue"], json!(other));
}

#[test]
fn an_export_keeps_the_choice() {
    let project = set_up();
    added(
        &project,
        "Do it",
        &["--agent", "command", "--model", "of-issue"],
    );
    for format in ["jsonl", "md"] {
        let file = project.beside.join(format!("issues.{format}"));
        let file = file.to_str().unwrap();
        project.ok(&["issue", "export", file]);
        let other = set_up();
        other.ok(&["issue", "import", file]);
        let issue = other.issue("SYM-1");
        assert_eq!(
            (&issue["agent"], &issue["model"]),
            (&json!("command"), &json!("of-issue")),
            "{format}"
        );
    }
}

#[test]
fn a_profile_chooses_for_its_agents_and_doctor_says_who_uses_what() {
    let project = set_up();
    let folder = project.root.join(".symphony/prompts/profiles");
    std::fs::create_dir_all(&folder).unwrap();
    let profile = "---\nname: Worker\ntype: worker\ndescription: Works.\nagent: command\nmodel: of-profile\n---\n# Worker\n";
    std::fs::write(folder.join("worker.md"), profile).unwrap();
    let doctor = project.symphony(&["doctor"]);
    let plain = doctor
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        plain.contains(
            "workers run with command (set in the profile), and judges with scripted (set in the configuration)"
        ),
        "{}",
        doctor.stdout
    );
    let first = project.add_issue("Do it");
    let run = next(&project, "worker");
    assert_eq!(
        used(&run),
        json!(["command", "profile", "of-profile", "profile"])
    );
    // the issue is more specific than the profile
    project.ok(&["issue", "edit", &first, "--agent", "scripted"]);
    let run = next(&project, "worker");
    assert_eq!(
        used(&run),
        json!(["scripted", "issue", "of-project", "project"])
    );
}

#[test]
fn a_phase_of_a_plan_chooses_for_itself() {
    let project = set_up();
    let scenario = project.beside.join("scenario.json");
    std::fs::write(&scenario, scenarios([any_phase()]).to_string()).unwrap();
    let phase = |id: &str, more: Value| {
        let mut phase = json!({ "id": id, "title": id, "objective": "o", "tasks": ["t"], "success_criteria": "s" });
        phase
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        phase
    };
    let phases = json!([
        phase("plain", json!({})),
        phase("model", json!({ "model": "of-phase" })),
        phase("provider", json!({ "provider": "scripted" })),
    ]);
    let plan = format!("# Plan\n\n```symphony-phases\n{phases:#}\n```\n");
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    PlanRun::start(&project, &["plan.md", "--max-parallel", "1", "--json"]).answer();
    for (phase, expected) in [
        (
            "plain",
            json!(["scripted", "project", "of-project", "project"]),
        ),
        (
            "model",
            json!(["scripted", "project", "of-phase", "plan phase"]),
        ),
        (
            "provider",
            json!(["scripted", "plan phase", "of-project", "project"]),
        ),
    ] {
        let status = project.json(&["plan", "status"]);
        let runs = runs_of(&project, &text(&status["id"]), phase);
        let run = project.run(&text(&runs[0]["id"]));
        assert_eq!(used(&run), expected, "{phase}");
    }
}

/// One issue asks for an agent that is not installed: the others go on, and a person is asked.
#[test]
fn an_issue_whose_agent_cannot_start_is_in_the_inbox_and_holds_up_nothing() {
    let project = set_up();
    let issue = added(&project, "Do it", &["--agent", "gemini"]);
    let other = added(&project, "Do something else", &[]);
    let run = next(&project, "worker");
    assert_eq!(run["issue"], other, "{run:#}");
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    let item = items
        .iter()
        .find(|item| item["kind"] == "project")
        .unwrap_or_else(|| panic!("{inbox:#}"));
    assert!(
        text(&item["text"]).contains("`gemini` can start"),
        "{item:#}"
    );
    let explained = project.ok(&["explain", &issue]);
    assert!(!explained.contains("defect"), "{explained}");
    let status = project.ok(&["status"]);
    assert!(status.contains("its agent cannot start"), "{status}");
    project.assert_sound();
}
