//! Which files are copied.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::config_file::CONFIG_FILE_NAME;
use crate::error::WorkspaceError;

/// Files that no commit of an agent takes and whose values are secret, whatever the configuration says.
const ALWAYS: &[&str] = &[".env", ".env.local", CONFIG_FILE_NAME];

/// Symphony's own files: a formatter or a linter that a gate runs over everything would find fault with them.
const OWN: &[&str] = &[CONFIG_FILE_NAME, ".symphony-state.json"];

/// Returns whether a file of the project's root is Symphony's own and stays out of worktrees and checkouts, unless the
/// configuration names it explicitly.
pub(super) fn is_kept_out(path: &Path, patterns: &[String]) -> bool {
    let is = |name: &str| path == Path::new(name);
    let plain = |pattern: &String| is(pattern.trim_start_matches("./"));
    OWN.iter().any(|own| is(own)) && !patterns.iter().any(plain)
}

/// Most entries that are visited for the patterns of one project: a large repository with its build output.
const ENTRIES_MAX: usize = 500_000;

/// Folders that no pattern reaches into.
const NEVER: &[&str] = &[".git", ".symphony", "node_modules"];

/// Returns the files of a project that are copied or [kept out][is_kept_out], relative and sorted; links are not
/// followed.
pub(crate) fn matching_files(
    root: &Path,
    workspaces: &Path,
    patterns: &[String],
) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
    let mut found = BTreeSet::new();
    let mut globs = GlobSetBuilder::new();
    let mut depth = 0;
    for pattern in ALWAYS
        .iter()
        .copied()
        .chain(patterns.iter().map(String::as_str))
    {
        refuse_outside(pattern)?;
        let plain = pattern.trim_start_matches("./");
        if !plain.contains(['*', '?', '[', '{', '\\']) {
            if fs::symlink_metadata(root.join(plain)).is_ok_and(|meta| !meta.is_dir()) {
                found.insert(PathBuf::from(plain));
            }
            continue;
        }
        let parts = plain.split('/').count();
        depth = if plain.contains("**") {
            usize::MAX
        } else {
            depth.max(parts)
        };
        globs.add(
            GlobBuilder::new(plain)
                .literal_separator(true)
                .build()
                .map_err(|error| WorkspaceError::Pattern {
                    pattern: pattern.to_owned(),
                    reason: error.kind().to_string(),
                })?,
        );
    }
    if depth > 0 {
        let globs = globs.build().map_err(|error| WorkspaceError::Pattern {
            pattern: patterns.join(", "),
            reason: error.to_string(),
        })?;
        walk(root, workspaces, &globs, depth, &mut found)?;
    }
    Ok(found)
}

fn refuse_outside(pattern: &str) -> Result<(), WorkspaceError> {
    let leads_out = Path::new(pattern)
        .components()
        .any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    if pattern.is_empty() || leads_out {
        return Err(WorkspaceError::Pattern {
            pattern: pattern.to_owned(),
            reason: "expected a pattern relative to the project, without `..`".to_owned(),
        });
    }
    Ok(())
}

fn walk(
    root: &Path,
    workspaces: &Path,
    globs: &GlobSet,
    depth: usize,
    found: &mut BTreeSet<PathBuf>,
) -> Result<(), WorkspaceError> {
    let mut seen = 0;
    let mut folders = vec![(PathBuf::new(), 1)];
    while let Some((folder, level)) = folders.pop() {
        // A folder that vanishes or may not be read holds nothing that could be copied.
        let Ok(entries) = fs::read_dir(root.join(&folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > ENTRIES_MAX {
                return Err(WorkspaceError::Pattern {
                    pattern: "**".to_owned(),
                    reason: format!(
                        "the project has more than {ENTRIES_MAX} entries to look at; name the folders"
                    ),
                });
            }
            let path = folder.join(entry.file_name());
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if !kind.is_dir() {
                if globs.is_match(&path) {
                    found.insert(path);
                }
                continue;
            }
            let skipped = NEVER.iter().any(|name| entry.file_name() == *name)
                || root.join(&path) == workspaces;
            if !skipped && level < depth {
                folders.push((path, level + 1));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_symphony_are_kept_out_unless_they_are_named() {
        for (path, pattern, expected) in [
            ("symphony.config.json", "*.json", true),
            ("symphony.config.json", "./symphony.config.json", false),
            (".symphony-state.json", "**/*.json", true),
            ("docs/symphony.config.json", "docs/*", false),
            (".env", "*", false),
        ] {
            let kept_out = is_kept_out(Path::new(path), &[pattern.to_owned()]);
            assert_eq!(kept_out, expected, "{path} with {pattern}");
        }
    }
}
