//! What the machine offers, found out once per boot: trying it makes a sandbox, which takes longer than a start may.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use symphony_sandbox::{Bubblewrap, Facts, Programs, probe};

use crate::process::boot_id;

/// The name of the file, in the installation's own folder.
const FILE: &str = "sandbox-facts.json";

/// What was found out, with all that it depends on.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    boot: String,
    user: u32,
    /// Symphony's own executable and bubblewrap.
    programs: [FileMark; 2],
    facts: Facts,
}

/// What changes when a file is replaced.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileMark {
    path: String,
    device: u64,
    inode: u64,
    modified_ns: i64,
}

impl FileMark {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = path.metadata()?;
        Ok(Self {
            path: path.display().to_string(),
            device: metadata.dev(),
            inode: metadata.ino(),
            modified_ns: metadata
                .mtime()
                .saturating_mul(1_000_000_000)
                .saturating_add(metadata.mtime_nsec()),
        })
    }
}

/// Returns what the machine offers: what was found out since it started, or else what trying it comes to now.
///
/// Only what works is remembered. A person who installs what was missing need not do anything else.
///
/// # Errors
/// When the machine could not be tried.
pub(crate) fn facts_of(programs: &Programs, state: &Path) -> io::Result<Facts> {
    let file = state.join(FILE);
    let key = key(programs);
    if let Some((boot, user, marks)) = &key
        && let Ok(text) = fs::read(&file)
        && let Ok(known) = serde_json::from_slice::<Remembered>(&text)
        && (&known.boot, known.user, &known.programs) == (boot, *user, marks)
    {
        return Ok(known.facts);
    }
    let facts = probe(programs)?;
    if let (Some((boot, user, programs)), Bubblewrap::Works { .. }) = (key, &facts.bubblewrap) {
        let known = Remembered {
            boot,
            user,
            programs,
            facts: facts.clone(),
        };
        // Without the file the next start takes longer, and that is all.
        if let Ok(text) = serde_json::to_string(&known) {
            drop(symphony_workspace::write_private(&file, &text));
        }
    }
    Ok(facts)
}

fn key(programs: &Programs) -> Option<(String, u32, [FileMark; 2])> {
    let marks = [
        FileMark::of(&programs.symphony).ok()?,
        FileMark::of(&programs.bwrap).ok()?,
    ];
    let user = rustix::process::geteuid().as_raw();
    Some((boot_id().ok()?.to_owned(), user, marks))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn programs(folder: &Path, script: &str) -> Programs {
        let bwrap = folder.join("bwrap");
        fs::write(&bwrap, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&bwrap, fs::Permissions::from_mode(0o700)).unwrap();
        Programs {
            symphony: "/proc/self/exe".into(),
            bwrap,
        }
    }

    #[test]
    fn what_does_not_work_is_tried_again_and_what_works_is_remembered_until_something_changes() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let old = programs(state, "echo bubblewrap 0.4.0");
        let found = facts_of(&old, state).unwrap();
        assert!(matches!(found.bubblewrap, Bubblewrap::Old { .. }));
        assert!(!state.join(FILE).exists());

        let works = Bubblewrap::Works {
            version: "9.9".to_owned(),
        };
        let (boot, user, marks) = key(&old).unwrap();
        let known = Remembered {
            boot,
            user,
            programs: marks,
            facts: Facts {
                bubblewrap: works.clone(),
                landlock_abi: Some(7),
            },
        };
        fs::write(state.join(FILE), serde_json::to_string(&known).unwrap()).unwrap();
        assert_eq!(facts_of(&old, state).unwrap().bubblewrap, works);

        // a program that was replaced is tried again
        fs::remove_file(state.join("bwrap")).unwrap();
        let new = programs(state, "echo bubblewrap 0.5.0");
        let found = facts_of(&new, state).unwrap();
        assert!(matches!(found.bubblewrap, Bubblewrap::Old { .. }));
    }
}
