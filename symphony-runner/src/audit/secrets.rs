//! Secret values of copied files in the database, in the files of runs, in commits (I15). The values are never shown.

use std::path::Path;

use symphony_core::invariant::{Invariant, Violation};
use symphony_store::{Project, Store};
use symphony_workspace::{Base, BranchName, Repository, SecretFinder};

use crate::error::RunnerError;
use crate::paths::{read_capped, runs_folder};

/// Prefix of Symphony's branches.
const OWN_BRANCHES: &str = "symphony/";

pub(super) fn check(
    store: &mut Store,
    project: &Project,
    repository: &Repository,
    base: &Base,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    let Some(finder) = repository.secret_finder(&base.commit)? else {
        return Ok(());
    };
    let mut seen = Vec::new();
    store.for_each_text(&mut |place, text| {
        for secret in finder.find(text) {
            let subject = format!("{} {}", place.table, place.row);
            let detail = format!("its {} contains the value of {secret}", place.column);
            seen.push(Violation::new(Invariant::I15, subject, detail));
        }
    })?;
    found.append(&mut seen);
    check_files(&runs_folder(&project.root), &finder, found)?;
    for branch in repository.branches()? {
        if !branch.starts_with(OWN_BRANCHES) {
            continue;
        }
        let Some(head) = repository.branch_head(&BranchName::parse(&branch)?)? else {
            continue;
        };
        let scan = repository.scan_secrets(None, &base.commit, &head)?;
        let copied = scan.copied.iter().map(ToString::to_string);
        let leaks = scan.leaks.iter().map(ToString::to_string);
        for leak in copied.chain(leaks) {
            found.push(Violation::new(
                Invariant::I15,
                format!("branch {branch}"),
                format!("its commits contain {leak}"),
            ));
        }
    }
    Ok(())
}

/// Searches the files of all runs.
fn check_files(
    runs: &Path,
    finder: &SecretFinder,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    for run in children(runs)? {
        for path in children(&run)? {
            let Some(contents) = read_capped(&path)? else {
                continue;
            };
            for secret in finder.find(&contents) {
                let detail = format!("it contains the value of {secret}");
                let subject = path.display().to_string();
                found.push(Violation::new(Invariant::I15, subject, detail));
            }
        }
    }
    Ok(())
}

pub(super) fn children(folder: &Path) -> Result<Vec<std::path::PathBuf>, RunnerError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(RunnerError::io("list", folder, error)),
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}
