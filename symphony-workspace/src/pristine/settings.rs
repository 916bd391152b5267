//! The configuration of a private clone: nothing of the repository's decides which bytes git writes.
//!
//! Agents can write the repository's configuration. A gate that was green because of `core.symlinks = false` would be
//! red in every other clone, so a private clone has git's own defaults, but for what its file system cannot do.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// What a file system can do, found out as `git init` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileSystem {
    keeps_modes: bool,
    has_links: bool,
}

impl FileSystem {
    fn of(folder: &Path) -> Self {
        let file = folder.join("mode-probe");
        let link = folder.join("link-probe");
        let mode = |mode| {
            let set = fs::set_permissions(&file, fs::Permissions::from_mode(mode));
            let meta = set.and_then(|()| fs::metadata(&file));
            meta.is_ok_and(|meta| meta.permissions().mode() & 0o777 == mode)
        };
        let found = Self {
            keeps_modes: fs::write(&file, "").is_ok() && mode(0o600) && mode(0o700),
            has_links: symlink("file", &link).is_ok(),
        };
        drop(fs::remove_file(&file));
        drop(fs::remove_file(&link));
        found
    }
}

/// Returns the configuration file of a clone in a git folder, which is there already.
pub(crate) fn config_text(git_dir: &Path, common_dir: &Path, is_sha256: bool) -> String {
    text_of(FileSystem::of(git_dir), is_sha256, &common_dir.join("lfs"))
}

fn text_of(file_system: FileSystem, is_sha256: bool, lfs: &Path) -> String {
    let version = u8::from(is_sha256);
    let mut lines = vec![
        "[core]".to_owned(),
        format!("\trepositoryformatversion = {version}"),
        "\tbare = false".to_owned(),
    ];
    if !file_system.keeps_modes {
        lines.push("\tfilemode = false".to_owned());
    }
    if !file_system.has_links {
        lines.push("\tsymlinks = false".to_owned());
    }
    if is_sha256 {
        lines.extend(["[extensions]", "\tobjectformat = sha256"].map(str::to_owned));
    }
    // Git LFS finds its files where the repository keeps them.
    if let Some(lfs) = lfs.to_str().filter(|_| lfs.is_dir()) {
        lines.push("[lfs]".to_owned());
        lines.push(format!("\tstorage = \"{}\"", escaped(lfs)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_file_system_decides_about_bytes() {
        let none = Path::new("/no/such/folder");
        let usual = FileSystem {
            keeps_modes: true,
            has_links: true,
        };
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(FileSystem::of(folder.path()), usual);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(
            text_of(usual, false, none),
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        );
        let poor = FileSystem {
            keeps_modes: false,
            has_links: false,
        };
        assert_eq!(
            text_of(poor, true, none),
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tfilemode = false\n\tsymlinks = false\n[extensions]\n\tobjectformat = sha256\n"
        );
        let odd = folder.path().join("a \"b\\c");
        fs::create_dir(&odd).unwrap();
        assert!(text_of(usual, false, &odd).ends_with("a \\\"b\\\\c\"\n"));
    }
}
