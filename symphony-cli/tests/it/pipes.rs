//! Pipes in the places of Symphony's own files: whoever opens one would wait for its other end for ever.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::support::{Answer, Project, scenarios};

/// Far longer than a command takes that waits for nothing.
const ANSWER_TIME_MAX: Duration = Duration::from_mins(1);

fn pipe_at(path: &Path) {
    if path.exists() {
        std::fs::remove_file(path).unwrap();
    }
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
}

/// Runs a command; opens the pipe's other end when it waits, so that the test ends.
fn answer_of(project: &Project, pipe: &Path, arguments: &[&str]) -> Answer {
    let (done, waits) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            if waits.recv_timeout(ANSWER_TIME_MAX) == Err(mpsc::RecvTimeoutError::Timeout) {
                drop(
                    std::fs::OpenOptions::new()
                        .read(true)
                        .write(true)
                        .open(pipe),
                );
                return false;
            }
            true
        });
        let answer = project.symphony(arguments);
        drop(done);
        assert!(watch.join().unwrap(), "{arguments:?} waited for the pipe");
        answer
    })
}

#[test]
fn a_pipe_in_the_place_of_the_marker_or_the_lock_of_ticks_keeps_no_command_waiting() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    project.add_issue("Say hello");
    let marker = project.root.join(".symphony/installation.json");
    pipe_at(&marker);
    for arguments in [&["status"][..], &["inbox"], &["tick", "--dry-run"]] {
        let answer = answer_of(&project, &marker, arguments);
        assert_eq!(answer.code, 0, "{arguments:?}: {answer:#?}");
    }
    std::fs::remove_file(&marker).unwrap();

    let lock = project.root.join(".symphony/symphony.tick.lock");
    pipe_at(&lock);
    for arguments in [&["status"][..], &["tick"]] {
        let answer = answer_of(&project, &lock, arguments);
        assert_ne!(answer.code, 0, "{arguments:?}: {answer:#?}");
        let said = &answer.stderr;
        assert!(said.contains("symphony.tick.lock"), "{said}");
        assert!(said.contains("not a regular file"), "{said}");
    }
    std::fs::remove_file(&lock).unwrap();
    assert_eq!(project.symphony(&["status"]).code, 0);
}

#[test]
fn a_pipe_in_a_git_folder_is_named_and_keeps_no_command_waiting() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    project.add_issue("Say hello");
    let pipe = project.root.join(".git/shallow");
    pipe_at(&pipe);
    for arguments in [
        &["status"][..],
        &["inbox"],
        &["tick"],
        &["doctor", "--audit"],
    ] {
        let answer = answer_of(&project, &pipe, arguments);
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(
            arguments == ["status"] || said.contains(".git/shallow"),
            "{arguments:?}: {said}"
        );
    }
    std::fs::remove_file(&pipe).unwrap();
    project.ok(&["tick"]);
}
