//! State files under many hands.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use symphony_workspace::WorkspaceError;
use symphony_workspace::plan_file::{
    LockedStateFile, create_state_file, read_state_file, write_state_file,
};

const WORKERS: usize = 8;
const CHANGES: usize = 12;
/// How often somebody looks meanwhile.
const LOOKS: usize = 200;
/// How long a free lock may seem taken: another test's thread that forks holds a copy of every open file, and with it
/// the lock of one that was just closed, until its child runs its program.
const FORK_WAIT_MAX: Duration = Duration::from_secs(10);

fn count(text: &str) -> usize {
    text.trim().parse().unwrap()
}

#[test]
fn many_hands_lose_no_change_and_nobody_sees_half_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    assert!(create_state_file(&path, "0\n").unwrap());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                for _ in 0..CHANGES {
                    let locked = LockedStateFile::open(&path).unwrap();
                    let next = count(locked.text()) + 1;
                    locked.replace(&format!("{next}\n")).unwrap();
                }
            });
        }
        scope.spawn(|| {
            let mut seen = 0;
            for _ in 0..LOOKS {
                let now = count(&read_state_file(&path).unwrap());
                assert!(now >= seen, "{now} after {seen}");
                seen = now;
            }
        });
    });
    assert_eq!(count(&read_state_file(&path).unwrap()), WORKERS * CHANGES);
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "nothing lies about beside it");
}

#[test]
fn who_waited_for_a_file_that_was_replaced_gets_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    create_state_file(&path, "old").unwrap();
    let held = LockedStateFile::open(&path).unwrap();
    assert!(matches!(
        LockedStateFile::open_within(&path, Duration::ZERO),
        Err(WorkspaceError::LockTimeout { .. })
    ));
    let waits = |path: &Path| LockedStateFile::open_within(path, FORK_WAIT_MAX);
    // somebody without the lock, such as the file's owner, is not held up; the lock is then that of the new file
    write_state_file(&path, "new").unwrap();
    let locked = waits(&path).unwrap();
    assert_eq!((held.text(), locked.text()), ("old", "new"));
    drop(locked);
    held.replace("newest").unwrap();
    assert_eq!(waits(&path).unwrap().text(), "newest");
}

#[test]
fn a_file_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    assert!(matches!(
        LockedStateFile::open(&path),
        Err(WorkspaceError::FileMissing { .. })
    ));
    assert!(create_state_file(&path, "one").unwrap());
    assert!(!create_state_file(&path, "two").unwrap());
    assert_eq!(read_state_file(&path).unwrap(), "one");
}
