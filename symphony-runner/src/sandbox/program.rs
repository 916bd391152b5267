//! What a program needs of the disk to start at all, and a checkout to be read by git.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The most folders of objects that are followed from one to the next.
const ALTERNATES_MAX: usize = 16;

/// The folder of packages of npm and its kin.
const PACKAGES: &str = "node_modules";

/// Returns the folders that a program needs to start: the one that it is found in, and the one of the file that a link there
/// leads to. For a package of npm it is the folder of all packages, where those are that it needs itself.
///
/// Where a folder would show one of the `closed` places, it is the file alone: a script may be in the project's root.
pub(crate) fn program_paths(program: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let target = program.canonicalize().ok();
    for file in [Some(program.to_owned()), target].into_iter().flatten() {
        let Some(folder) = file.parent() else {
            continue;
        };
        let packages = folder
            .ancestors()
            .filter(|folder| folder.file_name() == Some(OsStr::new(PACKAGES)));
        let folder = packages.last().unwrap_or(folder);
        let is_broad = closed.iter().any(|place| place.starts_with(folder));
        let path = if is_broad {
            file.clone()
        } else {
            folder.to_owned()
        };
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// Returns the folder of a repository's objects, those that it borrows objects from (gitrepository-layout(5),
/// `objects/info/alternates`), and the large files of all of them.
pub(crate) fn object_folders(common: &Path) -> Vec<PathBuf> {
    let mut found = vec![common.join("objects")];
    let mut next = 0;
    while let Some(folder) = found.get(next).cloned() {
        next += 1;
        let Ok(text) = fs::read_to_string(folder.join("info/alternates")) else {
            continue;
        };
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        for path in lines.map(|line| folder.join(line)) {
            let path = path.canonicalize().unwrap_or(path);
            if found.len() < ALTERNATES_MAX && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    // Git LFS looks for files beside the objects that a git folder borrows.
    let large = found.iter().filter_map(|folder| {
        let large = folder.parent()?.join("lfs/objects");
        large.is_dir().then_some(large)
    });
    let large: Vec<PathBuf> = large.collect();
    found.extend(large);
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_linked_program_comes_with_the_folder_of_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let package = base.join("lib/node_modules/@a/cli");
        fs::create_dir_all(&package).unwrap();
        fs::create_dir_all(base.join("bin")).unwrap();
        fs::write(package.join("cli.js"), "").unwrap();
        symlink(package.join("cli.js"), base.join("bin/cli")).unwrap();
        assert_eq!(
            program_paths(&base.join("bin/cli"), &[]),
            [base.join("bin"), base.join("lib/node_modules")]
        );
        fs::write(base.join("tool"), "").unwrap();
        assert_eq!(
            program_paths(&base.join("tool"), &[base.join(".symphony")]),
            [base.join("tool")]
        );
        assert_eq!(
            program_paths(&base.join("bin/gone"), &[]),
            [base.join("bin")]
        );
    }

    #[test]
    fn borrowed_objects_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["a/objects/info", "b/objects/info", "c/objects/info"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let alternates = |of: &str, text: String| {
            fs::write(base.join(of).join("objects/info/alternates"), text).unwrap();
        };
        alternates(
            "a",
            format!("# why\n{}\n", base.join("b/objects").display()),
        );
        alternates("b", "../../c/objects\n../../a/objects\n".to_owned());
        fs::create_dir_all(base.join("b/lfs/objects")).unwrap();
        let mut expected: Vec<_> = ["a", "b", "c"]
            .map(|name| base.join(name).join("objects"))
            .to_vec();
        expected.push(base.join("b/lfs/objects"));
        assert_eq!(object_folders(&base.join("a")), expected);
    }
}
