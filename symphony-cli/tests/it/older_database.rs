//! An older copy of the project's own database: refused, and accepted only with numbers above all that were given out.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Answer, Project, WORKER, commit, create_pr, scenario, scenarios, text};

fn project(name: &str) -> Project {
    let greets = scenario(
        "greets",
        &json!({ "match_system": WORKER }),
        [commit("hello.txt", "hello"), create_pr("Greet")],
    );
    Project::new(
        name,
        &scenarios([greets]),
        &json!({ "judge_enabled": false }),
    )
}

fn database(project: &Project) -> PathBuf {
    project.root.join(".symphony/symphony.db")
}

fn marks(project: &Project) -> [PathBuf; 2] {
    [".symphony/symphony.mark.json", ".git/symphony-mark.json"].map(|name| project.root.join(name))
}

fn mark(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Puts a file in the place of the database, as `cp` does.
fn put(project: &Project, file: &Path) {
    for ending in ["-wal", "-shm"] {
        let _absent = std::fs::remove_file(format!("{}{ending}", database(project).display()));
    }
    std::fs::copy(file, database(project)).unwrap();
}

/// Keeps the database as it is, as a copy that somebody made while nothing was at work.
fn copied(project: &Project, name: &str) -> PathBuf {
    let copy = project.beside.join(name);
    std::fs::copy(database(project), &copy).unwrap();
    copy
}

fn assert_older(project: &Project) -> Answer {
    for command in [
        &["status"][..],
        &["inbox"],
        &["tick"],
        &["issue", "add", "Another one"],
        &["doctor", "--audit"],
    ] {
        let answer = project.symphony(command);
        assert_eq!(answer.code, 4, "{command:?}: {answer:#?}");
        assert!(
            answer.stderr.contains(
                "it is an older copy of this repository's database: its log ends at entry "
            ),
            "{command:?}: {answer:#?}"
        );
        assert!(
            answer.stderr.contains("`symphony db restore --keep`"),
            "{command:?}: {answer:#?}"
        );
    }
    let doctor = project.symphony(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:#?}");
    assert!(doctor.stdout.contains("it is an older copy"), "{doctor:#?}");
    doctor
}

/// A project whose first issue is merged and whose second has work, with a copy of the database from before all of that.
fn rolled_back(name: &str) -> Project {
    let project = project(name);
    project.add_issue("Greet");
    let old = copied(&project, "old.db");
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "merge", "SYM-1"]);
    project.add_issue("Greet again");
    project.add_issue("Greet a third time");
    put(&project, &old);
    project
}

#[test]
fn an_older_copy_of_the_database_is_refused_and_starts_nothing_again() {
    let project = rolled_back("older");
    let before = std::fs::read(database(&project)).unwrap();
    assert_older(&project);
    assert_eq!(std::fs::read(database(&project)).unwrap(), before);

    // the mark in the git folder is enough: the whole folder was put back from an older copy
    std::fs::remove_file(&marks(&project)[0]).unwrap();
    assert_older(&project);

    // the newest backup is of the first tick, which knew one issue; its numbers are raised all the same
    let restored = project.json(&["db", "restore"]);
    assert_eq!(
        restored["next_numbers"],
        json!([{ "project": "older", "number": 4 }])
    );
    assert_eq!(project.add_issue("Greet a fourth time"), "SYM-4");
    for path in marks(&project) {
        let mark = mark(&path);
        assert_eq!(mark["restores"], 1, "{mark:#}");
        assert_eq!(mark["next_numbers"]["older"], 5, "{mark:#}");
    }
    // what was replaced is an older copy from now on
    put(&project, &project.beside.join("old.db"));
    let doctor = assert_older(&project);
    assert!(doctor.stdout.contains("after 1 restore"), "{doctor:#?}");
}

#[test]
fn an_older_copy_is_kept_on_purpose_with_numbers_above_all_that_were_given_out() {
    let project = rolled_back("kept");
    let fence = mark(&marks(&project)[0])["fence"].as_u64().unwrap();
    assert!(fence >= 2, "the worker and its gates had one each: {fence}");
    let kept = project.symphony(&["db", "restore", "--keep"]);
    assert_eq!(kept.code, 0, "{kept:#?}");
    assert!(kept.stdout.contains("Kept "), "{kept:#?}");
    assert!(
        kept.stdout.contains("new issues of kept continue from 4"),
        "{kept:#?}"
    );
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "todo", "{issue:#}");
    assert_eq!(project.add_issue("Greet a fourth time"), "SYM-4");
    project.ok(&[
        "issue",
        "close",
        "SYM-1",
        "--cancelled",
        "--reason",
        "it is merged",
    ]);
    let run = project.tick_one("worker", "succeeded");
    let store = symphony_store::Store::open_existing(&database(&project)).unwrap();
    let run = store.run(&text(&run["id"]).parse().unwrap()).unwrap();
    assert!(run.fence.get().unsigned_abs() > fence, "{run:?}");
    drop(store);
    // a second time there is nothing to accept, and no harm in it
    project.ok(&["db", "restore", "--keep"]);
    assert_eq!(mark(&marks(&project)[0])["restores"], 1);
    project.ok(&["status"]);
    assert_eq!(mark(&marks(&project)[0])["restores"], 2);
}

#[test]
fn what_was_done_in_one_repository_is_noted_in_all_that_share_the_database() {
    let project = project("shared");
    let other = project.beside.join("other");
    project.git(&["clone", "-q", ".", other.to_str().unwrap()]);
    project.ok(&["project", "add", other.to_str().unwrap(), "--prefix", "OTH"]);
    let [beside, in_git_dir] = marks(&project);
    let (old, old_mark) = (copied(&project, "old.db"), std::fs::read(&beside).unwrap());
    for title in ["Greet", "Greet again"] {
        project.ok(&["-C", other.to_str().unwrap(), "issue", "add", title]);
    }
    for path in [&beside, &in_git_dir, &other.join(".git/symphony-mark.json")] {
        assert_eq!(mark(path)["next_numbers"]["other"], 3, "{path:?}");
    }
    // the older copy of the whole folder, which only the repositories contradict
    put(&project, &old);
    std::fs::write(&beside, old_mark).unwrap();
    assert_older(&project);
    // a repository that does not exist now keeps nobody from noting it
    project.ok(&["db", "restore", "--keep"]);
    std::fs::rename(&other, project.beside.join("away")).unwrap();
    project.add_issue("Greet");
    assert_eq!(mark(&in_git_dir)["next_numbers"]["shared"], 2);
}

#[test]
fn a_database_without_a_mark_gets_one_and_a_mark_that_is_none_stops_nobody() {
    let project = project("unmarked");
    project.add_issue("Greet");
    for path in marks(&project) {
        std::fs::remove_file(&path).unwrap();
    }
    project.ok(&["status"]);
    // as a power cut leaves a file that was not waited for
    for path in marks(&project) {
        assert_eq!(mark(&path)["next_numbers"]["unmarked"], 2);
        std::fs::write(&path, "").unwrap();
    }
    project.ok(&["status"]);
    for path in marks(&project) {
        assert_eq!(mark(&path)["next_numbers"]["unmarked"], 2);
        // a pipe keeps nobody waiting, and is replaced
        std::fs::remove_file(&path).unwrap();
        let made = project.program("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
    }
    project.ok(&["status"]);
    for path in marks(&project) {
        assert_eq!(mark(&path)["next_numbers"]["unmarked"], 2);
    }
    // a mark that cannot be written is a warning, and the commands work
    let [beside, _] = marks(&project);
    std::fs::remove_file(&beside).unwrap();
    std::fs::create_dir(&beside).unwrap();
    project.ok(&["status"]);
    let doctor = project.symphony(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("Symphony cannot record the database's progress"),
        "{doctor:#?}"
    );
}

#[test]
fn a_project_that_was_removed_and_added_again_or_moved_keeps_its_mark() {
    let project = project("left");
    project.add_issue("Greet");
    let old = copied(&project, "old.db");
    project.add_issue("Greet again");
    project.ok(&["project", "remove", "left", "--worktrees", "keep"]);
    project.ok(&["init", "--prefix", "SYM", "--no-try"]);
    assert_eq!(project.add_issue("Greet a third time"), "SYM-3");
    let new = project.beside.join("after");
    std::fs::rename(&project.root, &new).unwrap();
    let symphony = |arguments: &[&str]| {
        let mut command = project.program(env!("CARGO_BIN_EXE_symphony"));
        command.current_dir(&new).args(arguments);
        Answer::from(command.output().unwrap())
    };
    let listed = symphony(&["issue", "list"]);
    assert_eq!(listed.code, 0, "{listed:#?}");
    // the older copy knows the project at its old place, and is refused all the same
    std::fs::copy(&old, new.join(".symphony/symphony.db")).unwrap();
    let refused = symphony(&["issue", "list"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("it is an older copy"),
        "{refused:#?}"
    );
    let kept = symphony(&["db", "restore", "--keep"]);
    assert_eq!(kept.code, 0, "{kept:#?}");
    let added = symphony(&["issue", "add", "Greet a fourth time", "--json"]);
    assert_eq!(text(&added.json()["identifier"]), "SYM-4", "{added:#?}");
}

#[test]
fn the_mark_of_one_database_says_nothing_about_another_one() {
    let project = project("two");
    project.add_issue("Greet");
    let other = self::project("other");
    for title in ["One", "Two", "Three", "Four"] {
        other.add_issue(title);
    }
    // the mark of the other installation, which had come further, in the place of the own one
    for (from, to) in marks(&other).iter().zip(marks(&project)) {
        std::fs::copy(from, to).unwrap();
    }
    project.ok(&["status"]);
    assert_eq!(mark(&marks(&project)[0])["next_numbers"]["two"], 2);
    assert_eq!(project.add_issue("Greet again"), "SYM-2");
    // an empty database begins a new installation, above all that the old one had given out
    let old = copied(&project, "old.db");
    project.ok(&["db", "restore", "--empty", "--prefix", "SYM", "--yes"]);
    assert_eq!(project.add_issue("Begin again"), "SYM-3");
    put(&project, &old);
    let refused = project.symphony(&["status"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused
            .stderr
            .contains("it belongs to another installation"),
        "{refused:#?}"
    );
}

/// Marks lie where agents write: one that nobody can have counted must not use up the numbers, or refuse every database.
#[test]
fn a_forged_mark_leaves_numbers_for_what_comes() {
    let project = rolled_back("forged");
    let [_, in_git_dir] = marks(&project);
    let genuine = mark(&in_git_dir);
    for (field, value, is_refused) in [
        ("restores", json!(u64::MAX), false),
        ("fence", json!(i64::MAX), true),
        ("next_numbers", json!({ "forged": i64::MAX }), true),
    ] {
        let mut forged = genuine.clone();
        forged["restores"] = mark(&in_git_dir)["restores"].clone();
        forged["position"] = json!(i64::MAX);
        forged[field] = value;
        std::fs::write(&in_git_dir, forged.to_string()).unwrap();
        if is_refused {
            assert_older(&project);
        }
        project.ok(&["db", "restore", "--keep"]);
        project.ok(&["status"]);
        let added = project.add_issue("Next");
        assert!(added.len() <= "SYM-99".len(), "{field}");
    }
    project.ok(&["tick", "--wait"]);
}
