//! Large files that an agent's Git LFS kept in the agent's own git folder come into the project's.
//!
//! A file is named by the digest of what is in it, so nothing has to be believed: what does not fit its name stays out.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::objects::{Left, is_hex, require_whole};
use crate::error::WorkspaceError;
use crate::linux::Folder;
use crate::repository::Repository;
use crate::worktree::WorktreeKey;

/// Where Git LFS keeps files, in a git folder.
const LARGE: &str = "lfs";

/// Digits of a file's name: SHA-256.
const DIGITS: usize = 64;

/// Bytes that are copied at once.
const CHUNK: usize = 64 * 1024;

impl Repository {
    /// Takes in the large files that the agent's Git LFS kept. One that is not what it says is as one that is missing.
    pub(super) fn take_in_large(
        &self,
        folder: &Folder,
        key: &WorktreeKey,
    ) -> Result<(), WorkspaceError> {
        let out = take_in(folder, self.common_dir()).map_err(|source| {
            WorkspaceError::io("copy large files into", self.common_dir(), source)
        })?;
        if out > 0 {
            tracing::warn!(key = %key, out, "large files of the agent are not what their names say, and stay out");
        }
        Ok(())
    }
}

/// Copies the files that the project does not have. Returns how many stayed out because they are not what they say, or too much.
fn take_in(git_folder: &Folder, common_dir: &Path) -> io::Result<usize> {
    let below = Path::new(LARGE).join("objects");
    let mut left = Left::new();
    let mut out = 0;
    for first in hex_names(git_folder, &below, 2) {
        for second in hex_names(git_folder, &below.join(&first), 2) {
            let folder = below.join(&first).join(&second);
            for name in hex_names(git_folder, &folder, DIGITS) {
                let is_placed = name.starts_with(&format!("{first}{second}"));
                let to = common_dir.join(&folder).join(&name);
                if is_placed && to.exists() {
                    continue;
                }
                let taken = is_placed
                    && take_one(git_folder, &folder.join(&name), common_dir, &to, &mut left)?;
                out += usize::from(!taken);
            }
        }
    }
    Ok(out)
}

/// Copies one file. Returns whether it is what its name says.
fn take_one(
    git_folder: &Folder,
    path: &Path,
    common_dir: &Path,
    to: &Path,
    left: &mut Left,
) -> io::Result<bool> {
    let file = match git_folder.read(path) {
        Ok(file) => file,
        // a link, or a file that is gone: no file of Git LFS
        Err(error) if error.kind() != ErrorKind::PermissionDenied => return Ok(false),
        Err(error) => return Err(error),
    };
    let Ok(bytes) = require_whole(&file).and_then(|bytes| left.take(bytes).map(|()| bytes)) else {
        return Ok(false);
    };
    let waiting = common_dir.join(LARGE).join("tmp");
    fs::create_dir_all(&waiting)?;
    let mut copy = tempfile::NamedTempFile::new_in(&waiting)?;
    let digest = copy_digested(&mut file.take(bytes), copy.as_file_mut())?;
    if to.file_name() != Some(OsStr::new(&digest)) {
        return Ok(false);
    }
    copy.as_file()
        .set_permissions(fs::Permissions::from_mode(0o644))?;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    copy.persist(to).map_err(|error| error.error)?;
    Ok(true)
}

fn copy_digested(from: &mut impl io::Read, to: &mut File) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = from.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..read).filter(|bytes| !bytes.is_empty()) else {
            return Ok(format!("{:x}", digest.finalize()));
        };
        digest.update(bytes);
        to.write_all(bytes)?;
    }
}

/// Lists names of a number of hexadecimal digits; none where there is no such folder.
fn hex_names(folder: &Folder, path: &Path, digits: usize) -> Vec<String> {
    // where it fails nothing is there, or an agent put a file or a link there
    let names = folder.names(path).unwrap_or_default();
    let names = names.into_iter().filter(|name| is_hex(name, digits));
    names.filter_map(|name| name.into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    fn digest(text: &str) -> String {
        format!("{:x}", Sha256::digest(text))
    }

    fn place(git: &Path, name: &str) -> PathBuf {
        let (first, rest) = name.split_at(2);
        let (second, _) = rest.split_at(2);
        let folder = git.join(format!("lfs/objects/{first}/{second}"));
        fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    #[test]
    fn only_files_that_are_what_their_names_say_come_in() {
        let folder = tempfile::tempdir().unwrap();
        let (agents, project) = (folder.path().join("agents"), folder.path().join("project"));
        fs::create_dir_all(&agents).unwrap();
        let open = || Folder::open(&agents).unwrap();
        assert_eq!(take_in(&open(), &project).unwrap(), 0, "no large files");

        fs::write(place(&agents, &digest("new")), "new").unwrap();
        fs::write(place(&agents, &digest("promised")), "other").unwrap();
        let secret = folder.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        symlink(&secret, place(&agents, &digest("secret"))).unwrap();
        fs::write(agents.join("lfs/objects").join(digest("stray")), "stray").unwrap();
        let misplaced = digest("misplaced");
        fs::write(
            place(&agents, &digest("new")).with_file_name(&misplaced),
            "misplaced",
        )
        .unwrap();
        assert_eq!(take_in(&open(), &project).unwrap(), 3);
        assert_eq!(fs::read(place(&project, &digest("new"))).unwrap(), b"new");
        for absent in ["promised", "secret", "stray", "misplaced"] {
            assert!(!place(&project, &digest(absent)).exists(), "{absent}");
        }
        assert_eq!(fs::read_dir(project.join("lfs/tmp")).unwrap().count(), 0);

        // what the project has stays as it is
        fs::write(place(&project, &digest("new")), "as it was").unwrap();
        take_in(&open(), &project).unwrap();
        assert_eq!(
            fs::read(place(&project, &digest("new"))).unwrap(),
            b"as it was"
        );
    }

    #[test]
    fn a_folder_that_is_a_link_has_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let (agents, project) = (folder.path().join("agents"), folder.path().join("project"));
        let other = folder.path().join("other");
        fs::write(place(&other, &digest("x")), "x").unwrap();
        fs::create_dir_all(&agents).unwrap();
        symlink(other.join("lfs"), agents.join("lfs")).unwrap();
        assert_eq!(
            take_in(&Folder::open(&agents).unwrap(), &project).unwrap(),
            0
        );
        assert!(!project.exists());
    }
}
