//! Gates as jobs of their own, end to end: what an agent hides, what the base fails, what a person can do.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, WORKER, approving_judge, bash, call, commit, create_pr, scenario, scenarios,
    text, turn, until, worker,
};

/// Hides what a gate needs in a folder of build output, which every project ignores.
const IN_BUILD_OUTPUT: &str = "printf 'target/\\n' > .gitignore && mkdir -p target && echo yes > target/proof.txt \
    && git add .gitignore && git -c user.name=w -c user.email=w@example.invalid commit -qm 'Ignore build output'";
/// Hides it by the project's exclude file, which all linked worktrees share.
const EXCLUDED: &str = "printf 'target/\\n' >> ../../.git/info/exclude && mkdir -p target \
    && echo yes > target/proof.txt && echo x > x.txt && git add x.txt \
    && git -c user.name=w -c user.email=w@example.invalid commit -qm 'Write x'";

fn gate(name: &str, command: &str) -> Value {
    json!({ "name": name, "command": command })
}

fn statuses(project: &Project, issue: &str) -> (Value, Value) {
    let shown = project.issue(issue);
    let pr = shown["pull_requests"][0]["state"].clone();
    (shown["status"].clone(), pr)
}

fn inbox_texts(project: &Project) -> Vec<String> {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    items.iter().map(|item| text(&item["text"])).collect()
}

#[test]
fn files_that_only_the_agents_folder_has_make_no_gate_green() {
    // green on the base, so that the change is at fault
    let command = "test ! -e .gitignore -a ! -e x.txt || test -f target/proof.txt";
    for (name, evasion) in [("ignored", IN_BUILD_OUTPUT), ("excluded", EXCLUDED)] {
        let turns = [bash(evasion), create_pr("With proof")];
        let project = Project::new(
            "project",
            &scenarios([worker(turns)]),
            &json!({ "gates": [gate(name, command)] }),
        );
        project.add_issue("Prove it");
        project.tick_one("worker", "succeeded");
        // the control: in the agent's own folder the gate passes
        let agent = project.worktree("SYM-1");
        let control = project
            .program("sh")
            .args(["-c", command])
            .current_dir(agent)
            .status();
        assert!(control.unwrap().success(), "{name}");
        let found = statuses(&project, "SYM-1");
        assert_eq!(found, (json!("todo"), json!("rejected")), "{name}");
        project.assert_sound();
    }
}

#[test]
fn a_gate_that_cannot_pass_on_the_base_either_holds_the_project_after_one_paid_run() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let missing = json!([gate("lint", "no-such-linter --check")]);
    let project = Project::new(
        "project",
        &scenarios([worker(turns), approving_judge()]),
        &json!({ "gates": missing, "max_retry_backoff_ms": 1 }),
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.add_issue("Say it twice");
    // the pull request stays open, no attempt is used up by the gate, and a person reads why
    assert_eq!(
        statuses(&project, "SYM-1"),
        (json!("review"), json!("open"))
    );
    let waits = inbox_texts(&project);
    let hold = waits
        .iter()
        .find(|text| text.contains("on hold"))
        .unwrap_or_else(|| panic!("{waits:#?}"));
    for part in [
        "`lint`",
        "no-such-linter --check",
        "exit code 127",
        "`main`",
    ] {
        assert!(hold.contains(part), "{part} is not in {hold}");
    }
    // nobody is paid while the gate cannot pass
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let explained = project.ok(&["explain", "SYM-2"]);
    assert!(
        explained.contains("until its gates pass on the base"),
        "{explained}"
    );
    project.assert_sound();

    // repaired by a person: the probe passes, the gates of the pull request run again, and a judge approves
    project.configure_more(&json!({ "gates": [gate("lint", "true")] }));
    project.ok(&["resume"]);
    let mut profiles = Vec::new();
    for _ in 0..4 {
        profiles.extend(project.tick_wait().iter().map(|run| text(&run["profile"])));
    }
    assert!(profiles.contains(&"judge".to_owned()), "{profiles:?}");
    assert_eq!(
        statuses(&project, "SYM-1"),
        (json!("review"), json!("approved"))
    );
    let workers = project.json(&["runs", "list", "--issue", "SYM-1"]);
    let runs = workers["items"].as_array().unwrap();
    let paid = runs.iter().filter(|run| run["profile"] == "worker").count();
    assert_eq!(paid, 1, "{runs:#?}");
}

#[test]
fn an_issue_that_repairs_the_gate_is_worked_on_while_the_project_is_held() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let project = Project::new(
        "project",
        &scenarios([
            scenario(
                "repairs",
                &json!({ "match_system": WORKER, "match_prompt": "Add the tool" }),
                [
                    bash(
                        "printf '#!/bin/sh\\nexit 0\\n' > tool && chmod +x tool && git add tool && git -c user.name=w -c user.email=w@example.invalid commit -qm 'Add the tool'",
                    ),
                    create_pr("Add the tool"),
                ],
            ),
            worker(turns),
            approving_judge(),
        ]),
        &json!({ "gates": [gate("tool", "./tool")], "max_retry_backoff_ms": 1 }),
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.json(&["issue", "add", "Add the tool", "--fixes-gate", "tool"]);
    project.tick_one("worker", "succeeded");
    assert_eq!(
        statuses(&project, "SYM-2"),
        (json!("review"), json!("open"))
    );
    project.ok(&["pr", "merge", "SYM-2"]);
    // the merge moved the base: it is probed at once, and what was held goes on
    for _ in 0..4 {
        project.tick_wait();
    }
    let status = project.json(&["status"]);
    assert_eq!(status["holds"], json!([]), "{status:#}");
}

#[test]
fn the_same_failure_again_and_again_stops_the_issue_and_a_person_decides() {
    // a different change each time, and the gate fails in the same way
    let project = Project::new(
        "project",
        &scenarios([worker([
            bash(
                "date +%s%N > attempt.txt && git add attempt.txt && git -c user.name=w -c user.email=w@example.invalid commit -qm 'Try'",
            ),
            create_pr("Try"),
        ])]),
        &json!({
            "gates": [gate("proof", "test ! -e attempt.txt || { echo no proof; exit 3; }")],
            "max_retry_backoff_ms": 1, "judge_enabled": false,
        }),
    );
    project.add_issue("Prove it");
    for _ in 0..3 {
        project.tick_one("worker", "succeeded");
    }
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "blocked", "{issue:#}");
    assert_eq!(issue["pull_requests"][0]["state"], "open", "{issue:#}");
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let waits = inbox_texts(&project);
    assert!(
        waits
            .iter()
            .any(|text| text.contains("`proof`") && text.contains("3 times")),
        "{waits:#?}"
    );
    project.assert_sound();
    // it is checked again, and is as red as before
    let check = project.symphony(&["pr", "check", "SYM-1"]);
    assert_eq!(check.code, 1, "{check:#?}");
    assert!(
        check
            .stdout
            .contains("Required gates of pull request 3 are red: proof"),
        "{check:#?}"
    );
    assert_eq!(project.issue("SYM-1")["status"], "blocked");
    // approved and merged all the same, because a person says so
    let refused = project.symphony(&["pr", "approve", "SYM-1", "--comment", "Fine."]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    project.ok(&[
        "pr",
        "approve",
        "SYM-1",
        "--force",
        "--comment",
        "The proof follows.",
    ]);
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    project.ok(&["pr", "merge", "SYM-1", "--force"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

#[test]
fn an_approval_by_force_stays_whatever_the_gates_that_are_running_find() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let project = Project::new(
        "project",
        &scenarios([worker(turns), approving_judge()]),
        &json!({}),
    );
    let go = project.root.parent().unwrap().join("go");
    // green on the base, and red on the change once the person has decided
    let command = format!(
        "test ! -e hello.txt || {{ until test -e '{}'; do sleep 0.05; done; false; }}",
        go.display()
    );
    project.configure_more(&json!({ "gates": [gate("test", &command)] }));
    project.add_issue("Say hello");
    let gates_at_work = || {
        let runs = project.json(&["runs", "list", "--live"]);
        let mut runs = runs["items"].as_array().unwrap().iter();
        let has_pr = !project.issue("SYM-1")["pull_requests"][0].is_null();
        (has_pr && runs.any(|run| run["profile"] == "gates")).then_some(())
    };
    until("the gates at work", || {
        project.ok(&["tick"]);
        gates_at_work()
    });
    let approve = [
        "pr",
        "approve",
        "SYM-1",
        "--force",
        "--comment",
        "It is known",
    ];
    assert_eq!(
        project.ok(&approve),
        "Approved pull request 1: `symphony pr merge SYM-1 --force` merges it, whatever its gates report.\n"
    );
    // they go on: their result is worth having
    assert_eq!(gates_at_work(), Some(()));
    std::fs::write(&go, "").unwrap();
    until("what the gates found", || {
        project.tick_wait();
        let waits = inbox_texts(&project);
        let is_red = |text: &String| text.contains("only `--force` merges it");
        waits.iter().any(is_red).then_some(())
    });
    assert_eq!(
        statuses(&project, "SYM-1"),
        (json!("review"), json!("approved"))
    );
    project.ok(&["pr", "merge", "SYM-1", "--force"]);
    assert_eq!(statuses(&project, "SYM-1").0, json!("done"));
    project.assert_sound();
}

#[test]
fn gates_that_passed_do_not_run_again_on_the_same_files_unless_a_person_asks() {
    let project = Project::new(
        "project",
        &scenarios([worker([
            commit("hello.txt", "hello"),
            create_pr("Say hello"),
        ])]),
        &json!({}),
    );
    let count = project.beside.join("count");
    let command = format!("echo ran >> '{}'; grep -q hello hello.txt", count.display());
    project.configure_more(&json!({ "gates": [gate("check", &command)], "judge_enabled": false }));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let ran = || std::fs::read_to_string(&count).unwrap().lines().count();
    assert_eq!(ran(), 1);
    let check = project.ok(&["pr", "check", "SYM-1"]);
    assert!(
        check.contains("The gates of pull request 1 pass."),
        "{check}"
    );
    assert_eq!(ran(), 2, "asked for, they run whatever passed before");
    // the base gets the same file by another way: the merge result has the tree that passed
    project.git(&["cherry-pick", "-x", "symphony/SYM-1"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(ran(), 2);
}

#[test]
fn a_merge_runs_gates_again_when_anything_has_changed_that_they_depend_on() {
    for changed in ["nothing", "env", "copied file"] {
        let project = Project::new(
            "project",
            &scenarios([worker([
                commit("hello.txt", "hello"),
                create_pr("Say hello"),
            ])]),
            &json!({}),
        );
        std::fs::write(project.root.join(".env"), "MODE=easy\n").unwrap();
        let count = project.beside.join("count");
        let command = format!(
            "echo ran >> '{}'; test \"$MODE\" != strict && ! grep -q strict .env",
            count.display()
        );
        let configure = |env: Value| {
            let gates = [gate("mode", &command)];
            let whole = json!({ "gates": gates, "judge_enabled": false, "env": env });
            project.configure_more(&whole);
        };
        configure(json!({}));
        project.add_issue("Say hello");
        project.tick_one("worker", "succeeded");
        let ran = || std::fs::read_to_string(&count).unwrap().lines().count();
        let before = ran();
        match changed {
            "env" => configure(json!({ "MODE": "strict" })),
            "copied file" => std::fs::write(project.root.join(".env"), "MODE=strict\n").unwrap(),
            _ => {}
        }
        let merge = project.symphony(&["pr", "merge", "SYM-1"]);
        if changed == "nothing" {
            assert_eq!((merge.code, ran()), (0, before), "{}", merge.stderr);
        } else {
            assert_ne!(merge.code, 0, "{changed}: {}", merge.stdout);
            assert!(merge.stderr.contains("mode"), "{changed}: {}", merge.stderr);
            assert!(ran() > before, "{changed}");
        }
        project.assert_sound();
    }
}

#[test]
fn no_gate_sees_what_another_one_or_the_set_up_made_of_tracked_files() {
    let turns = [
        commit(
            "test.sh",
            "echo good > state.txt; mkdir -p target; echo made > target/built; echo planted > planted.txt; git update-ref --no-deref HEAD HEAD~1",
        ),
        commit(".gitignore", "target/"),
        commit("state.txt", "bad"),
        create_pr("Break it"),
    ];
    let gate = |name, command| json!({ "name": name, "command": command, "retries": 0 });
    let test = gate("test", "test ! -e test.sh || sh test.sh");
    let lint = gate("lint", "test ! -e state.txt || grep -q good state.txt");
    let built = gate("built", "test ! -e test.sh || test -e target/built");
    let planted = gate("planted", "test ! -e planted.txt");
    let head = "test ! -e test.sh || git cat-file -e HEAD:state.txt";
    let head = gate("head", head);
    for setup in ["true", "test ! -e state.txt || echo good > state.txt"] {
        let project = Project::new(
            "project",
            &scenarios([worker(turns.clone())]),
            &json!({
                "worktree": { "setup": setup },
                "gates": [test, lint, built, planted, head],
                "judge_enabled": false,
            }),
        );
        project.add_issue("Break it");
        project.tick_one("worker", "succeeded");
        let found = statuses(&project, "SYM-1");
        assert_eq!(found, (json!("todo"), json!("rejected")), "{setup}");
        let pr = project.json(&["pr", "show", "1"]);
        let gates = pr["gates"].as_array().unwrap();
        let passed: Vec<&Value> = gates.iter().map(|gate| &gate["passed"]).collect();
        assert_eq!(passed, [true, false, true, true, true], "{setup}: {pr:#}");
        // its output says so
        let output = text(&gates[1]["output"]);
        assert!(
            output.contains("changed files of the commit") && output.contains("state.txt"),
            "{setup}: {output}"
        );
        assert!(
            output.contains("changed the git folder of the checkout")
                && output.contains(".git/HEAD"),
            "{setup}: {output}"
        );
        assert!(
            output.contains("left files that git does not ignore; they were removed")
                && output.contains("planted.txt"),
            "{setup}: {output}"
        );
        project.assert_sound();
    }
}

#[test]
fn gates_run_after_the_set_up_with_the_projects_files_and_are_followed_live() {
    let turns = [
        commit(".gitignore", "target/"),
        create_pr("Ignore build output"),
    ];
    let project = Project::new(
        "project",
        &scenarios([worker(turns)]),
        &json!({
            "worktree": { "setup": "mkdir -p target; echo made > target/made" },
            "gates": [
                gate("env", "grep -q KEY=right .env"),
                gate("set-up-ran", "grep -q made target/made"),
                { "name": "left", "command": "sleep 0.3; echo left", "parallel": true },
                { "name": "right", "command": "sleep 0.3; echo right", "parallel": true },
            ],
            "judge_enabled": false,
        }),
    );
    std::fs::write(project.root.join(".env"), "KEY=right\n").unwrap();
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let pr = project.json(&["pr", "show", "SYM-1"]);
    let gates = pr["gates"].as_array().unwrap();
    let passed: Vec<&Value> = gates.iter().map(|gate| &gate["passed"]).collect();
    assert_eq!(passed, [true, true, true, true], "{pr:#}");
    // followed live, each line under its gate's name
    let runs = project.json(&["runs", "list", "--issue", "SYM-1"]);
    let run = runs["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|run| run["profile"] == "gates")
        .unwrap();
    let log = project.run_file(run["id"].as_str().unwrap(), "log.txt");
    assert!(
        log.contains("[left] left") && log.contains("[right] right"),
        "{log}"
    );
    // nothing of the checkout is left
    let left: Vec<_> = std::fs::read_dir(project.root.join(".symphony-workspaces"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["SYM-1"]);
}

#[test]
fn a_change_that_no_required_gate_verified_is_called_unverified_wherever_it_is_shown() {
    let is_told = json!({ "match_system": JUDGE, "match_prompt": "This change is unverified" });
    let optional = json!({ "name": "lint", "command": "true", "required": false });
    for (gates, why) in [
        (json!([]), "No gates are configured: "),
        (json!([optional]), "None of them is required: "),
    ] {
        let project = Project::new(
            "project",
            &scenarios([
                worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
                // it approves only what is said to be so
                scenario(
                    "judge",
                    &is_told,
                    [turn(call("mcp__symphony__approve_pr", json!({})))],
                ),
            ]),
            &json!({ "gates": gates }),
        );
        project.add_issue("Say hello");
        project.tick_one("worker", "succeeded");
        let shown = project.ok(&["pr", "show", "1"]);
        let expected = format!("{why}the change is unverified.");
        assert!(shown.contains(&expected), "{shown}");
        for listed in [["pr", "list"].as_slice(), &["status"]] {
            let listed = project.ok(listed);
            assert!(listed.contains("unverified"), "{listed}");
        }
        project.tick_one("judge", "succeeded");
    }
}

#[test]
fn a_merge_whose_gates_change_the_configuration_is_refused() {
    let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let project = Project::new(
        "project",
        &scenarios([worker(turns), approving_judge()]),
        &json!({}),
    );
    // only where the change and the newer base meet
    let command = format!(
        "test ! -e hello.txt || test ! -e newer.txt || git -C '{}' config user.name evil",
        project.root.display()
    );
    project.configure_more(&json!({ "gates": [gate("test", &command)] }));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    std::fs::write(project.root.join("newer.txt"), "x").unwrap();
    project.git(&["add", "newer.txt"]);
    project.git(&["commit", "-qm", "Newer"]);
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("pull request 1 is not merged: ")
            && refused
                .stderr
                .contains("user.name changed while its gates ran"),
        "{refused:#?}"
    );
    let inbox = inbox_texts(&project);
    let said = "while gates ran, the git configuration, attributes or hooks that all checkouts share changed (user.name)";
    assert!(
        inbox.iter().any(|text| text.starts_with(said)),
        "{inbox:#?}"
    );
    // it is as it was set, and nothing changes any more
    project.ok(&["pr", "merge", "SYM-1"]);
    project.assert_sound();
}

#[test]
fn who_kills_a_merge_does_not_hide_what_its_gates_changed() {
    for next in ["tick", "spoilt", "merge", "force"] {
        let turns = [commit("hello.txt", "hello"), create_pr("Say hello")];
        let project = Project::new(
            "project",
            &scenarios([worker(turns), approving_judge()]),
            &json!({}),
        );
        let command = format!(
            "test ! -e hello.txt || test ! -e newer.txt || git -C '{}' config core.sshCommand evil",
            project.root.display()
        );
        // at work until its merge is killed
        let merged =
            format!("({command}) && (test ! -e newer.txt || test -e \"$HOME/on\" || sleep 60)");
        project.configure_more(&json!({ "gates": [gate("test", &merged)] }));
        project.add_issue("Say hello");
        project.tick_one("worker", "succeeded");
        project.tick_one("judge", "succeeded");
        std::fs::write(project.root.join("newer.txt"), "x").unwrap();
        project.git(&["add", "newer.txt"]);
        project.git(&["commit", "-qm", "Newer"]);
        let mut merge = project.command(&["pr", "merge", "SYM-1"]);
        let mut merge = merge.stdout(std::process::Stdio::null()).spawn().unwrap();
        until("the gate has changed it", || {
            let config = std::fs::read_to_string(project.root.join(".git/config")).unwrap();
            config.contains("evil").then_some(())
        });
        merge.kill().unwrap();
        merge.wait().unwrap();
        std::fs::write(project.beside.join("home/on"), "").unwrap();
        let records = project.root.join(".symphony/merging");
        if next == "spoilt" {
            // by the same code: then everything is named
            std::fs::write(records.join("SYM-1.json"), "x").unwrap();
            std::fs::write(records.join("ABC-9.json"), "x").unwrap();
        }
        if ["tick", "spoilt"].contains(&next) {
            project.tick_wait();
            assert_eq!(std::fs::read_dir(&records).unwrap().count(), 0);
        } else {
            let refused = project.symphony(&["pr", "merge", "SYM-1"]);
            assert_eq!(refused.code, 4, "{refused:#?}");
        }
        let told = inbox_texts(&project);
        assert!(
            told.iter().any(|text| text.contains("core.sshcommand")),
            "{next}: {told:#?}"
        );
        if next == "force" {
            project.ok(&["pr", "merge", "--force", "SYM-1"]);
        }
        // it clears away what the killed merge left
        project.tick_wait();
        project.assert_sound();
    }
}

#[test]
fn a_trial_runs_gates_on_what_the_set_up_left() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    std::fs::write(project.root.join(".env"), "KEY=1\n").unwrap();
    let trial = json!({
        "worktree": { "setup": "echo made > generated.txt && echo PORT=5 >> .env" },
        "gates": [
            gate("generated", "grep made generated.txt"),
            gate("env", "grep KEY=1 .env && grep PORT=5 .env && echo PORT=6 > .env"),
            gate("restored", "grep PORT=5 .env"),
        ],
    });
    project.configure_more(&trial);
    project.ok(&["doctor", "--gates"]);
    assert_eq!(project.json(&["status"])["holds"], json!([]));
}

#[test]
fn a_program_outside_of_the_project_that_changes_makes_its_gates_run_again() {
    let turns = [commit("hello.txt", "BAD"), create_pr("Say hello")];
    let project = Project::new(
        "project",
        &scenarios([worker(turns), approving_judge()]),
        &json!({ "judge_cooldown_ms": 0 }),
    );
    let program = project.beside.join("check.sh");
    let is = |text: &str| std::fs::write(&program, text).unwrap();
    let line = format!("sh {}", program.display());
    project.configure_more(&json!({
        "gates": [gate("check", &line), gate("after", "true")],
        "judge_cooldown_ms": 0,
    }));
    is("exit 0\n");
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let shown = || project.ok(&["pr", "show", "SYM-1"]);
    assert!(
        !shown().contains("their environment have changed"),
        "{}",
        shown()
    );
    is("! grep -rq BAD --include='*.txt' .\n");
    assert!(
        shown().contains("their environment have changed"),
        "{}",
        shown()
    );
    let merged = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_ne!(merged.code, 0, "{merged:#?}");
    assert!(merged.stderr.contains("check"), "{merged:#?}");
    // the same as before again, with another time
    is("exit 0\n");
    project.ok(&["pr", "merge", "SYM-1"]);
    project.assert_sound();
}
