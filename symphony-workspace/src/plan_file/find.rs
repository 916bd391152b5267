//! Finds the plan file if none is named.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use symphony_core::plan::{PlanError, find_block};

use super::read::read_plan_file;

/// Where Claude Code keeps plans, below the home folder.
pub const PLANS_FOLDER: &str = ".claude/plans";
/// The plan file's name in the folder one works in.
pub const PLAN_FILE: &str = "plan.md";

/// Most entries that are visited below the folder of plans: far more than anyone keeps there.
const ENTRIES_MAX: usize = 100_000;
/// A folder that holds other people's markdown.
const NEVER: &str = "node_modules";

/// Finds the most recently changed markdown file with a plan below `~/.claude/plans`, else `plan.md` in `current`.
///
/// Folders whose names begin with a dot, and `node_modules`, are skipped; links to folders are not followed. Files of
/// the same age are ordered by path. A file whose block is not closed counts: silently using an older plan would be a
/// surprise. Unreadable files are skipped.
pub fn find_plan_file(home: Option<&Path>, current: &Path) -> Option<PathBuf> {
    let mut candidates = home.map_or_else(Vec::new, |home| candidates(&home.join(PLANS_FOLDER)));
    candidates.sort_unstable_by(|a, b| (Reverse(a.0), &a.1).cmp(&(Reverse(b.0), &b.1)));
    let here = current.join(PLAN_FILE);
    let mut paths = candidates.into_iter().map(|(_, path)| path).chain([here]);
    paths.find(|path| has_block(path))
}

/// The markdown files below a folder, with the times of their last changes.
fn candidates(root: &Path) -> Vec<(SystemTime, PathBuf)> {
    let mut found = Vec::new();
    let mut seen = 0;
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > ENTRIES_MAX {
                return found;
            }
            let (name, path) = (entry.file_name(), entry.path());
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && (is_hidden || name == NEVER) => {}
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(_) if path.extension().is_some_and(|extension| extension == "md") => {
                    let changed = fs::metadata(&path).and_then(|meta| meta.modified());
                    found.extend(changed.ok().map(|changed| (changed, path)));
                }
                _ => {}
            }
        }
    }
    found
}

fn has_block(path: &Path) -> bool {
    read_plan_file(path).is_ok_and(|text| {
        matches!(
            find_block(&text),
            Ok(_) | Err(PlanError::UnclosedBlock { .. })
        )
    })
}
