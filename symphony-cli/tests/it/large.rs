//! Databases and logs of which the memory that a command may use holds only a part.

use std::io::Read as _;
use std::process::{Child, Stdio};

use crate::records::failed_run;
use crate::support::{Project, until};
use rusqlite::Connection;

const ISSUES: u32 = 200_000;
/// About 30 MB; with the whole log at once the command held 134 MiB.
const LOG_LINES: usize = 150_000;
/// The most memory that a list may hold, in KiB; all issues at once took 150 MiB.
const MEMORY_KIB_MAX: u64 = 64 * 1024;
/// After how many bytes the memory is read again.
const LOOK_BYTES: usize = 1 << 20;

/// Adds issues as years leave them.
fn fill(project: &Project, issues: u32) {
    let connection = Connection::open(project.root.join(".symphony/symphony.db")).unwrap();
    connection
        .execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
             INSERT INTO issue (id, project, number, title, title_key, description, status, priority, created_at, updated_at)
             SELECT 'SYM-' || i, p.id, i, 'Issue ' || i, 'issue ' || i, 'What is to be done, in some words.', 'done', i % 5, i, i
             FROM n, project p",
            [issues],
        )
        .unwrap();
    let next = issues + 1;
    connection
        .execute("UPDATE project SET next_number = ?1", [next])
        .unwrap();
}

fn peak_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Reads everything that a command writes, and returns it with the most memory in KiB that the command had.
fn drained(child: &mut Child) -> (Vec<u8>, u64) {
    let (mut text, mut peak) = (Vec::new(), 0);
    let mut output = child.stdout.take().unwrap();
    // The pipe holds less than is read at once, so the command is alive whenever its memory is read but the last time.
    while output
        .by_ref()
        .take(LOOK_BYTES as u64)
        .read_to_end(&mut text)
        .unwrap()
        > 0
    {
        peak = peak.max(peak_kib(child.id()).unwrap_or(0));
    }
    assert!(child.wait().unwrap().success());
    (text, peak)
}

#[test]
fn a_list_of_all_issues_is_written_while_it_is_read() {
    let project = Project::recorded();
    fill(&project, ISSUES);
    let mut child = project
        .command(&["issue", "list", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (text, peak) = drained(&mut child);
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("{\n  \"version\": 1,\n  \"items\": [\n"));
    assert!(text.ends_with("\n  ],\n  \"next\": null\n}\n"));
    let listed = text.matches("\n      \"identifier\": ").count();
    assert_eq!(listed, ISSUES as usize);
    assert!((1..MEMORY_KIB_MAX).contains(&peak), "{peak} KiB");

    // What is written as it comes is what a page has.
    let page = project.ok(&[
        "issue",
        "list",
        "--json",
        "--limit",
        "3",
        "--after",
        "SYM-150000",
    ]);
    let (_, items) = page.split_once("\"items\": [\n").unwrap();
    let (items, next) = items.split_once("\n  ],\n").unwrap();
    assert!(text.contains(items), "{items}");
    assert_eq!(next, "  \"next\": \"SYM-150003\"\n}\n");
}

#[test]
fn a_long_log_is_written_while_it_is_read() {
    let project = Project::recorded();
    let issue = project.add_issue("One");
    let run = failed_run(&project, &issue);
    let folder = project.run_folder(run.as_str());
    std::fs::create_dir_all(&folder).unwrap();
    let line = format!("12:00:00 [text] {}\n", "Some words. ".repeat(15));
    std::fs::write(folder.join("log.txt"), line.repeat(LOG_LINES)).unwrap();
    for (more, lines) in [(&[][..], LOG_LINES), (&["--tail", "1000"], 1_000)] {
        let mut child = project
            .command(&[&["runs", "logs", run.as_str()], more].concat())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (text, peak) = drained(&mut child);
        assert_eq!(text.len(), line.len() * lines);
        assert!(text.starts_with(line.as_bytes()) && text.ends_with(line.as_bytes()));
        // A command that writes little may have ended before a look at its memory.
        let least = u64::from(lines == LOG_LINES);
        assert!((least..MEMORY_KIB_MAX).contains(&peak), "{peak} KiB");
    }
}

#[test]
fn a_tick_leaves_the_backup_of_a_large_database_to_a_process_of_its_own() {
    let project = Project::recorded();
    fill(&project, 100_000);
    project.ok(&["tick"]);
    until("the backup is there", || {
        let listed = project.json(&["db", "restore", "--list"]);
        (!listed["items"].as_array()?.is_empty()).then_some(())
    });
    assert!(!project.root.join(".symphony/backup.problem").exists());
}
