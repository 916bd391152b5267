//! What the tracked files of a checkout looked like when git had written them.
//!
//! Kept in memory, where no command of the project can reach it. A file counts as touched if any of its metadata
//! differs: above all the time of its last change of any kind (ctime), which no program can set back, unlike the time
//! of the last write.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::{Git, fields};
use crate::threads::{Step, parts_of, thread_count, work_through};

/// The kernel's clock of file times moves in steps of up to this.
const GRAIN: Duration = Duration::from_millis(20);
/// File systems without fractions of a second.
const COARSE_GRAIN: Duration = Duration::from_millis(2_100);

/// How many files a thread looks at before it takes the next ones.
const PATHS_A_TASK: NonZero<usize> = NonZero::new(512).expect("512 is not zero");

/// The metadata that shows whether a file was touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    mode: u32,
    device: u64,
    inode: u64,
    length: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Mark {
    fn of(meta: &Metadata) -> Self {
        Self {
            mode: meta.mode(),
            device: meta.dev(),
            inode: meta.ino(),
            length: meta.len(),
            written: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

/// The tracked files of a checkout, as they were.
#[derive(Debug, Default)]
pub(super) struct Tracked {
    /// By their paths in the checkout; `None` if nothing was written.
    marks: BTreeMap<PathBuf, Option<Mark>>,
}

impl Tracked {
    /// Records files of a checkout, which must not be listed by the checkout's own git folder.
    pub(super) fn of(root: &Path, files: Vec<PathBuf>) -> Self {
        let mut tracked = Self::default();
        tracked.look_again(root, files);
        tracked
    }

    /// Takes files as they are now. It returns when a later write is sure to show.
    pub(super) fn look_again(&mut self, root: &Path, paths: Vec<PathBuf>) {
        self.marks.extend(look_at_all(root, paths));
        settle(self.marks.values().flatten());
    }

    /// Returns whether the commit has a file.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.marks.contains_key(path)
    }

    /// Returns the folders of the commit, including the checkout itself (an empty path).
    pub(super) fn folders(&self) -> BTreeSet<PathBuf> {
        let above = self.marks.keys().flat_map(|path| path.ancestors().skip(1));
        above.map(Path::to_owned).chain([PathBuf::new()]).collect()
    }

    /// Returns whether the commit has files, and all of them are gone.
    pub(super) fn are_gone(&self, root: &Path) -> bool {
        let mut written = self.marks.iter().filter(|(_, mark)| mark.is_some());
        let is_gone = |path: &Path| look(root, path).is_none();
        match written.next() {
            Some((first, _)) => is_gone(first) && written.all(|(path, _)| is_gone(path)),
            None => false,
        }
    }

    /// Returns the files that someone may have touched since.
    pub(super) fn touched(&self, root: &Path) -> Vec<PathBuf> {
        let marks = self.marks.iter();
        marks
            .filter(|(path, mark)| look(root, path) != **mark)
            .map(|(path, _)| path.clone())
            .collect()
    }
}

/// Returns the files of a commit, without the commits of submodules: nothing of a repository inside is checked out.
pub(crate) fn files_of(git: &Git, commit: &CommitId) -> Result<Vec<PathBuf>, WorkspaceError> {
    let list = git
        .command("ls-tree")
        .args(["-r", "-z", "--full-tree", commit.as_str()])
        .slow()
        .run()?;
    let files = fields(&list).filter_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'\t')?;
        let (what, path) = entry.split_at_checked(at)?;
        let path = path.get(1..).filter(|_| !what.starts_with(b"160000"))?;
        Some(PathBuf::from(OsStr::from_bytes(path)))
    });
    Ok(files.collect())
}

/// Waits until the clock of file times has moved on since the last change: a write in the same step would leave no
/// trace.
pub(super) fn settle<'m>(marks: impl Iterator<Item = &'m Mark>) {
    let changed: Vec<(i64, i64)> = marks.map(|mark| mark.changed).collect();
    let Some(&(seconds, nanos)) = changed.iter().max() else {
        return;
    };
    let grain = if changed.iter().any(|(_, nanos)| *nanos != 0) {
        GRAIN
    } else {
        COARSE_GRAIN
    };
    let last = Duration::new(
        u64::try_from(seconds).unwrap_or_default(),
        u32::try_from(nanos).unwrap_or_default(),
    );
    let passed = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH + last)
        .unwrap_or_default();
    std::thread::sleep(grain.saturating_sub(passed));
}

/// Looks at files by several threads: a large project has tens of thousands. They are in no order.
fn look_at_all(
    root: &Path,
    paths: Vec<PathBuf>,
) -> impl Iterator<Item = (PathBuf, Option<Mark>)> + use<> {
    let parts = parts_of(paths, PATHS_A_TASK);
    let Ok(looked) = work_through(thread_count(), parts, |part| {
        let marks = part.into_iter().map(|path| {
            let mark = look(root, &path);
            (path, mark)
        });
        Ok::<_, Infallible>(Step::last(marks.collect::<Vec<_>>()))
    });
    looked.into_iter().flatten()
}

/// A link at the path itself is not followed. A link in place of a parent folder leads to another file, which has
/// another inode.
pub(super) fn look(root: &Path, path: &Path) -> Option<Mark> {
    let meta = root.join(path).symlink_metadata().ok()?;
    Some(Mark::of(&meta))
}
