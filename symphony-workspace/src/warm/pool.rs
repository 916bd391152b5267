//! The generations of a project, in a folder that no sandbox shows.
//!
//! Each has a folder: `lock`, `tree`, and `generation.json`, which is written last. A folder without the latter was left by a
//! process that died.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use symphony_core::warm::GenerationKey;

use crate::commit_id::CommitId;
use crate::deep::remove_deep;
use crate::error::WorkspaceError;
use crate::hex::hex;
use crate::own_file::read_own_file;
use crate::whole_file::write_private;

/// How many are kept: the newest, and the one before, which a checkout may be copying.
const GENERATIONS_MAX: usize = 2;
/// The record in the folder of a generation.
const RECORD: &str = "generation.json";
/// The lock in it.
const LOCK: &str = "lock";
/// The files in it.
pub(super) const TREE: &str = "tree";
/// The note that a cold run disagreed with a warm one, beside the generations.
const DISABLED: &str = "disabled";

/// The note of the last attempt to make one, beside the generations.
const ATTEMPT: &str = "attempt";

/// The last attempt to make a generation.
#[derive(Debug, Serialize, Deserialize)]
struct Attempt {
    key: GenerationKey,
    at_ms: i64,
}

/// What is recorded of a generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// The name of its folder.
    pub name: String,
    /// What has to be equal for its use.
    pub key: GenerationKey,
    /// The commit on which the gates passed.
    pub commit: CommitId,
    /// The kept folders that it has.
    pub folders: Vec<String>,
    /// When it was made, in milliseconds.
    pub made_ms: i64,
    /// The newest time of a file in it, in milliseconds.
    pub newest_ms: i64,
    /// The digest of what its files looked like.
    pub(super) digest: String,
}

/// Why the generations of a project may not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisabledPool {
    /// The commit on which a cold run disagreed with a warm one.
    pub commit: String,
    /// What happened, in a sentence without a full stop.
    pub why: String,
}

/// The generations of a project.
#[derive(Debug, Clone)]
pub struct WarmPool {
    folder: PathBuf,
}

/// The lock of a generation. It is given back when this is dropped, even if a process that another thread is just
/// starting still has the file open.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        drop(self.0.unlock());
    }
}

/// A generation that is not removed meanwhile.
#[derive(Debug)]
pub(super) struct Held {
    /// Where its files are.
    pub(super) tree: PathBuf,
    _lock: Lock,
}

/// A folder in which a generation is being made.
#[derive(Debug)]
pub(super) struct Making {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    _lock: Lock,
}

impl WarmPool {
    /// The pool of a project: in the folder of Symphony's own files, which no sandbox shows.
    pub fn of_project(root: &Path) -> Self {
        Self::at(root.join(".symphony/warm"))
    }

    /// The pool in a folder, which need not be there.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the generations, the newest first. A folder whose record cannot be read is none.
    pub fn generations(&self) -> Vec<Generation> {
        let mut all: Vec<Generation> = self
            .names()
            .iter()
            .filter_map(|name| self.record(name))
            .collect();
        all.sort_by(|a, b| (b.made_ms, &b.name).cmp(&(a.made_ms, &a.name)));
        all
    }

    /// Returns why no generation may be used; `None` if they may.
    pub fn disabled(&self) -> Option<DisabledPool> {
        let unreadable = |why: String| DisabledPool {
            commit: String::new(),
            why,
        };
        match read_own_file(&self.folder.join(DISABLED)) {
            // What cannot be read does not allow anything.
            Ok(text) => Some(
                serde_json::from_slice(&text).unwrap_or_else(|error| unreadable(error.to_string())),
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(unreadable(error.to_string())),
        }
    }

    /// Forbids the use of all generations, also of later ones, until a person removes the folder.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub fn disable(&self, commit: &CommitId, why: &str) -> io::Result<()> {
        private_folder(&self.folder)?;
        let note = DisabledPool {
            commit: commit.to_string(),
            why: why.to_owned(),
        };
        write_private(&self.folder.join(DISABLED), serde_json::to_vec(&note)?)
    }

    /// Notes that a generation is about to be made, and returns whether it should be: not if it was tried with this key less than
    /// `again_ms` ago.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub fn note_attempt(
        &self,
        key: &GenerationKey,
        now_ms: i64,
        again_ms: i64,
    ) -> Result<bool, WorkspaceError> {
        let path = self.folder.join(ATTEMPT);
        let last = read_own_file(&path).ok();
        let last = last.and_then(|text| serde_json::from_slice::<Attempt>(&text).ok());
        let is_recent = last.is_some_and(|last| {
            last.key == *key && (0..again_ms).contains(&now_ms.saturating_sub(last.at_ms))
        });
        if is_recent {
            return Ok(false);
        }
        let attempt = Attempt {
            key: key.clone(),
            at_ms: now_ms,
        };
        let noted = private_folder(&self.folder)
            .and_then(|()| write_private(&path, serde_json::to_vec(&attempt)?));
        noted.map_err(|source| WorkspaceError::io("write", path, source))?;
        Ok(true)
    }

    /// Removes what dead processes left, and generations beyond those that are kept. What is in use stays.
    pub fn tidy(&self) {
        let kept = self.generations();
        let kept: Vec<&str> = kept
            .iter()
            .take(GENERATIONS_MAX)
            .map(|generation| generation.name.as_str())
            .collect();
        for name in self.names() {
            if !kept.contains(&name.as_str()) {
                self.remove(&name);
            }
        }
    }

    /// Removes a generation, unless a checkout is copying it.
    pub fn remove(&self, name: &str) {
        let folder = self.folder.join(name);
        let lock = File::open(folder.join(LOCK)).map(Lock);
        match lock.map(|lock| (lock.0.try_lock(), lock)) {
            Ok((Ok(()), _lock)) => self.remove_folder(&folder),
            Ok((Err(TryLockError::WouldBlock), _)) => {}
            Ok((Err(TryLockError::Error(error)), _)) => {
                tracing::warn!(folder = %folder.display(), %error, "old build output stays for now");
            }
            // Its maker died before it made the lock.
            Err(_) => self.remove_folder(&folder),
        }
    }

    fn remove_folder(&self, folder: &Path) {
        // The record goes first: what is half removed is no generation.
        drop(fs::remove_file(folder.join(RECORD)));
        if let Err(error) = remove_deep(folder) {
            tracing::warn!(folder = %folder.display(), pool = %self.folder.display(), %error, "old build output stays for now");
        }
    }

    /// Begins a new generation.
    pub(super) fn begin(&self, key: &GenerationKey, made_ms: i64) -> io::Result<Making> {
        private_folder(&self.folder)?;
        let text = serde_json::to_vec(&(key, made_ms, std::process::id()))?;
        let digest = hex(&Sha256::digest(&text));
        let name = format!("{made_ms:016x}-{}", digest.get(..16).unwrap_or(&digest));
        let folder = self.folder.join(&name);
        DirBuilder::new().mode(0o700).create(&folder)?;
        let lock = Lock(File::create_new(folder.join(LOCK))?);
        lock.0.lock()?;
        Ok(Making {
            name,
            folder,
            _lock: lock,
        })
    }

    /// Completes a generation.
    pub(super) fn complete(&self, making: Making, generation: &Generation) -> io::Result<()> {
        let text = serde_json::to_vec(generation)?;
        write_private(&making.folder.join(RECORD), text)?;
        drop(making);
        self.tidy();
        Ok(())
    }

    /// Keeps a generation from being removed while it is copied; `None` if it is gone.
    pub(super) fn hold(&self, generation: &Generation) -> io::Result<Option<Held>> {
        let folder = self.folder.join(&generation.name);
        let path = folder.join(LOCK);
        let lock = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            lock => Lock(lock?),
        };
        lock.0.lock_shared()?;
        // Between opening and locking it may have been removed, and even made again.
        let is_same = fs::symlink_metadata(&path)
            .and_then(|found| Ok((found.dev(), found.ino()) == id_of(&lock.0)?))
            .unwrap_or(false);
        if !is_same || self.record(&generation.name).as_ref() != Some(generation) {
            return Ok(None);
        }
        Ok(Some(Held {
            tree: folder.join(TREE),
            _lock: lock,
        }))
    }

    fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let folders = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut names: Vec<String> = folders
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn record(&self, name: &str) -> Option<Generation> {
        let text = read_own_file(&self.folder.join(name).join(RECORD)).ok()?;
        let generation: Generation = serde_json::from_slice(&text).ok()?;
        (generation.name == name).then_some(generation)
    }
}

fn id_of(file: &File) -> io::Result<(u64, u64)> {
    let meta = file.metadata()?;
    Ok((meta.dev(), meta.ino()))
}

fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use symphony_core::id::ProjectId;

    use super::*;

    fn key() -> GenerationKey {
        GenerationKey {
            version: GenerationKey::VERSION,
            project: ProjectId::parse("api").unwrap(),
            system: "linux".to_owned(),
            architecture: "x86_64".to_owned(),
            canonical: "/symphony/api".into(),
            ground: "a".to_owned(),
            gates: "b".to_owned(),
        }
    }

    fn make(pool: &WarmPool, made_ms: i64) -> Generation {
        let making = pool.begin(&key(), made_ms).unwrap();
        fs::create_dir(making.folder.join(TREE)).unwrap();
        let generation = Generation {
            name: making.name.clone(),
            key: key(),
            commit: CommitId::parse(&"a".repeat(40)).unwrap(),
            folders: vec!["target".to_owned()],
            made_ms,
            newest_ms: 0,
            digest: String::new(),
        };
        pool.complete(making, &generation).unwrap();
        generation
    }

    #[test]
    fn the_newest_two_are_kept_and_what_is_in_use_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let pool = WarmPool::at(folder.path().join("warm"));
        assert_eq!(pool.generations(), []);
        pool.tidy();
        let first = make(&pool, 1);
        let held = pool.hold(&first).unwrap().unwrap();
        let (second, third) = (make(&pool, 2), make(&pool, 3));
        assert_eq!(
            pool.generations(),
            [third.clone(), second.clone(), first.clone()],
            "the first one is in use"
        );
        drop(held);
        pool.tidy();
        assert_eq!(pool.generations(), [third, second]);
        assert!(pool.hold(&first).unwrap().is_none());
    }

    #[test]
    fn what_a_dead_process_left_is_no_generation_and_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let pool = WarmPool::at(folder.path().to_owned());
        let making = pool.begin(&key(), 1).unwrap();
        assert_eq!(pool.generations(), []);
        pool.tidy();
        assert!(making.folder.exists(), "its maker is alive");
        let left = making.folder.clone();
        drop(making);
        fs::create_dir(folder.path().join("0")).unwrap();
        pool.tidy();
        assert!(!left.exists() && !folder.path().join("0").exists());
    }

    #[test]
    fn a_generation_that_could_not_be_made_is_tried_again_after_a_while_or_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let pool = WarmPool::at(folder.path().join("warm"));
        let other = GenerationKey {
            ground: "other".to_owned(),
            ..key()
        };
        for (key, now_ms, expected) in [
            (key(), 1_000, true),
            (key(), 1_050, false),
            (key(), 1_099, false),
            (key(), 1_100, true),
            (other.clone(), 1_101, true),
            (other.clone(), 1_102, false),
            (other, 500, true),
        ] {
            assert_eq!(
                pool.note_attempt(&key, now_ms, 100).unwrap(),
                expected,
                "{now_ms}"
            );
        }
    }

    #[test]
    fn a_disabled_pool_stays_so() {
        let folder = tempfile::tempdir().unwrap();
        let pool = WarmPool::at(folder.path().join("warm"));
        assert_eq!(pool.disabled(), None);
        let generation = make(&pool, 1);
        pool.disable(&generation.commit, "test passed warm only")
            .unwrap();
        make(&pool, 2);
        let found = pool.disabled().unwrap();
        assert_eq!(found.why, "test passed warm only");
        assert_eq!(found.commit, generation.commit.as_str());
        fs::write(pool.folder().join(DISABLED), "{").unwrap();
        assert!(
            pool.disabled().is_some(),
            "what cannot be read allows nothing"
        );
    }
}
