//! Locks that a person's git also takes, and that appeared while Symphony or one of its agents was running.
//!
//! They are noted in `<git folder>/symphony-locks.json`, so that whoever finds one later knows that a dead git of a run
//! may have left it. A lock is identified by its path and its inode, since a later lock in the same place is another
//! file.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_core::git_lock::LockOwner;

use super::found_locks::{created, locks_below, locks_in, owner_of};
use super::place::Place;

/// Symphony's own lock of the repository, which is not git's.
const OWN_LOCK: &str = "symphony.lock";
/// How many locks are noted. Git has a handful of kinds.
const NOTED_MAX: usize = 100;

/// How far the times of files may be behind the clock, in milliseconds. File systems read it once per timer interrupt.
const COARSE_CLOCK_MS: i64 = 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Suspect {
    lock: PathBuf,
    inode: u64,
    created: Timestamp,
    run_started: Timestamp,
}

impl Suspect {
    fn is(&self, lock: &Path, meta: &Metadata) -> bool {
        self.lock == lock && self.inode == meta.ino() && self.created == created(meta)
    }
}

fn notes(common_dir: &Path) -> PathBuf {
    common_dir.join("symphony-locks.json")
}

/// Returns when the run began during which a lock appeared; `None` when that was not noted.
pub(super) fn run_of(common_dir: &Path, lock: &Path, meta: &Metadata) -> Option<Timestamp> {
    let bytes = crate::own_file::read_own_file(&notes(common_dir)).ok()?;
    let noted: Vec<Suspect> = serde_json::from_slice(&bytes).ok()?;
    let suspect = noted.into_iter().find(|suspect| suspect.is(lock, meta))?;
    Some(suspect.run_started)
}

/// Notes the existing shared locks that appeared since a time. If that fails, work continues, and a person has to
/// remove such a lock.
pub(crate) fn note_shared_locks(place: &Place, since: Timestamp) {
    let since =
        Timestamp::from_millisecond(since.as_millisecond() - COARSE_CLOCK_MS).unwrap_or(since);
    let new: Vec<Suspect> = shared_locks(place)
        .into_iter()
        .filter_map(|lock| {
            let meta = fs::symlink_metadata(&lock).ok()?;
            let created = created(&meta);
            (created >= since).then(|| Suspect {
                inode: meta.ino(),
                run_started: since,
                created,
                lock,
            })
        })
        .collect();
    if new.is_empty() {
        return;
    }
    if let Err(error) = add(&notes(&place.common_dir), new) {
        tracing::warn!(%error, "locks that a dead git process may have left could not be noted");
    }
}

fn shared_locks(place: &Place) -> Vec<PathBuf> {
    let common_dir = &place.common_dir;
    let own = common_dir.join(OWN_LOCK);
    let mut found: Vec<PathBuf> = locks_in(common_dir)
        .into_iter()
        .chain(locks_below(&common_dir.join("refs")))
        .collect();
    found.retain(|lock| *lock != own && owner_of(place, lock) == LockOwner::Shared);
    found
}

/// Adds to the notes, and drops those of locks that no longer exist.
fn add(path: &Path, new: Vec<Suspect>) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    // Released when the file is closed.
    file.lock()?;
    let mut noted = read(&mut file)?;
    noted.retain(|suspect| {
        fs::symlink_metadata(&suspect.lock).is_ok_and(|meta| suspect.is(&suspect.lock, &meta))
    });
    for suspect in new {
        let is_known = noted
            .iter()
            .any(|known| known.lock == suspect.lock && known.inode == suspect.inode);
        if !is_known && noted.len() < NOTED_MAX {
            noted.push(suspect);
        }
    }
    let bytes = serde_json::to_vec(&noted)?;
    file.rewind()?;
    file.write_all(&bytes)?;
    file.set_len(bytes.len() as u64)
}

/// Reads the notes. A file that a crash cut off counts as empty.
fn read(file: &mut File) -> io::Result<Vec<Suspect>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}
