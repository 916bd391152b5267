//! Pull requests on the command line: a person's verdicts and merges.

use std::process::Stdio;

use serde_json::json;

use crate::records::{block, open_pr, record_gates};
use crate::support::{Project, commit, create_pr, scenarios, text, until, worker};
use crate::transcript::{Transcript, assert_transcript};

fn project() -> Project {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    project.configure(&json!({ "prefix": "SYM" }));
    project
}

#[test]
fn a_pull_request_is_shown_approved_and_merged() {
    let project = project();
    let issue = project.add_issue("Say hello");
    let pr = open_pr(&project, &issue, "Say hello in a file");
    record_gates(&project, pr, true);
    let transcript = Transcript::of(&project)
        .run(&["pr", "list"])
        .run(&["pr", "show", "1"])
        .run(&["pr", "diff", "SYM-1"])
        .run(&["pr", "approve", "1", "--commit", "0123456789"])
        .run(&["pr", "approve", "SYM-1", "--comment", "Fine."])
        .run(&["pr", "list", "--state", "approved"])
        .run(&["explain", "SYM-1"])
        .run(&["pr", "merge", "SYM-1"])
        .run(&["issue", "list"])
        .run(&["pr", "merge", "1"])
        .run(&["pr", "approve", "1"])
        .run(&["pr", "close", "1"]);
    assert_transcript!("pull_request", transcript);
    assert_eq!(
        std::fs::read_to_string(project.root.join("SYM-1.txt")).unwrap(),
        "hello\n"
    );
    assert_eq!(project.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_pull_request_in_json() {
    let project = project();
    let issue = project.add_issue("Say hello");
    let pr = open_pr(&project, &issue, "Say hello in a file");
    record_gates(&project, pr, true);
    let head = project.git(&["rev-parse", "symphony/SYM-1"]);
    let pr = project.json(&["pr", "show", &issue]);
    assert_eq!(
        json!({
            "id": pr["id"], "issue": pr["issue"], "title": pr["title"], "branch": pr["branch"], "base": pr["base"],
            "head_commit": pr["head_commit"], "state": pr["state"], "gates": pr["gates"],
            "reported_gates": pr["reported_gates"], "files": pr["files"], "insertions": pr["insertions"],
            "deletions": pr["deletions"],
        }),
        json!({
            "id": "1", "issue": "SYM-1", "title": "Say hello in a file", "branch": "symphony/SYM-1", "base": "main",
            "head_commit": head, "state": "open",
            "gates": [{ "name": "check", "required": true, "passed": true, "exit_code": 0, "duration_ms": 1500, "output": "one test\n" }],
            "reported_gates": [{ "name": "check", "passed": true, "output": "" }],
            "files": [{ "path": "SYM-1.txt", "insertions": 1, "deletions": 0 }], "insertions": 1, "deletions": 0,
        })
    );
}

#[test]
fn a_rejection_needs_feedback_and_gives_the_issue_back() {
    let project = project();
    let issue = project.add_issue("Say hello");
    open_pr(&project, &issue, "Say hello in a file");
    let transcript = Transcript::of(&project)
        .run(&["pr", "reject", "SYM-1"])
        .run(&["pr", "reject", "SYM-1", "--feedback", " "])
        .run(&["pr", "reject", "SYM-1", "--feedback", "Say it louder."])
        .run(&["issue", "show", "SYM-1"])
        .run(&["pr", "merge", "SYM-1"]);
    assert_transcript!("pull_request_rejected", transcript);
}

#[test]
fn a_red_gate_keeps_a_merge_back_unless_it_is_forced() {
    let project = project();
    let issue = project.add_issue("Say hello");
    let pr = open_pr(&project, &issue, "Say hello in a file");
    record_gates(&project, pr, false);
    let transcript = Transcript::of(&project)
        .run(&["pr", "show", "SYM-1"])
        .run(&["pr", "merge", "SYM-1"])
        .run(&["pr", "merge", "SYM-1", "--force"]);
    assert_transcript!("pull_request_red", transcript);
}

#[test]
fn what_is_not_there_is_not_found() {
    let project = project();
    project.add_issue("Say hello");
    let transcript = Transcript::of(&project)
        .run(&["pr", "list"])
        .run(&["pr", "show", "7"])
        .run(&["pr", "show", "SYM-1"])
        .run(&["pr", "diff", "SYM-7"])
        .run(&["pr", "merge", "what?"]);
    assert_transcript!("pull_request_not_found", transcript);
}

#[test]
fn an_agent_gives_no_verdict_and_merges_nothing() {
    let mut project = project();
    let issue = project.add_issue("Say hello");
    open_pr(&project, &issue, "Say hello in a file");
    project.set_variable("SYMPHONY_RUN_ID", "0199-run");
    let transcript = Transcript::of(&project)
        .run(&["pr", "approve", "SYM-1"])
        .run(&["pr", "reject", "SYM-1", "--feedback", "no"])
        .run(&["pr", "close", "SYM-1"])
        .run(&["pr", "merge", "SYM-1", "--force"])
        .run(&["pr", "list"]);
    assert_transcript!("pull_request_agent", transcript);
}

#[test]
fn a_conflict_and_a_changed_checkout_refuse_a_merge() {
    let project = project();
    let issue = project.add_issue("Say hello");
    open_pr(&project, &issue, "Say hello in a file");
    std::fs::write(project.root.join("README.md"), "# Changed\n").unwrap();
    std::fs::write(project.root.join("SYM-1.txt"), "other\n").unwrap();
    project.git(&["add", "SYM-1.txt"]);
    project.git(&["commit", "-q", "-m", "in the way", "SYM-1.txt"]);
    let transcript = Transcript::of(&project).run(&["pr", "merge", "SYM-1"]);
    assert_transcript!("pull_request_conflict", transcript);
    assert_eq!(project.issue("SYM-1")["status"], "review");
}

#[test]
fn the_inbox_advises_no_merge_that_must_fail() {
    let project = project();
    let issue = project.add_issue("Say hello");
    let pr = open_pr(&project, &issue, "Say hello in a file");
    record_gates(&project, pr, true);
    project.ok(&["pr", "approve", &issue]);
    let inbox = || {
        let inbox = project.json(&["inbox"]);
        let mut items = inbox["items"].as_array().unwrap().iter();
        items.find(|item| item["kind"] == "review").unwrap().clone()
    };
    assert_eq!(inbox()["answers"][1], "symphony pr merge SYM-1");
    project.commit_files(&[("SYM-1.txt", "other\n")]);
    let conflict = inbox();
    assert_eq!(
        json!([conflict["kind"], conflict["text"], conflict["answers"]]),
        json!([
            "review",
            "pull request 1 cannot be merged: it conflicts with main in SYM-1.txt",
            [
                "symphony pr reject SYM-1 --feedback 'merge main and resolve the conflicts'",
                "symphony pr show SYM-1"
            ]
        ])
    );
    project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(inbox()["answers"][1], "symphony pr merge SYM-1");
    std::fs::write(project.root.join("SYM-1.txt"), "mine\n").unwrap();
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    let root = project.root.display();
    let overwrites = inbox();
    assert_eq!(
        json!([overwrites["text"], overwrites["answers"]]),
        json!([
            format!(
                "pull request 1 cannot be merged: it would overwrite SYM-1.txt in {root}: commit, stash or move that first"
            ),
            [
                format!("git -C {root} status --ignored -- SYM-1.txt"),
                format!("git -C {root} stash push --all -- SYM-1.txt"),
                "symphony pr show SYM-1".to_owned()
            ]
        ])
    );
    project.git(&["stash", "push", "-q", "--all", "--", "SYM-1.txt"]);
    assert_eq!(inbox()["answers"][1], "symphony pr merge SYM-1");
    project.git(&["branch", "-m", "main", "trunk"]);
    let items = project.json(&["inbox"]);
    let items = items["items"].as_array().unwrap();
    let merges = items
        .iter()
        .flat_map(|item| item["answers"].as_array().unwrap());
    let mut merges = merges.filter(|answer| text(answer).starts_with("symphony pr merge"));
    assert_eq!(merges.next(), None, "{items:#?}");
    assert_eq!(
        inbox()["text"],
        "pull request 1 cannot be merged: its base branch `main` does not exist"
    );
    project.git(&["branch", "-m", "trunk", "main"]);
    project.assert_sound();
}

#[test]
fn the_inbox_offers_what_works_for_a_commit_that_is_not_where_it_was_reviewed() {
    for how in ["reject", "close"] {
        let project = project();
        let issue = project.add_issue("Say hello");
        let pr = open_pr(&project, &issue, "Say hello in a file");
        record_gates(&project, pr, true);
        project.ok(&["pr", "approve", &issue]);
        let inbox = || {
            let inbox = project.json(&["inbox"]);
            let mut items = inbox["items"].as_array().unwrap().iter();
            items.find(|item| item["kind"] == "review").unwrap().clone()
        };
        let head = project.git(&["rev-parse", "symphony/SYM-1"]);
        project.git(&["branch", "-f", "symphony/SYM-1", "main"]);
        let moved = inbox();
        let text = text(&moved["text"]);
        assert!(
            text.contains("its branch symphony/SYM-1 is now at "),
            "{text}"
        );
        let back = format!("git branch -f symphony/SYM-1 {}", head.trim());
        assert_eq!(moved["answers"][0], back);
        // a branch that is only gone is none that a merge needs
        project.git(&["branch", "-D", "symphony/SYM-1"]);
        assert_eq!(inbox()["answers"][1], "symphony pr merge SYM-1");
        project.git(&["reflog", "expire", "--expire=now", "--all"]);
        project.git(&["gc", "-q", "--prune=now"]);
        let gone = inbox();
        assert_eq!(
            json!([gone["text"], gone["answers"]]),
            json!([
                format!(
                    "pull request 1 cannot be merged: the repository no longer has its commit {}",
                    head.trim()
                ),
                [
                    "symphony pr reject SYM-1 --feedback 'the commit is gone: redo the work'",
                    "symphony pr close SYM-1",
                    "symphony pr show SYM-1"
                ]
            ])
        );
        let refused = project.symphony(&["pr", "merge", "SYM-1"]);
        assert_eq!(refused.code, 4, "{refused:#?}");
        assert!(
            refused.stderr.contains("no longer has its commit")
                && refused.stderr.contains("`symphony pr close SYM-1`"),
            "{refused:#?}"
        );
        project.ok(&["pr", "show", "SYM-1"]);
        if how == "reject" {
            let feedback = "the commit is gone: redo the work";
            project.ok(&["pr", "reject", "SYM-1", "--feedback", feedback]);
            assert_eq!(project.issue("SYM-1")["status"], "todo");
        } else {
            project.ok(&["pr", "close", "SYM-1"]);
        }
        project.assert_sound();
    }
}

#[test]
fn an_approval_promises_no_merge_while_the_issue_is_blocked() {
    let project = project();
    let issue = project.add_issue("Say hello");
    let pr = open_pr(&project, &issue, "Say hello in a file");
    record_gates(&project, pr, true);
    block(&project, &issue);
    assert_eq!(
        project.ok(&["pr", "approve", &issue]),
        "Approved pull request 1: it cannot be merged yet, as SYM-1 is `blocked`, not in review: `symphony issue move SYM-1 review` first.\n"
    );
    project.ok(&["issue", "move", &issue, "review"]);
    project.ok(&["pr", "merge", &issue]);
}

#[test]
fn a_commit_after_the_review_refuses_a_merge_and_says_how_to_go_on() {
    let project = project();
    let issue = project.add_issue("Say hello");
    open_pr(&project, &issue, "Say hello in a file");
    let head = project.git(&["rev-parse", "symphony/SYM-1"]);
    project.git(&["switch", "-q", "symphony/SYM-1"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "late"]);
    project.git(&["switch", "-q", "main"]);
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    let back = format!("git branch -f symphony/SYM-1 {}", head.trim());
    assert!(
        refused
            .stderr
            .contains(&format!("`{back}` leaves them out")),
        "{refused:#?}"
    );
    assert_eq!(project.issue("SYM-1")["status"], "review");
    // what the message says
    let words: Vec<&str> = back.split(' ').skip(1).collect();
    project.git(&words);
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["rev-parse", "main"]), head);
}

/// A pull request whose base has moved since its gates ran: they run again, on the merge result.
fn with_moved_base(setup: &str) -> Project {
    let project = project();
    std::fs::write(project.root.join(".gitignore"), "made\n.env\n").unwrap();
    project.git(&["add", ".gitignore"]);
    project.git(&["commit", "-q", "-m", "ignore"]);
    std::fs::write(project.root.join(".env"), "TOKEN=value-of-this-test\n").unwrap();
    project.configure(&json!({
        "prefix": "SYM",
        "worktree": { "setup": setup },
        "gates": [{ "name": "check", "command": "test -e made && grep -q TOKEN .env && echo ran >> ../../checked" }],
    }));
    let issue = project.add_issue("Say hello");
    let pr = open_pr(&project, &issue, "Say hello in a file");
    record_gates(&project, pr, true);
    std::fs::write(project.root.join("other.txt"), "other\n").unwrap();
    project.git(&["add", "other.txt"]);
    project.git(&["commit", "-q", "-m", "the base moves"]);
    project
}

#[test]
fn gates_on_a_merge_result_run_in_a_worktree_that_is_set_up() {
    let project = with_moved_base("echo set up >> ../../checked && touch made");
    let merged = project.ok(&["pr", "merge", "SYM-1"]);
    assert!(
        merged.contains("The gates ran again on the result."),
        "{merged}"
    );
    let checked = std::fs::read_to_string(project.root.join("checked")).unwrap();
    assert_eq!(checked, "set up\nran\n");
    assert_eq!(
        project.git(&["for-each-ref", "--format=%(refname)", "refs/symphony"]),
        ""
    );
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn what_is_taken_back_while_its_gates_run_is_not_merged() {
    for (order, now) in [
        (
            vec!["pr", "reject", "SYM-1", "--feedback", "No."],
            "it is rejected now",
        ),
        (vec!["pr", "close", "SYM-1"], "it is closed now"),
        (
            vec!["issue", "move", "SYM-1", "backlog"],
            "SYM-1 is `backlog`, not in review",
        ),
    ] {
        let project = with_moved_base(
            "touch made ../../gating && until [ -e ../../go ]; do sleep 0.02; done",
        );
        let base = project.git(&["rev-parse", "main"]);
        let merge = project
            .command(&["pr", "merge", "SYM-1"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        until("the gates run", || {
            project.root.join("gating").exists().then_some(())
        });
        project.ok(&order);
        std::fs::write(project.root.join("go"), "").unwrap();
        let merge = merge.wait_with_output().unwrap();
        let error = String::from_utf8(merge.stderr).unwrap();
        assert!(!merge.status.success(), "{error}");
        assert!(error.contains(now), "{error}");
        assert_eq!(project.git(&["rev-parse", "main"]), base);
        project.assert_sound();
    }
}

#[test]
fn a_set_up_that_fails_on_a_merge_result_is_a_red_gate_of_its_own() {
    let project = with_moved_base("echo no network; exit 3");
    let before = project.git(&["rev-parse", "main"]);
    let answer = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    let logs = project.root.join(".symphony/merges/SYM-1");
    let said = format!(": set-up; their output is in {}\nhint: ", logs.display());
    assert!(answer.stderr.contains(&said), "{answer:#?}");
    let log = std::fs::read_to_string(logs.join("setup.log")).unwrap();
    assert_eq!(log, "no network\n");
    // no other gate ran where nothing is set up, and nothing was moved
    assert!(!project.root.join("checked").exists());
    assert_eq!(project.git(&["rev-parse", "main"]), before);
    project.ok(&["pr", "merge", "SYM-1", "--force"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
}

#[test]
fn a_squashed_pull_request_is_one_commit_and_leaves_no_branch() {
    let project = project();
    let issue = project.add_issue("Say hello");
    let pr = open_pr(&project, &issue, "Say hello in a file");
    record_gates(&project, pr, true);
    project.git(&["commit", "-q", "--allow-empty", "-m", "the base moves"]);
    let base = project.git(&["rev-parse", "main"]);
    let transcript = Transcript::of(&project)
        .run(&["pr", "merge", "SYM-1", "--message", "no squash"])
        .run(&["pr", "merge", "SYM-1", "--squash", "--message", " "])
        .run(&["pr", "merge", "SYM-1", "--squash"]);
    assert_transcript!("pull_request_squashed", transcript);
    assert_eq!(
        project.git(&["log", "-1", "--format=%B%n%P"]),
        format!("SYM-1: Say hello in a file\n\nWhat was done.\n{base}")
    );
    assert_eq!(project.git(&["branch", "--list", "symphony/*"]), "");
    assert_eq!(
        project.git(&["for-each-ref", "--format=%(refname)", "refs/symphony"]),
        ""
    );
    project.assert_sound();
}

#[test]
fn the_base_reads_well_after_a_merge_of_commits_that_exit_handling_made() {
    let project = project();
    let issue = project.add_issue("Say hello");
    let pr = open_pr(&project, &issue, "symphony(SYM-1): work in progress");
    record_gates(&project, pr, true);
    project.ok(&["pr", "merge", "SYM-1"]);
    let log = project.git(&["log", "--first-parent", "--format=%s", "main"]);
    assert_eq!(log, "Merge SYM-1: symphony(SYM-1): work in progress\nbegin");
    project.assert_sound();
}

#[test]
fn a_merge_leaves_changes_alone_that_it_does_not_touch() {
    let project = project();
    let issue = project.add_issue("Say hello");
    open_pr(&project, &issue, "Say hello in a file");
    std::fs::write(project.root.join("README.md"), "# Changed\n").unwrap();
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(
        std::fs::read_to_string(project.root.join("README.md")).unwrap(),
        "# Changed\n"
    );
    assert_eq!(project.git(&["status", "--porcelain"]), " M README.md");
}

#[test]
fn green_gates_that_were_changed_since_are_called_so_wherever_they_are_shown() {
    const NOTE: &str =
        "green (the gates or their environment have changed since: they run again before a merge)";
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let gates = |command: &str| json!({ "gates": [{ "name": "check", "command": command }], "judge_enabled": false });
    let project = Project::new("project", &scenarios([worker(turns)]), &gates("true"));
    project.add_issue("Say hello");
    project.tick_wait();
    let looks = [
        ["pr", "show", "1"].as_slice(),
        &["pr", "list"],
        &["status"],
        &["inbox"],
        &["issue", "show", "SYM-1"],
    ];
    for look in looks {
        let shown = project.ok(look);
        assert!(
            !shown.contains("run again before a merge"),
            "{look:?}: {shown}"
        );
    }
    assert_eq!(project.json(&["pr", "show", "1"])["gates_age"], "current");

    project.configure_more(&gates("test -e hello.txt"));
    for look in looks {
        let shown = project.ok(look).replace('\n', " ");
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(NOTE), "{look:?}: {shown}");
    }
    assert_eq!(project.json(&["pr", "show", "1"])["gates_age"], "outdated");
    let status = project.json(&["status"]);
    assert_eq!(
        status["pull_requests"][0]["gates"],
        json!({ "state": "green", "age": "outdated" })
    );
    let approved = project.ok(&["pr", "approve", "1"]);
    assert!(
        approved.contains(&format!("Its gates are {NOTE}.")),
        "{approved}"
    );
    let merged = project.ok(&["pr", "merge", "1"]);
    assert!(merged.contains("The gates ran on the result."), "{merged}");
    project.assert_sound();
}

#[test]
fn a_verdict_is_never_taken_for_one_on_a_later_commit() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let project = Project::new(
        "project",
        &scenarios([worker(turns)]),
        &json!({ "judge_enabled": false }),
    );
    project.add_issue("Say hello");
    project.tick_wait();
    let short = |commit: &str| -> String { commit.chars().take(10).collect() };
    let head = text(&project.json(&["pr", "show", "1"])["head_commit"]);
    project.ok(&["pr", "reject", "1", "--feedback", "Say it louder"]);
    // whoever reads the comment later has another commit before them
    let issue = project.issue("SYM-1");
    let comment = text(&issue["comments"][0]["content"]);
    assert_eq!(
        comment,
        format!(
            "Rejected pull request 1 at commit {} (review point 1): Say it louder",
            short(&head)
        )
    );
    let shown = project.json(&["pr", "show", "1"]);
    assert_eq!(shown.get("branch_commit"), None, "{shown:#}");
    let tree = project.git(&["rev-parse", "symphony/SYM-1^{tree}"]);
    let next = project.git(&["commit-tree", tree.trim(), "-p", &head, "-m", "Louder"]);
    project.git(&["update-ref", "refs/heads/symphony/SYM-1", next.trim()]);
    let shown = project.ok(&["pr", "show", "1"]);
    let line = format!(
        "at {}: everything shown here, including verdict and gates, is about the head {}",
        short(next.trim()),
        short(&head)
    );
    assert!(shown.contains(&line), "{shown}");
}
