//! The files that a pattern matches.

use std::fs;
use std::path::Path;

use super::pattern::Pattern;
use super::problem::ContextFileProblem;

/// Most entries that are visited for one pattern: a large repository.
pub(super) const ENTRIES_MAX: usize = 500_000;
/// Other people's files.
const NEVER: &str = "node_modules";
/// The file that marks a folder of reproducible files (`bford.info/cachedir`): Cargo's `target` has one.
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// Returns the files of a project that a pattern matches, as relative paths in order of their bytes.
///
/// Skipped: links to folders, `node_modules`, folders marked as caches, and, unless the pattern names it, everything
/// that begins with a dot. Names that are not UTF-8 cannot be written into a plan and do not match.
pub(super) fn matching(root: &Path, pattern: &Pattern) -> Result<Vec<String>, ContextFileProblem> {
    let matcher = pattern.matcher()?;
    let mut found = Vec::new();
    let mut seen = 0;
    let mut folders = vec![pattern.base.clone()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > ENTRIES_MAX {
                return Err(ContextFileProblem::TooManyEntries {
                    entries_max: ENTRIES_MAX,
                });
            }
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if name.starts_with('.') && !pattern.names_hidden {
                continue;
            }
            let path = if folder.is_empty() {
                name.clone()
            } else {
                format!("{folder}/{name}")
            };
            if !kind.is_dir() {
                if matcher.is_match(&path) {
                    found.push(path);
                }
            } else if name != ".git" && name != NEVER && !is_cache(&root.join(&path)) {
                folders.push(path);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn is_cache(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(CACHE_MARK)).is_ok_and(|meta| meta.is_file())
}
