//! Lock files that git left or holds: finding them, judging them ([`judge_lock`]) and removing them.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use symphony_core::Timestamp;
use symphony_core::git_lock::{KeepReason, LockFacts, LockVerdict, judge_lock};

use super::found_locks::{created, owner_of, written};
use super::place::Place;
use super::suspects::run_of;
use crate::error::WorkspaceError;
use crate::linux::{git_processes_inside, processes_with_open};

/// How long to wait for a lock that is in use. A person's `git commit` needs a fraction of a second.
const WAIT_MAX: Duration = Duration::from_secs(2);
/// How long to wait for a lock that no process has open, since its git may be where no one looks for it.
const UNSEEN_WAIT_MAX: Duration = Duration::from_millis(200);
/// Time between two checks.
const LOOK: Duration = Duration::from_millis(25);

/// Git's words about an existing lock, before and after its path.
const IN_THE_WAY: &[(&str, &str, &str)] = &[
    ("Unable to create '", "': File exists", ""),
    ("could not lock config file ", ": File exists", ".lock"),
];

/// Returns the lock that git could not take, from its message.
pub(super) fn lock_in_the_way(stderr: &str) -> Option<PathBuf> {
    IN_THE_WAY.iter().find_map(|(before, after, extension)| {
        let (_, rest) = stderr.split_once(before)?;
        let (path, _) = rest.split_once(after)?;
        Some(PathBuf::from(format!("{path}{extension}")))
    })
}

/// Removes a lock that a dead git left, or waits until the git that holds it ends.
///
/// # Errors
/// [`WorkspaceError::GitLocked`] when it still exists after two seconds, and must not be removed.
pub(crate) fn clear_lock(place: &Place, lock: &Path) -> Result<Cleared, WorkspaceError> {
    let begun = Instant::now();
    loop {
        let Some(seen) = look(place, lock)? else {
            return Ok(Cleared::Gone);
        };
        let reason = match judge_lock(&seen.facts) {
            LockVerdict::Remove => return remove(lock, &seen),
            LockVerdict::Keep(reason) => reason,
        };
        let patience = match reason {
            KeepReason::Open | KeepReason::GitAtWork => WAIT_MAX,
            KeepReason::NotOfARun | KeepReason::Young(_) => UNSEEN_WAIT_MAX,
        };
        if begun.elapsed() >= patience {
            return Err(WorkspaceError::GitLocked {
                lock: lock.to_owned(),
                age: seen.facts.age(),
                pids: seen.pids,
                reason,
            });
        }
        thread::sleep(LOOK);
    }
}

/// Returns whether a dead git left a lock at least this long ago. Does not wait.
pub(crate) fn is_left(
    place: &Place,
    lock: &Path,
    age_min: Duration,
) -> Result<bool, WorkspaceError> {
    let seen = look(place, lock)?;
    Ok(seen.is_some_and(|seen| {
        judge_lock(&seen.facts) == LockVerdict::Remove && seen.facts.age() >= age_min
    }))
}

/// What happened to a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cleared {
    /// It was removed.
    Removed,
    /// Its holder released it.
    Gone,
}

#[derive(Debug)]
struct Seen {
    facts: LockFacts,
    inode: u64,
    pids: Vec<u32>,
}

fn look(place: &Place, lock: &Path) -> Result<Option<Seen>, WorkspaceError> {
    let meta = match fs::symlink_metadata(lock) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(WorkspaceError::io("look at the lock", lock, source)),
    };
    let open_by = processes_with_open(lock);
    let git_processes = git_processes_inside(&place.work_tree);
    let facts = LockFacts {
        owner: owner_of(place, lock),
        created: created(&meta),
        written: written(&meta),
        now: Timestamp::now(),
        open_by: open_by.len(),
        git_processes: git_processes.len(),
        run_started: run_of(&place.common_dir, lock, &meta),
    };
    let mut pids = open_by;
    pids.extend(git_processes);
    pids.sort_unstable();
    pids.dedup();
    Ok(Some(Seen {
        facts,
        inode: meta.ino(),
        pids,
    }))
}

fn remove(lock: &Path, seen: &Seen) -> Result<Cleared, WorkspaceError> {
    // Checked again: in the meantime another git may have taken the same lock, and must not lose it.
    let is_same = fs::symlink_metadata(lock).is_ok_and(|meta| meta.ino() == seen.inode);
    if !is_same {
        return Ok(Cleared::Gone);
    }
    match fs::remove_file(lock) {
        Ok(()) => {
            tracing::warn!(lock = %lock.display(), "removed a lock that a dead git process left");
            Ok(Cleared::Removed)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Cleared::Gone),
        Err(source) => Err(WorkspaceError::io("remove the lock", lock, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use symphony_core::git_lock::LockOwner;

    #[test]
    fn the_lock_is_named_by_what_git_says() {
        for (stderr, lock) in [
            (
                "fatal: Unable to create '/p/.git/index.lock': File exists.\n\nAnother git process seems to be running",
                Some("/p/.git/index.lock"),
            ),
            (
                "fatal: update_ref failed for ref 'refs/heads/symphony/SYM-1': cannot lock ref 'refs/heads/symphony/SYM-1': Unable to create '/it's/.git/refs/heads/symphony/SYM-1.lock': File exists.",
                Some("/it's/.git/refs/heads/symphony/SYM-1.lock"),
            ),
            (
                "error: could not lock config file /p/.git/config: File exists",
                Some("/p/.git/config.lock"),
            ),
            (
                "fatal: Unable to create '/p/.git/index.lock': Permission denied",
                None,
            ),
            ("fatal: bad object", None),
        ] {
            assert_eq!(lock_in_the_way(stderr), lock.map(PathBuf::from), "{stderr}");
        }
    }

    #[test]
    fn a_lock_is_a_runs_or_shared() {
        let common = PathBuf::from("/p/.git");
        let linked = Place {
            git_dir: common.join("worktrees/SYM-1"),
            common_dir: common.clone(),
            work_tree: "/p/.symphony-workspaces/SYM-1".into(),
        };
        let main = Place {
            git_dir: common.clone(),
            common_dir: common.clone(),
            work_tree: "/p".into(),
        };
        for (name, in_linked, in_main) in [
            (
                "worktrees/SYM-1/index.lock",
                LockOwner::Run,
                LockOwner::Shared,
            ),
            (
                "worktrees/SYM-1/HEAD.lock",
                LockOwner::Run,
                LockOwner::Shared,
            ),
            (
                "worktrees/mine/HEAD.lock",
                LockOwner::Shared,
                LockOwner::Shared,
            ),
            (
                "refs/heads/symphony/SYM-1.lock",
                LockOwner::Run,
                LockOwner::Run,
            ),
            (
                "refs/heads/symphony/plan-a/base.lock",
                LockOwner::Run,
                LockOwner::Run,
            ),
            (
                "refs/symphony/rescue/SYM-1/x.lock",
                LockOwner::Run,
                LockOwner::Run,
            ),
            ("refs/heads/main.lock", LockOwner::Shared, LockOwner::Shared),
            (
                "refs/heads/symphony-notes.lock",
                LockOwner::Shared,
                LockOwner::Shared,
            ),
            ("packed-refs.lock", LockOwner::Shared, LockOwner::Shared),
            ("config.lock", LockOwner::Shared, LockOwner::Shared),
            ("index.lock", LockOwner::Shared, LockOwner::Shared),
        ] {
            let lock = common.join(name);
            assert_eq!(owner_of(&linked, &lock), in_linked, "{name}");
            assert_eq!(owner_of(&main, &lock), in_main, "{name}");
        }
    }
}
