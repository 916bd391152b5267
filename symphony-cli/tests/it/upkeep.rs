//! The backlog in and out of files; the database and old logs looked after.

use serde_json::{Value, json};

use crate::records::failed_run;
use crate::support::{Project, scenarios, text};

fn project() -> Project {
    Project::new("place", &scenarios([]), &json!({}))
}

/// The issues of a project as an export has them.
fn exported(project: &Project) -> Vec<Value> {
    let text = project.ok(&["issue", "export"]);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_backlog_goes_to_another_project_in_both_formats() {
    let from = project();
    let first = text(&from.json(&["issue", "add", "First", "--priority", "high"])["identifier"]);
    from.ok(&[
        "issue",
        "add",
        "Second",
        "--depends-on",
        &first,
        "--label",
        "a, b",
    ]);
    from.ok(&[
        "issue",
        "add",
        "Part",
        "--parent",
        "SYM-2",
        "--description",
        "## Heading\n\nText",
        "--size",
        "small",
    ]);
    from.ok(&[
        "issue",
        "add",
        "Tracked",
        "--external-id",
        "GH#7",
        "--status",
        "backlog",
    ]);
    from.ok(&["issue", "add", "Gone"]);
    from.ok(&["issue", "move", "SYM-5", "cancelled"]);
    let issues = exported(&from);
    assert_eq!(issues.len(), 5);
    for name in ["issues.jsonl", "issues.md"] {
        let file = from.beside.join(name);
        let file = file.to_str().unwrap();
        from.ok(&["issue", "export", file]);
        let to = project();
        let imported = to.json(&["issue", "import", file]);
        assert_eq!(
            imported["added"].as_array().unwrap().len(),
            5,
            "{imported:#}"
        );
        assert_eq!(exported(&to), issues, "{name}");
        // the same again adds nothing
        let again = to.json(&["issue", "import", file]);
        assert_eq!(
            (
                again["added"].as_array().unwrap().len(),
                again["skipped"].as_array().unwrap().len()
            ),
            (0, 5)
        );
        assert_eq!(exported(&to), issues, "{name}");
        // what waits for what is as it was
        let waits = to.ok(&["explain", "SYM-2"]);
        assert!(waits.contains("- it is blocked (subtasks)"), "{waits}");
    }
}

#[test]
fn a_document_with_anything_wrong_is_refused_whole_with_its_lines() {
    let project = project();
    project.ok(&["issue", "add", "Here"]);
    let file = project.beside.join("bad.jsonl");
    std::fs::write(
        &file,
        "{\"title\":\"Good\"}\n\n{\"title\":\"Bad\",\"priority\":\"hot\"}\n{\"titel\":\"Worse\"}\n",
    )
    .unwrap();
    let answer = project.symphony(&["issue", "import", file.to_str().unwrap()]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer.stderr.contains(" has 2 problems:\nline 3: "),
        "{answer:?}"
    );
    assert!(
        answer.stderr.contains("\nline 4: unknown field `titel`"),
        "{answer:?}"
    );
    std::fs::write(
        &file,
        "{\"title\":\"Good\"}\n{\"title\":\"Lost\",\"depends_on\":[\"NO-1\"]}\n{\"title\":\"Found\",\"depends_on\":[\"SYM-1\"]}\n",
    )
    .unwrap();
    let answer = project.symphony(&["issue", "import", file.to_str().unwrap()]);
    assert!(
        answer
            .stderr
            .contains("line 2: depends_on: `NO-1` is neither in the file nor"),
        "{answer:?}"
    );
    assert_eq!(exported(&project).len(), 1, "nothing was written");
    let missing = project.symphony(&["issue", "import", "no-such.md"]);
    assert_eq!(missing.code, 3, "{missing:?}");
}

#[test]
fn the_database_is_checked_copied_and_made_smaller() {
    let project = project();
    project.ok(&["issue", "add", "Kept"]);
    assert!(
        project
            .ok(&["db", "check"])
            .contains("is intact (schema version ")
    );
    let copy = project.beside.join("copy.db");
    let written = project.json(&["db", "backup", copy.to_str().unwrap()]);
    assert_eq!(
        written["bytes"].as_u64().unwrap(),
        copy.metadata().unwrap().len()
    );
    let again = project.symphony(&["db", "backup", copy.to_str().unwrap()]);
    assert_eq!(again.code, 4, "{again:?}");
    project.ok(&["issue", "add", "Made later"]);
    let database = project.root.join(".symphony/symphony.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE ballast (b BLOB); INSERT INTO ballast VALUES (zeroblob(1000000)); DROP TABLE ballast",
        )
        .unwrap();
    drop(connection);
    let smaller = project.json(&["db", "vacuum"]);
    let bytes = |name: &str| smaller[name].as_u64().unwrap();
    assert!(
        bytes("bytes_after") + 900_000 < bytes("bytes_before"),
        "{smaller:#}"
    );

    // a reference to nothing is found
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF; UPDATE issue SET parent = 'SYM-99' WHERE id = 'SYM-1'",
        )
        .unwrap();
    drop(connection);
    let broken = project.symphony(&["db", "check"]);
    assert_eq!(broken.code, 1, "{broken:?}");
    assert!(
        broken
            .stdout
            .contains("names a row of issue that does not exist"),
        "{broken:?}"
    );

    // the copy takes its place
    project.ok(&["db", "restore", copy.to_str().unwrap()]);
    assert!(project.ok(&["db", "check"]).contains("is intact"));
    assert_eq!(exported(&project).len(), 1);
}

#[test]
fn logs_of_runs_that_ended_long_ago_are_removed_and_others_stay() {
    let project = project();
    project.add_issue("Fails");
    project.add_issue("Fails too");
    let folder = |run: &str| {
        let folder = project.run_folder(run);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("log.txt"), "said\n").unwrap();
        folder
    };
    let old = failed_run(&project, "SYM-1");
    let young = failed_run(&project, "SYM-2");
    let (old_folder, young_folder) = (folder(old.as_str()), folder(young.as_str()));
    let database = project.root.join(".symphony/symphony.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    let day = 24 * 60 * 60 * 1000_i64;
    connection
        .execute(
            "UPDATE run SET started_at = started_at - ?2, ended_at = ended_at - ?2 WHERE id = ?1",
            rusqlite::params![old.as_str(), 31 * day],
        )
        .unwrap();
    drop(connection);

    let planned = project.json(&["clean", "--dry-run"]);
    assert_eq!(planned["logs"], json!([old.as_str()]));
    assert!(old_folder.exists());
    // a tick does it once a day
    let tick = project.ok(&["tick"]);
    assert!(
        tick.contains("removed the logs of 1 run that ended more than 30 days ago"),
        "{tick}"
    );
    assert!(!old_folder.exists() && young_folder.exists());
    assert!(project.ok(&["clean"]).contains("Nothing to remove."));
}

/// The names in a folder of Symphony's.
fn names(project: &Project, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(project.root.join(".symphony").join(folder)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What a tick that died before its claim leaves, and a supervisor that died after it recorded the end of its run.
#[test]
fn files_that_nobody_comes_back_to_are_removed_by_the_next_tick() {
    let project = project();
    project.configure_more(&json!({ "keep_run_files": false }));
    project.add_issue("Fails");
    let ended = failed_run(&project, "SYM-1");
    let [unclaimed, young, begun, restored] = ["unclaimed", "young", "begun", "restored"];
    let unfinished = project.root.join(".symphony/unfinished");
    std::fs::create_dir_all(&unfinished).unwrap();
    for run in [ended.as_str(), unclaimed, young, begun, restored] {
        let folder = project.run_folder(run);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(unfinished.join(run), "").unwrap();
        if run != young && run != begun {
            std::fs::write(folder.join("lock"), "").unwrap();
        }
    }
    for name in [
        "system-prompt.md",
        "user-prompt.md",
        "mcp.json",
        "shared-state.json",
        "log.txt",
    ] {
        std::fs::write(project.run_folder(ended.as_str()).join(name), "text").unwrap();
    }
    std::fs::write(project.run_folder(restored).join("log.txt"), "text").unwrap();
    // somebody died while they wrote a prompt, the record of a run or the state file of a plan
    let half_written = ".symphony-4000000-7.new";
    for folder in [&project.run_folder(ended.as_str()), &project.root] {
        std::fs::write(folder.join(half_written), "hal").unwrap();
    }
    // somebody died long ago, before there was a lock
    for path in [project.run_folder(begun), unfinished.join(begun)] {
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_mins(2);
        let file = std::fs::File::open(path).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    let audit = project.symphony(&["doctor", "--audit", "--json"]);
    let found = audit.json()["items"].as_array().unwrap().clone();
    let mut told: Vec<String> = found
        .iter()
        .map(|item| {
            let root = format!("{}/.symphony/runs/", project.root.display());
            let line = format!(
                "{} {}: {}",
                text(&item["invariant"]),
                text(&item["subject"]),
                text(&item["detail"])
            );
            line.replace(&root, "").replace(ended.as_str(), "ended")
        })
        .collect();
    told.sort();
    assert_eq!(
        told,
        [
            "F2 begun: it belongs to no run and is empty: remove it if `symphony tick` does not",
            "F2 ended: its run has ended, but its system-prompt.md still exists: remove it if `symphony tick` does not",
            "F2 unclaimed: it belongs to no run and is empty: remove it if `symphony tick` does not",
        ]
    );
    let planned = project.ok(&["tick", "--dry-run"]);
    assert!(
        planned.contains("place: clean up after run unclaimed"),
        "{planned}"
    );

    project.ok(&["pause"]);
    // a minute may have gone by
    std::fs::write(unfinished.join(young), "").unwrap();
    let done = project.ok(&["tick"]);
    let line = format!("run {ended}: removed the prompts that its dead supervisor left");
    for line in [
        line.as_str(),
        "run unclaimed was never claimed: removed its folder",
        "run begun was never claimed: removed its folder",
    ] {
        assert!(done.contains(line), "{line} in {done}");
    }
    // the one may be about to be locked, the other has what a person may want
    let mut left = vec![ended.as_str(), restored, young];
    left.sort_unstable();
    assert_eq!(names(&project, "runs"), left);
    assert_eq!(
        names(&project, &format!("runs/{ended}")),
        ["lock", "log.txt"]
    );
    assert_eq!(names(&project, "runs/restored"), ["log.txt"]);
    assert_eq!(names(&project, "unfinished"), [young]);
    assert!(!project.root.join(half_written).exists());
    project.assert_sound();
}

/// Sessions of agents are kept while their issue may have another run. What an agent planted there leads nowhere.
#[test]
fn sessions_of_issues_that_are_gone_are_removed_daily() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    let sessions = project.root.join(".symphony/sessions");
    let precious = project.root.join("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("file"), "mine").unwrap();
    for name in ["issue/SYM-9/worker-1", "plan/p1/worker-1", "issue/not-ours"] {
        std::fs::create_dir_all(sessions.join(name)).unwrap();
    }
    let link = sessions.join("issue/SYM-9/worker-1/projects");
    std::os::unix::fs::symlink(&precious, link).unwrap();
    project.symphony(&["tick"]);
    assert!(!sessions.join("issue/SYM-9").exists());
    assert!(!sessions.join("plan/p1").exists());
    assert!(sessions.join("issue/not-ours").exists());
    assert!(precious.join("file").exists());
}
