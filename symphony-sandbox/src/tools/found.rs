//! Looking for toolchains on the machine.

use std::fs;
use std::path::{Path, PathBuf};

use super::Wanted;

/// The most entries of one folder of the search path that are looked at.
const ENTRIES_MAX: usize = 4096;

/// What an installation has beside its folder `bin`. A folder with none of them may be anything, such as a project.
const MARKS: &[&str] = &[
    "conda-meta",
    "include",
    "lib/node_modules",
    "pkg/include",
    "pyvenv.cfg",
];

/// A file or folder of a toolchain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The path under which programs look for it.
    pub(super) path: PathBuf,
    /// The path without links.
    pub(super) real: PathBuf,
}

/// Finds what exists of what is wanted, and what links in it lead to.
pub(super) fn find(wanted: &Wanted) -> Vec<Found> {
    let mut all: Vec<Found> = wanted
        .places
        .iter()
        .filter_map(|path| found(path))
        .collect();
    for folder in &wanted.search {
        let Some(place) = found(folder).filter(|place| place.real.is_dir()) else {
            continue;
        };
        all.extend(installation(&place.real));
        let entries = fs::read_dir(&place.real).into_iter().flatten().flatten();
        for entry in entries.take(ENTRIES_MAX) {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                all.extend(behind(&entry.path()));
            }
        }
        all.push(place);
    }
    for program in &wanted.programs {
        all.extend(found(program));
        all.extend(behind(program));
    }
    all
}

fn found(path: &Path) -> Option<Found> {
    let real = path.canonicalize().ok()?;
    Some(Found {
        path: path.to_owned(),
        real,
    })
}

/// Returns what a link to a program needs: the installation that the program belongs to, or else the program alone.
fn behind(link: &Path) -> Option<Found> {
    let real = link.canonicalize().ok()?;
    let needed = modules(&real)
        .or_else(|| installation(real.parent()?).map(|installation| installation.real))
        .unwrap_or(real);
    Some(Found {
        path: needed.clone(),
        real: needed,
    })
}

/// Returns the outermost folder of node's packages that a program is in: packages find each other there.
fn modules(program: &Path) -> Option<PathBuf> {
    program
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules"))
        .last()
        .map(Path::to_owned)
}

/// Returns the installation that a folder with programs belongs to.
fn installation(programs: &Path) -> Option<Found> {
    let root = programs
        .parent()
        .filter(|_| programs.ends_with("bin"))?
        .to_owned();
    MARKS
        .iter()
        .any(|mark| root.join(mark).exists())
        .then(|| Found {
            path: root.clone(),
            real: root,
        })
}
