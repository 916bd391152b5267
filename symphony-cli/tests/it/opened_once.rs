//! A command opens its database once, since that takes longer than what most commands do with it.

use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use serde_json::json;

use crate::support::{Project, scenarios};

/// Counts how often each of the files is opened while something is done.
fn opened<const N: usize>(files: [&Path; N], act: impl FnOnce()) -> [usize; N] {
    let watch = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
    let watched = files.map(|file| add_watch(&watch, file, WatchFlags::OPEN).unwrap());
    act();
    let mut counts = [0; N];
    let mut buffer = [MaybeUninit::uninit(); 4_096];
    let mut events = Reader::new(watch, &mut buffer);
    while let Ok(event) = events.next() {
        let of = watched.iter().position(|one| *one == event.wd());
        counts[of.unwrap()] += 1;
    }
    counts
}

#[test]
fn a_command_opens_its_database_and_reads_its_configuration_once_with_all_that_is_checked_before_it()
 {
    let project = Project::new("project", &scenarios([]), &json!({}));
    project.add_issue("First");
    let database = project.root.join(".symphony/symphony.db");
    let configuration = project.root.join("symphony.config.json");
    for command in [
        &["issue", "add", "Second"][..],
        &["issue", "move", "SYM-2", "backlog"],
        &["issue", "comment", "SYM-2", "a comment"],
        &["learnings", "add", "Read the tests first."],
        &["pause"],
        &["resume"],
        &["status"],
        &["mcp"],
    ] {
        let opened = opened([&database, &configuration], || drop(project.ok(command)));
        assert_eq!(opened[0], 1, "{command:?}");
        // and once to see whether a project has a file of its own
        assert!(opened[1] <= 2, "{command:?}: {opened:?}");
    }
}
