//! Looking for toolchains on the machine.

use std::collections::BTreeSet;
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// The path under which programs look for it.
    pub(super) path: PathBuf,
    /// The path without links.
    pub(super) real: PathBuf,
}

/// Finds what exists of what is wanted, and what links in it lead to; each once.
pub(super) fn find(wanted: &Wanted) -> Vec<Found> {
    let mut all: BTreeSet<Found> = wanted
        .places
        .iter()
        .filter_map(|path| found(path))
        .collect();
    let mut targets = BTreeSet::new();
    // a folder may be in the search path several times
    let search: BTreeSet<&PathBuf> = wanted.search.iter().collect();
    for folder in search {
        let Some(place) = found(folder).filter(|place| place.real.is_dir()) else {
            continue;
        };
        all.extend(installation(&place.real));
        targets.extend(behind_links_in(&place.real));
        all.insert(place);
    }
    for program in &wanted.programs {
        all.extend(found(program));
        targets.extend(program.canonicalize());
    }
    all.extend(targets.into_iter().map(behind));
    all.into_iter().collect()
}

/// Returns where the links of a folder lead to. Of a manager's programs, many are links to the same one.
fn behind_links_in(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries
        .take(ENTRIES_MAX)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let texts: BTreeSet<PathBuf> = links
        .filter_map(|link| fs::read_link(link.path()).ok())
        .collect();
    texts
        .iter()
        .filter_map(|text| folder.join(text).canonicalize().ok())
        .collect()
}

fn found(path: &Path) -> Option<Found> {
    let real = path.canonicalize().ok()?;
    Some(Found {
        path: path.to_owned(),
        real,
    })
}

/// Returns what a link to a program needs: the installation that the program belongs to, or else the program alone. `real` is
/// the program's path without links.
fn behind(real: PathBuf) -> Found {
    let needed = modules(&real)
        .or_else(|| installation(real.parent()?).map(|installation| installation.real))
        .unwrap_or(real);
    Found {
        path: needed.clone(),
        real: needed,
    }
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
