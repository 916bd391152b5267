//! A database that is lost: refused whatever is in its place, restored with nothing adopted twice.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Project, WORKER, call, commit, create_pr, scenario, scenarios, text, turn};

/// A worker that greets, whatever the issue.
fn greets() -> Value {
    scenario(
        "greets",
        &json!({ "match_system": WORKER }),
        [commit("hello.txt", "hello"), create_pr("Greet")],
    )
}

fn project(name: &str) -> Project {
    Project::new(
        name,
        &scenarios([greets()]),
        &json!({ "judge_enabled": false }),
    )
}

fn database(project: &Project) -> PathBuf {
    project.root.join(".symphony/symphony.db")
}

fn remove_database(project: &Project) {
    for ending in ["", "-wal", "-shm"] {
        let file = format!("{}{ending}", database(project).display());
        let _absent = std::fs::remove_file(file);
    }
}

/// The backups of all installations of the test's home folder.
fn backups(project: &Project) -> Vec<PathBuf> {
    let state = project.beside.join("home/.local/state/symphony");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(state).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
            if file.path().extension().is_some_and(|ending| ending == "db") {
                found.push(file.path());
            }
        }
    }
    found.sort();
    found
}

/// Says that every kind of command refuses the database and names the way back.
fn assert_refused(project: &Project, what: &str) {
    let commands: [&[&str]; 9] = [
        &["issue", "list"],
        &["issue", "add", "Another one"],
        &["tick"],
        &["status"],
        &["inbox"],
        &["init"],
        &["db", "check"],
        &["run", "--until-idle"],
        &["doctor", "--audit"],
    ];
    for command in commands {
        let answer = project.symphony(command);
        assert_eq!(answer.code, 4, "{command:?}: {answer:#?}");
        assert!(answer.stderr.contains(what), "{command:?}: {answer:#?}");
        assert!(
            answer.stderr.contains("symphony db restore"),
            "{command:?}: {answer:#?}"
        );
    }
    let doctor = project.symphony(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:#?}");
    assert!(doctor.stdout.contains(what), "{doctor:#?}");
}

/// A project with one reviewed issue, whose branch has work.
fn with_work(name: &str) -> (Project, String) {
    let project = project(name);
    project.add_issue("Greet");
    project.tick_one("worker", "succeeded");
    let head = project.git(&["rev-parse", "symphony/SYM-1"]);
    (project, head)
}

#[test]
fn a_database_that_is_deleted_or_cut_off_is_refused_and_never_begins_at_one_again() {
    let (project, head) = with_work("lost");
    let whole = std::fs::read(database(&project)).unwrap();
    remove_database(&project);
    assert_refused(
        &project,
        "it is missing, but Symphony has worked here before: found 2 runs, 1 branch (symphony/SYM-1)",
    );
    assert!(!database(&project).exists());

    std::fs::write(database(&project), "").unwrap();
    assert_refused(&project, "it is empty, but Symphony has worked here before");
    // naming the same empty file again would change nothing
    let hint = project.symphony(&["status"]).stderr;
    assert!(!hint.contains("config set database"), "{hint}");
    assert_eq!(database(&project).metadata().unwrap().len(), 0);

    // the marker beside the runs is gone, too: branches tell of the work, and the git folder has another marker
    std::fs::remove_dir_all(project.root.join(".symphony")).unwrap();
    assert_refused(
        &project,
        "it is missing, but Symphony has worked here before: found 1 branch",
    );
    std::fs::remove_file(project.root.join(".git/symphony-installation.json")).unwrap();
    assert_refused(&project, "1 branch (symphony/SYM-1), 1 worktree (SYM-1)");
    assert_eq!(project.git(&["rev-parse", "symphony/SYM-1"]), head);

    // cut off in the middle: SQLite notices, and the way back is named
    std::fs::create_dir_all(database(&project).parent().unwrap()).unwrap();
    std::fs::write(database(&project), &whole[..8192]).unwrap();
    let cut = project.symphony(&["issue", "list"]);
    assert_eq!(cut.code, 1, "{cut:#?}");
    assert!(cut.stderr.contains("symphony db restore"), "{cut:#?}");
    assert_eq!(database(&project).metadata().unwrap().len(), 8192);
}

#[test]
fn a_backlog_without_any_run_is_not_forgotten() {
    let project = project("backlog");
    project.add_issue("Greet");
    project.ok(&["pause"]);
    project.ok(&["tick"]);
    assert_eq!(backups(&project).len(), 1);
    std::fs::remove_dir_all(project.root.join(".symphony")).unwrap();
    assert_refused(&project, "found a note that names project backlog");
    project.ok(&["db", "restore"]);
    assert_eq!(project.issue("SYM-1")["title"], "Greet");
}

#[test]
fn the_database_of_another_installation_is_refused() {
    let (project, _) = with_work("own");
    let other = self::project("other");
    other.add_issue("Somebody else's");
    remove_database(&project);
    other.ok(&["db", "backup", database(&project).to_str().unwrap()]);
    let before = std::fs::read(database(&project)).unwrap();
    assert_refused(&project, "it belongs to another installation");
    // looked at, and not changed
    assert_eq!(std::fs::read(database(&project)).unwrap(), before);
    let foreign = project.symphony(&["db", "restore", database(&other).to_str().unwrap()]);
    assert_eq!(foreign.code, 4, "{foreign:#?}");
    assert!(
        foreign.stderr.contains("it has no record of"),
        "{foreign:#?}"
    );
}

#[test]
fn git_clean_is_refused_restored_and_the_issue_goes_on() {
    let (project, head) = with_work("cleaned");
    // the first tick made a backup as it started the run; an hour later there is another one
    let first = newest(&project);
    std::fs::rename(&first, first.with_file_name("20260101T000000Z-e1.db")).unwrap();
    project.ok(&["tick"]);
    let backup = newest(&project);
    assert_eq!(backups(&project).len(), 2);
    // nothing has changed, and the hour has not passed
    project.ok(&["tick"]);
    assert_eq!(backups(&project).len(), 2);
    // work that the backup does not know
    project.add_issue("Greet again");
    project.tick_one("worker", "succeeded");
    let lost = project.git(&["rev-parse", "symphony/SYM-2"]);

    project.git(&["clean", "-fdx", "-q"]);
    assert!(!project.root.join(".symphony").exists());
    assert!(!project.root.join("symphony.config.json").exists());
    assert_refused(
        &project,
        "it is missing, but Symphony has worked here before",
    );

    let restored = project.json(&["db", "restore"]);
    assert_eq!(text(&restored["backup"]), backup.display().to_string());
    assert_eq!(restored["config_restored"], true);
    assert_eq!(
        restored["next_numbers"],
        json!([{ "project": "cleaned", "number": 3 }])
    );
    // the pull request is there with its work, and is merged
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "review", "{issue:#}");
    assert_eq!(project.git(&["rev-parse", "symphony/SYM-1"]), head);
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    // the number of the lost issue is not given out again, and its work is where it was
    assert_eq!(project.add_issue("Greet a third time"), "SYM-3");
    assert_eq!(project.git(&["rev-parse", "symphony/SYM-2"]), lost);
    project.tick_one("worker", "succeeded");
    assert_eq!(project.git(&["show", "symphony/SYM-3:hello.txt"]), "hello");
}

/// The newest backup.
fn newest(project: &Project) -> PathBuf {
    backups(project).pop().expect("a tick has made a backup")
}

#[test]
fn a_restore_is_refused_while_somebody_is_at_work() {
    let waits = scenario(
        "waits",
        &json!({ "match_system": WORKER }),
        [
            turn(call(
                "Bash",
                json!({ "command": "while ! test -e go; do sleep 0.05; done" }),
            )),
            commit("hello.txt", "hello"),
            create_pr("Greet"),
        ],
    );
    let project = Project::new(
        "held",
        &scenarios([waits]),
        &json!({ "judge_enabled": false }),
    );
    project.add_issue("Greet");
    let run = project.tick_start();
    let refused = project.symphony(&["db", "restore"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        ["at work", "open", &run]
            .iter()
            .any(|told| refused.stderr.contains(told)),
        "{refused:#?}"
    );
    let refused = project.symphony(&["db", "restore", "--empty"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    // the database's own processes are gone, its runs are not
    remove_database(&project);
    let refused = project.symphony(&["db", "restore"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(refused.stderr.contains(&run), "{refused:#?}");

    // a tick that is at work
    let (idle, _) = with_work("ticking");
    let lock = std::fs::OpenOptions::new()
        .write(true)
        .open(idle.root.join(".symphony/symphony.tick.lock"))
        .unwrap();
    lock.lock().unwrap();
    let refused = idle.symphony(&["db", "restore"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("a tick is using this database"),
        "{refused:#?}"
    );
}

#[test]
fn a_new_beginning_goes_on_above_every_number_that_was_seen() {
    let (project, head) = with_work("anew");
    project.git(&["branch", "symphony/SYM-7", "main"]);
    project.git(&[
        "update-ref",
        "refs/symphony/rescue/SYM-9/20260101T000000Z",
        "main",
    ]);
    remove_database(&project);
    let begun = project.json(&["db", "restore", "--empty"]);
    assert_eq!(
        begun["next_numbers"],
        json!([{ "project": "anew", "number": 10 }])
    );
    assert_eq!(project.add_issue("Greet"), "SYM-10");
    let run = project.tick_one("worker", "succeeded");
    assert_eq!(project.git(&["rev-parse", "symphony/SYM-1"]), head);
    // the lost run had fencing number 1
    let store = symphony_store::Store::open_existing(&database(&project)).unwrap();
    let run = store.run(&text(&run["id"]).parse().unwrap()).unwrap();
    assert!(run.fence.get() >= 2, "{run:?}");
    drop(store);
    // on purpose, with a database that is whole: it is kept aside and as a backup
    let refused = project.symphony(&["db", "restore", "--empty"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    let lost = "with an empty one would lose 1 issue (SYM-10) and 2 runs";
    assert!(refused.stderr.contains(lost), "{refused:#?}");
    let again = project.json(&["db", "restore", "--empty", "--yes"]);
    assert!(Path::new(&text(&again["replaced"])).is_file(), "{again:#}");
    assert_eq!(project.add_issue("Greet"), "SYM-11");
}

#[test]
fn an_intact_database_is_replaced_only_when_a_person_confirms_it_and_can_be_had_back() {
    let (project, _) = with_work("intact");
    let old = project.beside.join("old.db");
    let old = old.to_str().unwrap();
    project.ok(&["db", "backup", old]);
    project.ok(&["pr", "merge", "SYM-1"]);
    project.add_issue("Greet again");

    let refused = project.symphony(&["db", "restore", old]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    for told in [
        "is intact; replacing it with ",
        "would lose 1 issue (SYM-2) and changes to 1 issue (SYM-1); ",
        "its newest entry is from ",
        "that of the backup from ",
        &format!("`symphony db restore {old} --yes` replaces it"),
    ] {
        assert!(refused.stderr.contains(told), "{told}: {refused:#?}");
    }
    assert_eq!(project.issue("SYM-2")["status"], "todo");

    // what an agent would do again is found: the base has it, and the database does not know
    project.ok(&["db", "restore", "--empty", "--yes"]);
    project.ok(&["db", "restore", old, "--yes"]);
    project.ok(&["pr", "close", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "todo");
    let audit = project.symphony(&["doctor", "--audit"]);
    assert_eq!(audit.code, 1, "{audit:#?}");
    let found = "SYM-1: it is in `todo`, but main has its merge (";
    assert!(audit.stdout.contains(found), "{audit:#?}");
    project.ok(&["issue", "close", "SYM-1", "--done", "--reason", "merged"]);
    let audit = project.symphony(&["doctor", "--audit"]);
    assert!(!audit.stdout.contains("SYM-1: it is"), "{audit:#?}");

    // each file that was replaced is kept, however fast the restores follow each other
    let restored = project.json(&["db", "restore", old, "--yes"]);
    let replaced = text(&restored["replaced"]);
    assert_eq!(
        text(&restored["undo"]),
        format!("symphony db restore {replaced} --yes")
    );
    let kept = std::fs::read(&replaced).unwrap();
    let undone = project.json(&["db", "restore", &replaced, "--yes"]);
    assert_ne!(undone["replaced"], restored["replaced"]);
    assert_eq!(std::fs::read(&replaced).unwrap(), kept);
    assert_eq!(project.issue("SYM-1")["status"], "done");
}

#[test]
fn a_repository_that_was_moved_is_found_again_and_a_copy_is_refused() {
    let (project, head) = with_work("before");
    let new = project.beside.join("after");
    std::fs::rename(&project.root, &new).unwrap();
    let at = new.to_str().unwrap();
    // the root is gone: commands start beside it
    let symphony = |arguments: &[&str]| {
        let mut command = project.program(env!("CARGO_BIN_EXE_symphony"));
        command
            .current_dir(&project.beside)
            .args(["-C", at])
            .args(arguments);
        crate::support::Answer::from(command.output().unwrap())
    };
    let shown = symphony(&["project", "show", "--json"]);
    assert_eq!(shown.code, 0, "{shown:#?}");
    assert_eq!(text(&shown.json()["root"]), at);
    assert_eq!(symphony(&["doctor", "--audit"]).code, 0);
    let merged = symphony(&["pr", "merge", "SYM-1"]);
    assert_eq!(merged.code, 0, "{merged:#?}");
    // a rejected issue would go on in its worktree: git finds it
    let worktree = new.join(".symphony-workspaces/SYM-1");
    if worktree.exists() {
        let mut git = project.program("git");
        git.current_dir(&worktree).args(["rev-parse", "HEAD"]);
        let answer = crate::support::Answer::from(git.output().unwrap());
        assert_eq!(answer.stdout.trim(), head, "{answer:#?}");
    }

    let copy = project.beside.join("copy");
    let mut cp = project.program("cp");
    cp.current_dir(&project.beside)
        .args(["-a", at, copy.to_str().unwrap()]);
    assert!(cp.output().unwrap().status.success());
    let at = copy.to_str().unwrap();
    let mut command = project.program(env!("CARGO_BIN_EXE_symphony"));
    command
        .current_dir(&project.beside)
        .args(["-C", at, "tick"]);
    let refused = crate::support::Answer::from(command.output().unwrap());
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("is a copy of project before"),
        "{refused:#?}"
    );
}

#[test]
fn a_branch_that_the_database_does_not_know_is_saved_and_the_run_begins_from_the_base() {
    let project = project("unknown");
    project.git(&["branch", "symphony/SYM-1", "main"]);
    let worktree = project.worktree("SYM-1");
    let at = worktree.to_str().unwrap();
    project.git(&["worktree", "add", "-q", at, "symphony/SYM-1"]);
    let in_worktree = |arguments: &[&str]| project.git(&[&["-C", at], arguments].concat());
    std::fs::write(worktree.join("old.txt"), "old").unwrap();
    in_worktree(&["add", "old.txt"]);
    in_worktree(&["commit", "-q", "-m", "somebody's work"]);
    let head = project.git(&["rev-parse", "symphony/SYM-1"]);
    std::fs::write(worktree.join("uncommitted.txt"), "more").unwrap();

    project.add_issue("Greet");
    let doctor = project.ok(&["doctor"]);
    assert!(doctor.contains("symphony/SYM-1"), "{doctor}");
    project.tick_one("worker", "succeeded");
    let files = project.git(&["ls-tree", "--name-only", "symphony/SYM-1"]);
    assert!(
        !files.contains("old.txt") && files.contains("hello.txt"),
        "{files}"
    );
    let refs = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/symphony/rescue/SYM-1/",
    ]);
    let rescues: Vec<&str> = refs.lines().collect();
    assert_eq!(rescues.len(), 2, "{refs}");
    assert!(
        rescues
            .iter()
            .any(|name| project.git(&["rev-parse", name]) == head)
    );
    let saved = rescues
        .iter()
        .find(|name| project.git(&["rev-parse", name]) != head)
        .unwrap();
    assert_eq!(
        project.git(&["show", &format!("{saved}:uncommitted.txt")]),
        "more"
    );
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("existed before its first run"), "{inbox}");
    // merged: nothing is left to decide
    project.ok(&["pr", "merge", "SYM-1"]);
    assert!(!project.ok(&["inbox"]).contains("existed before"));
}

#[test]
fn branches_below_the_name_of_an_issues_branch_are_saved_and_make_room() {
    let project = project("below");
    project.git(&["switch", "-q", "-c", "symphony/SYM-1/other"]);
    project.commit_files(&[("old.txt", "old")]);
    let head = project.git(&["rev-parse", "HEAD"]);
    project.git(&["switch", "-q", "main"]);
    project.add_issue("Greet");
    project.tick_one("worker", "succeeded");
    let rescue = project.git(&[
        "for-each-ref",
        "--format=%(objectname)",
        "refs/symphony/rescue/SYM-1/",
    ]);
    assert_eq!(rescue, head);
    let branches = project.git(&[
        "for-each-ref",
        "--format=%(refname:short)",
        "refs/heads/symphony/",
    ]);
    assert_eq!(branches, "symphony/SYM-1");
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains("existed before its first run"), "{inbox}");
    project.assert_sound();
}
