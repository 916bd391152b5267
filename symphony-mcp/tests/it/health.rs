//! `record_test_health` and `record_coverage`: what they record, in whose name, and what they answer.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use symphony_core::agent::AgentType;
use symphony_core::run::RunTarget;
use symphony_core::tools::Role;
use symphony_mcp::IssueWorkspace;
use symphony_workspace::{BranchName, RepositoryOptions, WorktreeKey};

use crate::support::{Desk, done, identity, person, project, refused};

#[tokio::test]
async fn a_worker_is_told_about_bloat() {
    let mut desk = Desk::new();
    let by_hand = desk.client(person(None)).await;
    let first = done(
        &by_hand,
        "record_test_health",
        json!({ "test_count": 100, "duration_ms": 900 }),
    )
    .await;
    insta::assert_json_snapshot!(first, @r#"
    {
      "bloat": [],
      "message": "recorded 100 tests in 900 ms; no sign of bloat"
    }
    "#);
    let (issue, run) = desk.worker();
    let client = desk.client(identity(&run, Role::Worker)).await;
    let names = ["parses_empty", "parsesEmpty", "parses_one"];
    let told = done(
        &client,
        "record_test_health",
        json!({ "test_count": 125, "duration_ms": 1_000, "names": names }),
    )
    .await;
    insta::assert_json_snapshot!(told, @r#"
    {
      "bloat": [
        {
          "changed_lines": null,
          "flag": "growth",
          "in_proportion": 20,
          "now": 125,
          "previous": 100
        },
        {
          "flag": "duplicate_names",
          "groups": 1,
          "names": [
            "parses_empty"
          ]
        }
      ],
      "message": "recorded 125 tests in 1000 ms. Look into this before you continue: the tests grew from 100 to 125; 20 more would be in proportion to the suite: keep those that can fail for a reason no other test covers, merge the rest into tables. 1 test name occurs more than once (parses_empty): remove what tests the same thing twice, rename what does not"
    }
    "#);
    let records = desk.store.test_health(&project("demo"), 5).unwrap();
    let kept: Vec<_> = records
        .iter()
        .map(|r| (r.test_count, &r.issue, &r.run, r.flags.len()))
        .collect();
    assert_eq!(
        kept,
        [
            (125, &Some(issue.id), &Some(run.id), 2),
            (100, &None, &None, 0)
        ]
    );
}

#[tokio::test]
async fn coverage_is_kept_for_the_project_and_told_once_more_replaced() {
    let mut desk = Desk::new();
    let issue = desk.issue("Look around");
    let run = desk.run(AgentType::Researcher, RunTarget::Issue(issue.id));
    for role in [
        Role::Researcher,
        Role::BackgroundResearcher,
        Role::Scanner,
        Role::Human,
    ] {
        let client = desk.client(identity(&run, role)).await;
        let told = done(
            &client,
            "record_coverage",
            json!({ "file": "./src/lock.rs", "concept": "locks", "notes": role.to_string() }),
        )
        .await;
        assert_eq!(
            told,
            json!({ "message": "noted that you read src/lock.rs for `locks`" })
        );
    }
    let kept = desk.store.coverage(&project("demo"), 5).unwrap();
    let kept: Vec<_> = kept
        .iter()
        .map(|c| (c.file.as_str(), c.notes.as_str(), &c.run))
        .collect();
    let who = Role::Human.to_string();
    assert_eq!(kept, [("src/lock.rs", who.as_str(), &Some(run.id.clone()))]);
    // Whoever records coverage is shown what was read before; others have no use for it.
    for (query, role, expected) in [
        (
            "how LOCKS are held",
            Role::Researcher,
            json!(["src/lock.rs"]),
        ),
        ("src/lock.rs", Role::Scanner, json!(["src/lock.rs"])),
        ("a parser", Role::Scanner, json!([])),
        ("locks", Role::Worker, json!([])),
    ] {
        let client = desk.client(identity(&run, role)).await;
        let found = done(&client, "search_learnings", json!({ "query": query })).await;
        let read = found["read_before"].as_array().cloned().unwrap_or_default();
        let files: Vec<Value> = read.iter().map(|read| read["file"].clone()).collect();
        assert_eq!(json!(files), expected, "{query} {role}");
    }
    let client = desk.client(person(None)).await;
    let outside = json!({ "file": "../a.rs", "concept": "locks" });
    assert_eq!(
        refused(&client, "record_coverage", outside).await,
        "file is `../a.rs`; a path inside the project is expected, such as src/main.rs"
    );
}

#[tokio::test]
async fn the_record_of_a_run_that_is_over_is_refused() {
    let mut desk = Desk::new();
    let (_, run) = desk.worker();
    let worker = desk.client(identity(&run, Role::Worker)).await;
    let scanner = desk.client(identity(&run, Role::Scanner)).await;
    desk.finish(&run);
    for (client, tool, arguments) in [
        (
            &worker,
            "record_test_health",
            json!({ "test_count": 1, "duration_ms": 1 }),
        ),
        (
            &scanner,
            "record_coverage",
            json!({ "file": "a", "concept": "b" }),
        ),
    ] {
        let text = refused(client, tool, arguments).await;
        assert!(
            text.contains("has ended: nothing more can be recorded"),
            "{text}"
        );
    }
    assert_eq!(desk.store.test_health(&project("demo"), 5).unwrap(), []);
    assert_eq!(desk.store.coverage(&project("demo"), 5).unwrap(), []);
}

/// Runs git in a folder, apart from what the machine's configuration says.
#[expect(
    clippy::disallowed_methods,
    reason = "a real repository is made by git itself"
)]
fn git(folder: &Path, arguments: &[&str]) {
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(["-c", "commit.gpgsign=false", "-C"])
        .arg(folder)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

#[tokio::test]
async fn growth_is_measured_by_what_the_branch_commits() {
    let mut desk = Desk::new();
    let root = desk.folder.path().join("demo");
    let workspaces = desk.folder.path().join("worktrees");
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&workspaces).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    fs::write(root.join("a.txt"), "one\n").unwrap();
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "base"]);
    let by_hand = desk.client(person(None)).await;
    let first = json!({ "test_count": 1_000, "duration_ms": 1 });
    done(&by_hand, "record_test_health", first).await;

    let (issue, run) = desk.worker();
    let worktree = workspaces.join(issue.id.as_str());
    let branch = format!("symphony/{}", issue.id);
    let path = worktree.to_str().unwrap();
    git(&root, &["worktree", "add", "-q", "-b", &branch, path]);
    fs::write(worktree.join("tests.txt"), "test\n".repeat(100)).unwrap();
    let mut worker = identity(&run, Role::Worker);
    worker.workspace = Some(IssueWorkspace {
        project_root: root,
        options: RepositoryOptions {
            workspaces_dir: workspaces,
            ..RepositoryOptions::default()
        },
        key: WorktreeKey::of(issue.id.as_str()),
        branch: BranchName::parse(&branch).unwrap(),
        base: BranchName::parse("main").unwrap(),
        gates: vec!["test".to_owned()],
    });
    let client = desk.client(worker).await;
    let report = json!({ "test_count": 1_021, "duration_ms": 1 });
    // uncommitted work has no size yet: 21 more are in proportion to a suite of 1,000
    let told = done(&client, "record_test_health", report.clone()).await;
    assert_eq!(told["bloat"], json!([]));
    git(&worktree, &["add", "-A"]);
    git(&worktree, &["commit", "-q", "-m", "tests"]);
    let told = done(&client, "record_test_health", report).await;
    assert_eq!(
        told["bloat"],
        json!([{ "flag": "growth", "previous": 1_000, "now": 1_021, "in_proportion": 20, "changed_lines": 100 }])
    );
}
