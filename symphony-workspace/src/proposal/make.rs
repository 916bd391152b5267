//! Makefiles and justfiles, where nothing else has a check.

use super::folder::Folder;
use super::package::{Package, Role};

/// The files, and the program that runs their targets.
const FILES: &[(&str, &str)] = &[
    ("GNUmakefile", "make"),
    ("makefile", "make"),
    ("Makefile", "make"),
    ("justfile", "just"),
    ("Justfile", "just"),
];

/// The first file that has a target `test` or `check`.
pub(super) fn detect(folder: &Folder<'_>) -> Option<Package> {
    FILES.iter().find_map(|(file, program)| {
        let text = folder.text(file);
        let target = ["test", "check"]
            .into_iter()
            .find(|target| has_target(text, target))?;
        let command = format!("{program} {target}");
        Some(Package::new("make", folder.path).check(Role::Test, command))
    })
}

/// Returns whether a makefile or justfile has a target: its name at the start of a line, before a colon that is not an
/// assignment.
fn has_target(text: &str, target: &str) -> bool {
    text.lines()
        .filter(|line| !line.starts_with([' ', '\t', '#', '.']))
        .any(|line| {
            line.split_once(':').is_some_and(|(names, rest)| {
                !rest.starts_with('=')
                    && !names.contains('=')
                    && names.split_whitespace().any(|name| name == target)
            })
        })
}
