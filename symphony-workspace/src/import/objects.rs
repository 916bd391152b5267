//! Copying the objects of a git folder: loose objects and packs, and nothing else of what is there.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::linux::Folder;

/// The most bytes that one import copies. What a run adds is kilobytes; a repacked clone of a large project is a few
/// GiB.
const BYTES_MAX: u64 = 16 << 30;

/// The most files that one import copies.
const FILES_MAX: u64 = 1_000_000;

/// Copies loose objects and packs. Their contents are checked later; names and kinds of files are checked here.
///
/// Files are copied and not linked: an agent that is still alive could change them after they were checked.
pub(super) fn copy(git_folder: &Folder, into: &Path) -> io::Result<()> {
    let objects = git_folder.folder(Path::new("objects"))?;
    let mut left = Left::new();
    for name in objects.names(Path::new(""))? {
        if is_hex(&name, 2) {
            copy_matching(&objects, &name, into, is_loose, &mut left)?;
        }
    }
    copy_matching(&objects, OsStr::new("pack"), into, is_pack, &mut left)
}

/// What may still be copied.
pub(super) struct Left {
    bytes: u64,
    files: u64,
}

impl Left {
    pub(super) const fn new() -> Self {
        Self {
            bytes: BYTES_MAX,
            files: FILES_MAX,
        }
    }

    pub(super) fn take(&mut self, bytes: u64) -> io::Result<()> {
        let too_much = || io::Error::new(ErrorKind::InvalidData, "it has too many new objects");
        self.files = self.files.checked_sub(1).ok_or_else(too_much)?;
        self.bytes = self.bytes.checked_sub(bytes).ok_or_else(too_much)?;
        Ok(())
    }
}

fn copy_matching(
    objects: &Folder,
    folder: &OsStr,
    into: &Path,
    wanted: fn(&OsStr) -> bool,
    left: &mut Left,
) -> io::Result<()> {
    let names = match objects.names(Path::new(folder)) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let to = into.join(folder);
    fs::create_dir_all(&to)?;
    let packs: Vec<OsString> = names.into_iter().filter(|name| wanted(name)).collect();
    for name in &packs {
        if is_alone(name, &packs) {
            continue;
        }
        let path = Path::new(folder).join(name);
        let file = match objects.read(&path) {
            Ok(file) => file,
            // repacked meanwhile: if something is missing then, git says so
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        copy_file(file, &to.join(name), left)?;
    }
    Ok(())
}

fn copy_file(from: File, to: &Path, left: &mut Left) -> io::Result<()> {
    let bytes = require_whole(&from)?;
    left.take(bytes)?;
    // not more than was counted, if it grows meanwhile
    let mut limited = io::Read::take(from, bytes);
    io::copy(&mut limited, &mut File::create(to)?).map(drop)
}

/// Returns the length of a file that has as much on the disk.
pub(super) fn require_whole(file: &File) -> io::Result<u64> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        let what = "one of its objects is not a file";
        return Err(io::Error::new(ErrorKind::InvalidData, what));
    }
    if is_sparse(meta.len(), meta.blocks()) {
        let what = "one of its objects says that it is much larger than it is";
        return Err(io::Error::new(ErrorKind::InvalidData, what));
    }
    Ok(meta.len())
}

/// Returns whether a file has much less on the disk than its length says: git's objects are compressed, and so not even a file system
/// that compresses makes them smaller. A copy would take the space that the file does not.
fn is_sparse(bytes: u64, blocks: u64) -> bool {
    const BLOCK_BYTES: u64 = 512;
    const SMALL_BYTES: u64 = 1 << 20;
    bytes > SMALL_BYTES && blocks.saturating_mul(BLOCK_BYTES) < bytes / 2
}

pub(super) fn is_hex(name: &OsStr, digits: usize) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.len() == digits
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte))
}

/// A loose object is named by the rest of its id, which has 40 or 64 digits in all.
fn is_loose(name: &OsStr) -> bool {
    is_hex(name, 38) || is_hex(name, 62)
}

/// Whether a pack has no index: git would not look into it.
fn is_alone(name: &OsStr, names: &[OsString]) -> bool {
    let path = Path::new(name);
    path.extension().is_some_and(|end| end == "pack")
        && !names.contains(&path.with_extension("idx").into_os_string())
}

fn is_pack(name: &OsStr) -> bool {
    let Some((stem, end)) = name.to_str().and_then(|name| name.rsplit_once('.')) else {
        return false;
    };
    let id = stem.strip_prefix("pack-").map(OsString::from);
    matches!(end, "pack" | "idx") && id.is_some_and(|id| is_hex(&id, 40) || is_hex(&id, 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_and_packs_are_copied() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        for (name, loose, pack) in [
            (id.get(2..).unwrap().to_owned(), true, false),
            (id.to_owned(), false, false),
            (format!("pack-{id}.pack"), false, true),
            (format!("pack-{id}.idx"), false, true),
            (format!("pack-{id}.promisor"), false, false),
            (format!("pack-{id}.bitmap"), false, false),
            ("multi-pack-index".to_owned(), false, false),
            ("tmp_obj_a".to_owned(), false, false),
            ("..".to_owned(), false, false),
        ] {
            let name = OsStr::new(&name);
            assert_eq!((is_loose(name), is_pack(name)), (loose, pack), "{name:?}");
        }
    }
}
