//! Files beside those of the commit that existed before the first command: copied ones, even if git ignores them, and
//! those of the set-up that git does not ignore.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::entry::{Entry, clear_way};
use super::tracked::{Mark, look};
use crate::copy::COPY_BYTES_MAX;

/// Most bytes of the set-up's files that are kept in memory; files beyond that are only compared by their marks, and
/// cannot be restored.
const SET_UP_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Such files, as they were.
#[derive(Debug, Default)]
pub(super) struct Kept {
    files: BTreeMap<PathBuf, Was>,
}

#[derive(Debug)]
struct Was {
    mark: Option<Mark>,
    content: Content,
}

/// What is remembered of a file.
#[derive(Debug)]
enum Content {
    /// It was not there: the set-up had removed it.
    Absent,
    Kept(Entry),
    /// It was too large, or no file.
    NotKept,
}

impl Content {
    fn of(root: &Path, path: &Path, bytes_max: u64) -> Self {
        match Entry::look(&root.join(path), bytes_max) {
            Ok(entry @ (Entry::File { .. } | Entry::Link(_))) => Self::Kept(entry),
            Err(error) if is_absent(&error) => Self::Absent,
            Ok(_) | Err(_) => Self::NotKept,
        }
    }

    fn held_bytes(&self) -> u64 {
        match self {
            Self::Kept(entry) => entry.held_bytes(),
            Self::Absent | Self::NotKept => 0,
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// What was found of them.
#[derive(Debug, Default)]
pub(super) struct KeptChanges {
    /// Files that a command had changed, and that are as they were again.
    pub(super) restored: Vec<PathBuf>,
    /// Files that a command changed, and whose content was not kept.
    pub(super) changed: Vec<PathBuf>,
}

impl Kept {
    pub(super) fn has(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// Takes files as they are now: the copied ones first, since there is not room for all.
    pub(super) fn record(
        &mut self,
        root: &Path,
        copied: impl IntoIterator<Item = PathBuf>,
        of_set_up: impl IntoIterator<Item = PathBuf>,
    ) {
        for path in copied {
            let content = Content::of(root, &path, COPY_BYTES_MAX);
            self.insert(root, path, content);
        }
        let mut room = SET_UP_BYTES_MAX;
        for path in of_set_up {
            if !self.has(&path) {
                let content = Content::of(root, &path, room);
                room -= content.held_bytes();
                self.insert(root, path, content);
            }
        }
    }

    fn insert(&mut self, root: &Path, path: PathBuf, content: Content) {
        let mark = look(root, &path);
        self.files.insert(path, Was { mark, content });
    }

    /// Puts back what commands changed.
    ///
    /// # Errors
    /// When something cannot be read or written; with its path.
    pub(super) fn restore(&mut self, root: &Path) -> Result<KeptChanges, (PathBuf, io::Error)> {
        let mut found = KeptChanges::default();
        for (path, was) in &mut self.files {
            if look(root, path) == was.mark {
                continue;
            }
            let restored = match &was.content {
                Content::NotKept => {
                    found.changed.push(path.clone());
                    Ok(false)
                }
                Content::Absent => clear_way(root, path).map(|()| true),
                Content::Kept(entry) => put_back(root, path, entry),
            };
            if restored.map_err(|error| (root.join(path), error))? {
                found.restored.push(path.clone());
            }
            was.mark = look(root, path);
        }
        Ok(found)
    }

    pub(super) fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.files.values().filter_map(|was| was.mark.as_ref())
    }
}

/// Makes what is at a path what it was; returns whether it was anything else.
fn put_back(root: &Path, path: &Path, was: &Entry) -> io::Result<bool> {
    let at = root.join(path);
    // Read only as far as it can be equal.
    let same = match Entry::look(&at, was.held_bytes()) {
        Ok(now) => now == *was,
        Err(error) if is_absent(&error) || error.kind() == ErrorKind::PermissionDenied => false,
        Err(error) => return Err(error),
    };
    let is_behind_link = path
        .ancestors()
        .skip(1)
        .any(|above| root.join(above).is_symlink());
    if same && !is_behind_link {
        return Ok(false);
    }
    clear_way(root, path)?;
    was.write(&at)?;
    Ok(true)
}
