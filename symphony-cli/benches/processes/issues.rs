//! A hundred issues from `todo` to merged, with an agent that takes no time, beside the same git operations in a shell loop.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;
use symphony_core::Timestamp;
use symphony_core::id::ProjectId;
use symphony_store::{Context, Store};

use super::measure::{median, quietly};
use super::new_issue::new_issue;
use super::project::Project;

const ROUNDS: usize = 4;
/// Issues of each round.
const ISSUES: usize = 25;

/// What a shell does for one issue: a branch in a worktree of its own, a commit, the gate on it, the merge, and the clean-up.
const LOOP: &str = r#"set -e
for i in $(seq "$1" "$2"); do
    git worktree add -q -b "loop-$i" "../loop-$i" main
    (cd "../loop-$i" && echo "made for $i" >"loop-$i.txt" && git add -A && git commit -qm "Add loop-$i.txt" && test -e README.md)
    git merge -q --no-ff -m "Merge loop-$i" "loop-$i"
    git worktree remove "../loop-$i"
    git branch -q -d "loop-$i"
done"#;

/// A worker that adds a file and hands in, and a judge that approves.
fn scenario() -> serde_json::Value {
    let command = "echo 'made for ${issue}' > ${issue}.txt && git add -A && git commit -qm 'Add ${issue}.txt' && git log --oneline -1";
    let call = |name: &str, input: serde_json::Value| json!({"content": [{"type": "tool_use", "name": name, "input": input}]});
    let mut hand_in = call(
        "mcp__symphony__create_pr",
        json!({"title": "Add ${issue}.txt", "body": "The file names its issue."}),
    );
    hand_in["expect"] = json!("Add \\S+\\.txt");
    json!({"scenarios": [
        {
            "name": "worker",
            "match_system": "^# Worker$",
            "vars": {"issue": "^# ([A-Z][A-Z0-9]*-\\d+): "},
            "turns": [call("Bash", json!({ "command": command })), hand_in],
        },
        {
            "name": "judge",
            "match_system": "^# Judge$",
            "turns": [call("mcp__symphony__approve_pr", json!({"comment": "Good."}))],
        },
    ]})
}

pub(crate) fn prepared() -> Project {
    let project = Project::new();
    let scenario_file = project.folder.path().join("scenario.json");
    std::fs::write(&scenario_file, scenario().to_string()).unwrap();
    let config = json!({
        "prefix": "BEN",
        "provider": "scripted",
        "providers": {"scripted": {"scenario": scenario_file}},
        "judge_cooldown_ms": 0,
        "try_changed_gates": false,
        "max_concurrent_agents": 2,
        "sandbox": "off",
        "gates": [{"name": "check", "command": "test -e README.md"}],
    });
    std::fs::write(
        project.root.join("symphony.config.json"),
        config.to_string(),
    )
    .unwrap();
    for (name, value) in [("user.name", "Bench"), ("user.email", "bench@localhost")] {
        quietly(
            project
                .clean(Path::new("git"))
                .args(["config", name, value]),
        );
    }
    project
}

pub(crate) fn add_issues(project: &Project, count: usize) -> Vec<String> {
    let mut store = Store::open(&project.database()).unwrap();
    let id: ProjectId = store.projects().unwrap().remove(0).id;
    let context = Context::system(Timestamp::now());
    let mut add = |number: usize| {
        let new = new_issue(&id, format!("Issue {number}"));
        store.add_issue(&context, &new).unwrap().id.to_string()
    };
    (0..count).map(&mut add).collect()
}

fn timed(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

/// Runs the issues of a round; returns how long workers, gates and judges took, and how long the merges.
fn ours(project: &Project) -> (f64, f64) {
    let issues = add_issues(project, ISSUES);
    let run = timed(|| {
        // Its exit code says that people have something to merge.
        let status = project
            .symphony(&["run", "--until-idle", "--quiet"])
            .output()
            .unwrap();
        assert!(matches!(status.status.code(), Some(0 | 1)), "{status:#?}");
    });
    let merges = timed(|| {
        for issue in &issues {
            project.ok(&["pr", "merge", issue, "--quiet"]);
        }
    });
    for issue in &issues {
        let file = project.root.join(format!("{issue}.txt"));
        assert_eq!(
            std::fs::read_to_string(file).unwrap(),
            format!("made for {issue}\n")
        );
    }
    (run, merges)
}

fn shell(project: &Project, round: usize) -> f64 {
    let (first, last) = (round * ISSUES + 1, (round + 1) * ISSUES);
    let mut command: Command = project.clean(Path::new("sh"));
    command.args(["-c", LOOP, "loop", &first.to_string(), &last.to_string()]);
    let time = timed(|| quietly(&mut command));
    let file = project.root.join(format!("loop-{last}.txt"));
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        format!("made for {last}\n")
    );
    time
}

pub(crate) fn run() {
    let (project, peer) = (prepared(), prepared());
    let (mut runs, mut merges, mut loops) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (run, merge) = ours(&project);
        runs.push(run);
        merges.push(merge);
        loops.push(shell(&peer, round));
    }
    let (runs, merges, loops) = (median(runs), median(merges), median(loops));
    let each = |seconds: f64| seconds * 1e3 / ISSUES as f64;
    println!(
        "an issue: worker, gates and judge {:.0} ms, merge {:.0} ms; the same git operations in a shell {:.0} ms",
        each(runs),
        each(merges),
        each(loops)
    );
    println!("  {:.1} times the shell (goal 3)", (runs + merges) / loops);
}
