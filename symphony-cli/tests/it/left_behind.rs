//! Work that no commit would have: refused by name, absorbed, or reported; never dropped without a word.

use serde_json::{Value, json};

use crate::plan_support::{PlanRun, complete, of_phase, plan_of, until_phase};
use crate::support::{
    Answer, Project, WORKER, approving_judge, bash, call, create_pr, git_commit, scenario,
    scenarios, text, turn, until, worker,
};

/// A command that makes a repository in a folder and commits a file there.
fn nest(folder: &str) -> String {
    let commit = git_commit("-A", "inner work");
    format!(
        "mkdir -p {folder} && echo 'by phase' > {folder}/work.txt && cd {folder} && git init -q && {commit} && cd -"
    )
}

fn create_pr_with_absorb() -> Value {
    turn(call(
        "mcp__symphony__create_pr",
        json!({ "title": "All of it", "body": "As asked.", "absorb": true }),
    ))
}

fn inbox(project: &Project) -> Vec<Value> {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap().iter();
    items
        .filter(|item| item["kind"] == "left_behind")
        .cloned()
        .collect()
}

#[test]
fn a_nested_repository_is_refused_by_name_and_absorbed_on_request() {
    let hello = "echo hello > hello.txt";
    // the link is committed with it: the pull request would open with two files, and hold one
    let commit = git_commit("-A", "everything");
    let scenarios = scenarios([
        approving_judge(),
        worker([
            bash(&format!("{hello} && {} && {commit}", nest("lib"))),
            create_pr("One file"),
            create_pr_with_absorb(),
        ]),
    ]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.add_issue("Write a library");
    let run = project.tick_one("worker", "succeeded");
    let errors = project.tool_errors(&text(&run["id"]));
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(
        errors[0].contains("another git repository (lib)"),
        "{errors:#?}"
    );
    let pr = &project.issue("SYM-1")["pull_requests"][0];
    let head = text(&pr["head_commit"]);
    let files = project.git(&["ls-tree", "-r", "--name-only", &head]);
    assert_eq!(files, "README.md\nhello.txt\nlib/work.txt");
    project.tick_one("judge", "succeeded");
    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["show", "main:lib/work.txt"]), "by phase");
    // the history of the inner repository is kept
    let rescues = project.git(&[
        "for-each-ref",
        "--format=%(contents:subject)",
        "refs/symphony/rescue/",
    ]);
    assert!(rescues.contains("inner work"), "{rescues}");
    assert_eq!(inbox(&project), Vec::<Value>::new());
    project.assert_sound();
}

#[test]
fn a_run_that_ends_with_a_nested_repository_is_in_the_inbox_until_a_person_absorbs_it() {
    let hello = git_commit("hello.txt", "hello");
    let scenarios = scenarios([
        approving_judge(),
        scenario(
            "hides",
            &json!({ "match_system": WORKER, "uses": 1 }),
            [bash(&format!(
                "echo hello > hello.txt && {hello} && {}",
                nest("lib")
            ))],
        ),
        worker([create_pr("All of it")]),
    ]);
    let project = Project::new(
        "project",
        &scenarios,
        &json!({ "max_retry_backoff_ms": 1000 }),
    );
    project.add_issue("Write a library");
    let runs = project.tick_wait();
    let shown = project.run(&text(&runs[0]["id"]));
    assert_eq!(
        shown["metadata"]["left_behind"],
        json!([{ "kind": "nested_repository", "path": "lib" }]),
        "{shown:#}"
    );
    let for_people = project.ok(&["runs", "show", &text(&runs[0]["id"])]);
    assert!(
        for_people
            .contains("The run left work that is in no commit: a nested git repository (lib)."),
        "{for_people}"
    );
    let [item] = inbox(&project).try_into().unwrap();
    assert_eq!(item["issue"], "SYM-1", "{item:#}");
    assert_eq!(item["answers"][1], "symphony issue retry SYM-1 --absorb");
    // it is tried again all the same
    let explained = project.ok(&["explain", "SYM-1"]);
    let beside = "It is also waiting for you:\n- the run left work";
    assert!(explained.contains(beside), "{explained}");
    let answer: Answer = project.symphony(&["issue", "retry", "SYM-1", "--absorb"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert!(answer.stderr.contains("Absorbed lib"), "{answer:#?}");
    let files = project.git(&["ls-tree", "-r", "--name-only", "symphony/SYM-1", "lib"]);
    assert_eq!(files, "lib/work.txt");
}

#[test]
fn ignored_work_and_a_changed_copy_are_reported() {
    let commit = git_commit("hello.txt .gitignore", "hello");
    let scenarios = scenarios([worker([
        bash(&format!(
            "echo hello > hello.txt && echo '/feature.rs' > .gitignore && echo code > feature.rs && mkdir -p target && echo built > target/x && echo NEW=1 >> .env && {commit}"
        )),
        create_pr("Hello"),
    ])]);
    let project = Project::new("project", &scenarios, &json!({}));
    std::fs::write(project.root.join(".env"), "PIN=1234\n").unwrap();
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let [item] = inbox(&project).try_into().unwrap();
    assert_eq!(
        item["text"],
        "the run left work that is in no commit: an ignored path (feature.rs), a copied file that was changed (.env)"
    );
}

#[test]
fn work_after_the_hand_in_is_put_aside_and_reported_with_the_command_that_shows_it() {
    let (hello, more) = (
        git_commit("hello.txt", "hello"),
        git_commit("more.txt", "more"),
    );
    let scenarios = scenarios([worker([
        bash(&format!("echo hello > hello.txt && {hello}")),
        create_pr("Hello"),
        bash(&format!(
            "echo more > more.txt && {more} && echo loose > loose.txt"
        )),
    ])]);
    let project = Project::new("project", &scenarios, &json!({ "judge_enabled": false }));
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let rescue = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/symphony/rescue/",
    ]);
    assert_eq!(rescue.lines().count(), 1, "{rescue}");
    let saved = project.git(&["ls-tree", "--name-only", &rescue]);
    assert_eq!(saved, "README.md\nhello.txt\nloose.txt\nmore.txt");
    assert_eq!(
        project.git(&["ls-tree", "--name-only", "symphony/SYM-1"]),
        "README.md\nhello.txt"
    );
    assert_eq!(
        project.run(&text(&run["id"]))["metadata"]["left_behind"],
        json!([{ "kind": "put_aside", "path": rescue }])
    );
    let [item] = inbox(&project).try_into().unwrap();
    let show = format!("git log -p {rescue}");
    assert!(
        item["answers"].as_array().unwrap().contains(&json!(show)),
        "{item:#}"
    );
    assert!(text(&item["text"]).contains(&rescue), "{item:#}");
    let comments = &project.issue("SYM-1")["comments"];
    assert!(
        text(&comments[0]["content"]).contains(&show),
        "{comments:#}"
    );
    let events = project.ok(&["events", "--issue", "SYM-1"]);
    assert!(
        events.contains(&format!(
            "Work on SYM-1 after its hand-in was saved as {rescue}"
        )),
        "{events}"
    );
    project.assert_sound();
}

#[test]
fn a_copied_file_is_refused_by_path_however_short_its_values() {
    let all = git_commit("-f hello.txt .env", "everything");
    let again = "git reset -q --soft main && git reset -q -- .env && git -c user.name=w -c user.email=w@example.invalid commit -qm hello";
    let scenarios = scenarios([worker([
        bash(&format!("echo hello > hello.txt && {all}")),
        create_pr("With the PIN"),
        bash(again),
        create_pr("Without it"),
    ])]);
    let project = Project::new("project", &scenarios, &json!({}));
    std::fs::write(project.root.join(".env"), "PIN=1234\n").unwrap();
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let errors = project.tool_errors(&text(&run["id"]));
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(
        errors[0].contains("the file .env, which Symphony copied"),
        "{errors:#?}"
    );
    let head = text(&project.issue("SYM-1")["pull_requests"][0]["head_commit"]);
    assert_eq!(
        project.git(&["ls-tree", "-r", "--name-only", &head]),
        "README.md\nhello.txt"
    );
    project.assert_sound();
}

/// Two phases, the second of which needs the work of the first.
fn two_phases(project: &Project) {
    std::fs::write(
        project.root.join("plan.md"),
        plan_of(&[("lib", &[]), ("app", &["lib"])]),
    )
    .unwrap();
    project.git(&["add", "plan.md"]);
    project.git(&["commit", "-qm", "a plan"]);
}

fn app() -> Value {
    // it finds what it depends on, or fails
    scenario(
        "app",
        &of_phase("app"),
        [bash("cat lib/work.txt > app.txt"), complete(&json!([]))],
    )
}

#[test]
fn a_phase_with_a_nested_repository_is_refused_and_its_dependants_find_the_work() {
    let absorb = json!({ "outcome": "complete", "artifacts": [], "absorb": true });
    let lib = scenario(
        "lib",
        &of_phase("lib"),
        [
            bash(&format!(
                "{} && {}",
                nest("lib"),
                git_commit("-A", "everything")
            )),
            complete(&json!([])),
            turn(call("mcp__symphony__complete_phase", absorb)),
        ],
    );
    let project = Project::new("project", &scenarios([lib, app()]), &json!({ "gates": [] }));
    two_phases(&project);
    let answer = PlanRun::start(&project, &["plan.md", "--json"]).answer();
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_eq!(project.git(&["show", "main:lib/work.txt"]), "by phase");
    assert_eq!(project.git(&["show", "main:app.txt"]), "by phase");
}

#[test]
fn a_phase_that_just_exits_with_a_nested_repository_is_not_complete() {
    let lib = scenario("lib", &of_phase("lib"), [bash(&nest("lib"))]);
    let project = Project::new("project", &scenarios([lib, app()]), &json!({ "gates": [] }));
    two_phases(&project);
    // without a check a clean exit would say nothing about the phase
    let plan = project.root.join("plan.md");
    let text_of = std::fs::read_to_string(&plan).unwrap();
    let check = "\"checks\": [{\"name\": \"readme\", \"file\": \"README.md\"}], \"id\": \"lib\"";
    std::fs::write(&plan, text_of.replacen("\"id\": \"lib\"", check, 1)).unwrap();
    let run = PlanRun::start(&project, &["plan.md", "--json"]);
    let phase = until_phase(&project, "lib", "awaiting_decision");
    let error = text(&phase["error"]);
    assert!(error.contains("another git repository (lib)"), "{error}");
    let [item] = inbox(&project).try_into().unwrap();
    assert_eq!(
        item["answers"][1],
        "symphony plan retry --plan plan lib --absorb"
    );
    run.kill();
}

#[test]
fn what_the_set_up_left_is_nobodys_work_until_an_agent_changes_it() {
    // it rewrites a lock file that is committed, and fills a folder that git does not ignore
    let set_up = "echo rewritten >> lock.txt && mkdir -p pack && echo one > pack/one.txt && echo made > made.txt";
    let own = git_commit("hello.txt", "hello");
    let scenarios = scenarios([
        // a first run ends in the middle of its work; the note names what is not its own
        scenario(
            "begins",
            &json!({ "match_system": WORKER, "match_prompt": "lock.txt", "uses": 1 }),
            [bash("echo half > half.txt")],
        ),
        worker([
            bash(&format!(
                "cat pack/one.txt lock.txt && echo more >> made.txt && git add made.txt && echo hello > hello.txt && {own}"
            )),
            create_pr("Say hello"),
        ]),
    ]);
    let project = Project::new(
        "project",
        &scenarios,
        &json!({ "judge_enabled": false, "worktree": { "setup": set_up } }),
    );
    project.commit_files(&[("lock.txt", "committed\n")]);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let user = project.run_file(&text(&run["id"]), "user-prompt.md");
    for name in ["lock.txt", "made.txt", "pack/one.txt"] {
        assert!(user.contains(name), "{name}: {user}");
    }
    let files = || project.git(&["ls-tree", "-r", "--name-only", "symphony/SYM-1"]);
    assert_eq!(files(), "README.md\nhalf.txt\nlock.txt");

    let run = until("the next run", || {
        project
            .tick_wait()
            .into_iter()
            .find(|run| run["profile"] == "worker")
    });
    assert_eq!(project.tool_errors(&text(&run["id"])), [""; 0]);
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["state"], "open", "{pr:#}");
    // what it changed is its own work
    assert_eq!(
        files(),
        "README.md\nhalf.txt\nhello.txt\nlock.txt\nmade.txt"
    );
    assert_eq!(
        project.git(&["show", "symphony/SYM-1:lock.txt"]),
        "committed"
    );
    // the folder of packages is there for the next run
    assert!(project.worktree("SYM-1").join("pack/one.txt").exists());
    project.assert_sound();
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["for-each-ref", "refs/symphony/rescue"]), "");
    project.assert_sound();
}

#[test]
fn what_the_set_up_made_and_an_agent_commits_all_the_same_is_named() {
    let set_up = "echo rewritten >> package-lock.json && mkdir -p pack && echo one > pack/one.txt && echo made > made.txt";
    let everything = git_commit("-A", "everything");
    let scenarios = scenarios([worker([
        bash(&format!(
            "echo more >> made.txt && echo hello > hello.txt && {everything}"
        )),
        create_pr("Say hello"),
    ])]);
    let project = Project::new(
        "project",
        &scenarios,
        &json!({ "judge_enabled": false, "worktree": { "setup": set_up } }),
    );
    project.commit_files(&[("package-lock.json", "{}\n")]);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    // what the agent changed itself is its own; no manifest explains the lock file
    let named = json!(["pack/one.txt", "package-lock.json"]);
    assert_eq!(run["metadata"]["committed_by_products"], named, "{run:#}");
    let pr = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(pr["state"], "open", "it is named, not refused: {pr:#}");
    assert_eq!(pr["by_products"], named, "{pr:#}");
    let run = text(&run["id"]);
    for look in [["pr", "show", "SYM-1"].as_slice(), &["runs", "show", &run]] {
        let shown = project.ok(look);
        let list =
            "Created by the set-up and committed unchanged\npack/one.txt\npackage-lock.json\n";
        assert!(shown.contains(list), "{look:?}: {shown}");
    }
    project.assert_sound();
}

#[cfg(feature = "failpoints")]
mod deaths {
    use symphony_workspace::Failpoint;

    use super::*;
    use crate::deaths::{Deaths, FINISH, Row, SUPERVISE};
    use crate::support::until;

    /// A supervisor that dies anywhere between the rescue ref and the record leaves a ref that the next one reports.
    #[test]
    fn later_work_is_reported_whoever_dies_between_its_rescue_and_the_record() {
        let rows: [Row; 5] = [
            &[(Failpoint::ResetSaved, SUPERVISE)],
            &[(Failpoint::ResetMoved, SUPERVISE)],
            &[(Failpoint::ResetOverwritten, SUPERVISE)],
            &[(Failpoint::FinishSettled, SUPERVISE)],
            &[
                (Failpoint::ResetSaved, SUPERVISE),
                (Failpoint::FinishSettled, FINISH),
            ],
        ];
        for row in rows {
            let (hello, more) = (
                git_commit("hello.txt", "hello"),
                git_commit("more.txt", "more"),
            );
            let scenarios = scenarios([worker([
                bash(&format!("echo hello > hello.txt && {hello}")),
                create_pr("Hello"),
                bash(&format!("echo more > more.txt && {more}")),
            ])]);
            let mut project =
                Project::new("project", &scenarios, &json!({ "judge_enabled": false }));
            project.add_issue("Say hello");
            let deaths = Deaths::arm(&mut project, row);
            // the next ticks do the exit handling of those that died
            let worker = until("the run ends", || {
                project.symphony(&["tick", "--wait"]);
                let runs = project.json(&["runs", "list"]);
                let runs = runs["items"].as_array().unwrap();
                let worker = runs.iter().find(|run| run["profile"] == "worker")?;
                let worker = project.run(&text(&worker["id"]));
                (!worker["ended_at"].is_null()).then_some(worker)
            });
            assert_eq!(deaths.count(), row.len(), "{row:?}");
            let refs = project.git(&[
                "for-each-ref",
                "--format=%(refname)",
                "refs/symphony/rescue/SYM-1/",
            ]);
            let saved: Vec<&str> = refs.lines().collect();
            assert!(!saved.is_empty(), "{row:?}");
            let left = worker["metadata"]["left_behind"].as_array();
            let left = left.unwrap_or_else(|| panic!("{row:?}: {worker:#}"));
            let reported: Vec<&str> = left
                .iter()
                .filter(|left| left["kind"] == "put_aside")
                .filter_map(|left| left["path"].as_str())
                .collect();
            assert_eq!(reported, saved, "{row:?}");
            let item = inbox(&project)
                .into_iter()
                .find(|item| item["kind"] == "left_behind");
            let item = item.unwrap();
            assert!(text(&item["text"]).contains(saved[0]), "{item:#}");
        }
    }
}
