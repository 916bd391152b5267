//! Programs of gates outside of the checkout. When one of them changes, the result of a gate on the same commit may
//! change.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::Sha256;
use symphony_core::config::CommandLine;
use symphony_core::gates::{OutsideProgram, outside_programs};

use super::digest::add_stat;

/// Where programs are searched.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    /// The folders of the search path. Relative ones are in the checkout.
    folders: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl Programs {
    /// Reads the search path and the home folder of an environment.
    pub(super) fn of(environment: &BTreeMap<OsString, OsString>) -> Self {
        let variable = |name: &str| environment.get(OsStr::new(name));
        let folders = variable("PATH")
            .map(|path| {
                path.as_bytes()
                    .split(|byte| *byte == b':')
                    .map(folder)
                    .collect()
            })
            .unwrap_or_default();
        let home = variable("HOME").map(PathBuf::from);
        Self { folders, home }
    }

    /// Adds which files a command line runs, and how old they are. No file is read: a replaced program has another
    /// size, time or inode.
    pub(super) fn add(&self, digest: &mut Sha256, line: &CommandLine) {
        for program in outside_programs(line) {
            if let Some(path) = self.find(program) {
                add_stat(digest, &path.canonicalize().unwrap_or(path));
            }
        }
    }

    fn find(&self, program: OutsideProgram<'_>) -> Option<PathBuf> {
        match program {
            OutsideProgram::Named(name) => {
                let folders = self.folders.iter().filter(|folder| folder.is_absolute());
                let mut places = folders.map(|folder| folder.join(name));
                places.find(|path| path.is_file())
            }
            // A missing program and an existing one are different results.
            OutsideProgram::At(path) => self.expanded(path),
            // Files that a command reads or writes change with each run.
            OutsideProgram::Argument(path) => {
                self.expanded(path).filter(|path| is_executable(path))
            }
        }
    }

    fn expanded(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(rest) => self.home.as_ref().map(|home| home.join(rest)),
            None => Some(PathBuf::from(path)),
        }
    }
}

fn folder(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use sha2::Digest;

    use super::*;

    #[test]
    fn a_program_outside_counts_when_it_changes_and_a_file_that_is_read_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str, mode: u32| {
            std::fs::write(at(name), text).unwrap();
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(at(name), mode).unwrap();
        };
        let home = folder.path().as_os_str().to_owned();
        let environment =
            BTreeMap::from([("PATH".into(), home.clone()), ("HOME".into(), home.clone())]);
        let programs = Programs::of(&environment);
        let digest = |text: &str| {
            let mut digest = Sha256::new();
            programs.add(&mut digest, &CommandLine::Shell(text.to_owned()));
            format!("{:x}", digest.finalize())
        };
        let path = |name: &str| at(name).display().to_string();
        for (line, mode, counts) in [
            (path("tool"), 0o755, true),
            ("~/tool".to_owned(), 0o755, true),
            ("A=1 tool --all".to_owned(), 0o755, true),
            (format!("sh {}", path("tool")), 0o644, true),
            (format!("timeout 9 {}", path("tool")), 0o755, true),
            // data, and what a gate writes
            (format!("test -e {}", path("tool")), 0o644, false),
            (format!("make > {}", path("tool")), 0o755, false),
            ("./tool".to_owned(), 0o755, false),
        ] {
            write("tool", "one", mode);
            let before = digest(&line);
            assert_eq!(digest(&line), before, "{line}");
            write("tool", "another", mode);
            assert_eq!(digest(&line) != before, counts, "{line}");
        }
        let line = path("later");
        let before = digest(&line);
        write("later", "", 0o755);
        assert_ne!(digest(&line), before);
    }
}
