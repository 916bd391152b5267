//! What worktrees lack of the base: submodules, and files that Git LFS keeps elsewhere. Work continues without them.

use std::collections::BTreeMap;
use std::path::Path;

use symphony_core::config::{CommandLine, ProjectConfig};
use symphony_core::listing::list_few;
use symphony_runner::repository::BaseProblem;
use symphony_workspace::{CommitId, Elsewhere, FilterUse, LFS_FILTER, Repository, WorkspaceError};

use super::check::CheckView;

/// Names that are listed; the rest is counted.
const NAMES_MAX: usize = 5;

pub(super) fn check_contents(
    config: &ProjectConfig,
    repository: &Repository,
    base: &CommitId,
) -> Vec<CheckView> {
    let Elsewhere {
        submodules,
        mut filters,
    } = match repository.elsewhere(base) {
        Ok(elsewhere) => elsewhere,
        Err(error) => {
            let fix = "`git fsck` shows what is missing in the repository";
            return vec![CheckView::failed("files", &error, fix)];
        }
    };
    let setup = config.worktree.setup.as_ref();
    let filter = repository.filter_use(LFS_FILTER);
    let lfs = filters.remove(LFS_FILTER).unwrap_or_default();
    let checks = [
        check_submodules(&submodules, setup),
        check_lfs(lfs, filter, repository.root()),
    ];
    let others = check_filters(repository, &filters);
    checks.into_iter().flatten().chain(others).collect()
}

fn check_submodules(paths: &[String], setup: Option<&CommandLine>) -> Option<CheckView> {
    const CHECK: &str = "submodules";
    if paths.is_empty() {
        return None;
    }
    let names = some_of(paths);
    let filled = setup.map(ToString::to_string);
    Some(match filled.filter(|line| line.contains("submodule")) {
        Some(line) => CheckView::ok(
            CHECK,
            format!("{names}: the set-up command fills them ({line})"),
        ),
        None => CheckView::warning(
            CHECK,
            format!(
                "{names}: their folders are empty in worktrees, and work continues without them"
            ),
            "if gates or agents need them: put `git submodule update --init --recursive` at the start of \
             `worktree.setup`",
        ),
    })
}

fn check_lfs(patterns: Vec<String>, filter: FilterUse, root: &Path) -> Option<CheckView> {
    const CHECK: &str = "git lfs";
    if patterns.is_empty() {
        return None;
    }
    let names = some_of(&patterns);
    let pointers =
        "worktrees have pointers instead of these files, and work continues without them";
    Some(match filter {
        FilterUse::NotTrusted => CheckView::warning(
            CHECK,
            format!("{names}: {pointers} (git.trusted_filters does not name `{LFS_FILTER}`)"),
            "if gates or agents need them: add it there",
        ),
        FilterUse::NotConfigured => CheckView::warning(
            CHECK,
            format!(
                "{names}: {pointers} (your global git configuration has no `filter.{LFS_FILTER}`)"
            ),
            "if gates or agents need them: install git-lfs, then `git lfs install`",
        ),
        FilterUse::Runs(program) => CheckView::ok(
            CHECK,
            format!("{names}: `{program}` brings these files into worktrees"),
        ),
        FilterUse::Missing {
            program,
            is_needed: false,
        } => CheckView::warning(
            CHECK,
            format!("{names}: {pointers} (`{program}` is not in PATH)"),
            "if gates or agents need them: install git-lfs",
        ),
        FilterUse::Missing {
            program,
            is_needed: true,
        } => {
            let root = root.to_owned();
            let missing = WorkspaceError::FilterMissing {
                name: LFS_FILTER.to_owned(),
                program,
                patterns,
                root,
            };
            let BaseProblem { problem, fix, .. } = BaseProblem::from(&missing);
            CheckView::failed(CHECK, &problem, fix)
        }
    })
}

/// What happens to the files of filters other than Git LFS, such as git-crypt.
fn check_filters(
    repository: &Repository,
    filters: &BTreeMap<String, Vec<String>>,
) -> Option<CheckView> {
    const CHECK: &str = "git filters";
    let of_filter = |(name, patterns): (&String, &Vec<String>)| {
        let patterns = some_of(patterns);
        match repository.filter_use(name) {
            FilterUse::Runs(program) => Some(format!("{patterns}: `{program}` runs on them")),
            _ => None,
        }
    };
    match repository.require_filters() {
        Err(
            problem @ (WorkspaceError::FilterNotRun { .. } | WorkspaceError::FilterMissing { .. }),
        ) if !is_of_lfs(&problem) => {
            let BaseProblem { problem, fix, .. } = BaseProblem::from(&problem);
            Some(CheckView::failed(CHECK, &problem, fix))
        }
        _ => {
            let run: Vec<String> = filters.iter().filter_map(of_filter).collect();
            (!run.is_empty()).then(|| CheckView::ok(CHECK, run.join("; ")))
        }
    }
}

/// Git LFS has a check of its own.
fn is_of_lfs(error: &WorkspaceError) -> bool {
    matches!(error, WorkspaceError::FilterMissing { name, .. } if name == LFS_FILTER)
}

fn some_of(names: &[String]) -> String {
    list_few(names.iter().map(String::as_str), NAMES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::doctor::check::Health;

    fn names(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("f{number}")).collect()
    }

    #[test]
    fn submodules_are_told_unless_the_set_up_fills_them() {
        let setup = |text: &str| CommandLine::Shell(text.to_owned());
        let (npm, fills) = (
            setup("npm ci"),
            setup("git submodule update --init && npm ci"),
        );
        let table = [
            (0, None, None),
            (1, None, Some((Health::Warning, "f1: their"))),
            (1, Some(&npm), Some((Health::Warning, "f1: their"))),
            (
                7,
                Some(&fills),
                Some((Health::Ok, "f1, f2, f3, f4, f5 and 2 more: the set-up")),
            ),
        ];
        for (count, setup, expected) in table {
            assert_told(check_submodules(&names(count), setup), expected);
        }
    }

    #[test]
    fn what_becomes_of_files_of_lfs_is_told() {
        let missing = |is_needed| FilterUse::Missing {
            program: "git-lfs".to_owned(),
            is_needed,
        };
        let table = [
            (0, missing(true), None),
            (
                1,
                FilterUse::NotTrusted,
                Some((Health::Warning, "f1: worktrees have pointers")),
            ),
            (
                1,
                FilterUse::NotConfigured,
                Some((Health::Warning, "f1: worktrees have pointers")),
            ),
            (
                1,
                FilterUse::Runs("git-lfs".to_owned()),
                Some((Health::Ok, "f1: `git-lfs` brings")),
            ),
            (
                1,
                missing(false),
                Some((Health::Warning, "f1: worktrees have pointers")),
            ),
            (
                7,
                missing(true),
                Some((
                    Health::Failed,
                    "no worktree can be created: your global git configuration runs `git-lfs` on f1, f2, f3, f4, f5 and 2 more,",
                )),
            ),
        ];
        for (count, filter, expected) in table {
            assert_told(check_lfs(names(count), filter, Path::new("/r")), expected);
        }
    }

    #[track_caller]
    fn assert_told(found: Option<CheckView>, expected: Option<(Health, &str)>) {
        match (found, expected) {
            (None, None) => {}
            (Some(check), Some((status, begins))) => {
                assert_eq!(check.status, status, "{check:?}");
                assert!(check.detail.starts_with(begins), "{check:?}");
            }
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }
}
