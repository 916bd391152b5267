//! What worktrees lack of the base: submodules, and files that Git LFS keeps elsewhere. Work goes on without them.

use std::ffi::OsStr;
use std::path::Path;

use symphony_core::config::{CommandLine, ProjectConfig};
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::provider::detect::find_program;
use symphony_workspace::{CommitId, Elsewhere, FilterUse, LFS_FILTER, Repository};

use super::check::CheckView;

/// Names that are told; the rest is counted.
const NAMES_MAX: usize = 5;

pub(super) fn check_contents(
    installation: &Installation,
    config: &ProjectConfig,
    repository: &Repository,
    base: &CommitId,
) -> Vec<CheckView> {
    let Elsewhere { submodules, lfs } = match repository.elsewhere(base) {
        Ok(elsewhere) => elsewhere,
        Err(error) => {
            let mend = "look at `git ls-tree` of the base branch";
            return vec![CheckView::failed("files", &error, mend)];
        }
    };
    let filter = repository.filter_use(LFS_FILTER);
    let path = agent_search_path(&installation.environment, &config.env);
    let is_there = is_there(&filter, &path);
    let setup = config.worktree.setup.as_ref();
    let checks = [
        check_submodules(&submodules, setup),
        check_lfs(&lfs, &filter, is_there),
    ];
    checks.into_iter().flatten().collect()
}

fn is_there(filter: &FilterUse, search_path: &OsStr) -> bool {
    match filter {
        FilterUse::Runs(program) => find_program(Path::new(program), search_path).is_some(),
        FilterUse::NotTrusted | FilterUse::NotConfigured => false,
    }
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
            format!("{names}: their folders are empty in worktrees, work goes on without them"),
            "where gates or agents need them: `symphony config set worktree.setup 'git submodule update --init --recursive'`, before what is set up there now",
        ),
    })
}

fn check_lfs(patterns: &[String], filter: &FilterUse, is_there: bool) -> Option<CheckView> {
    const CHECK: &str = "git lfs";
    if patterns.is_empty() {
        return None;
    }
    let names = some_of(patterns);
    let pointers = "worktrees have pointers instead of these files, work goes on without them";
    Some(match filter {
        FilterUse::NotTrusted => CheckView::warning(
            CHECK,
            format!("{names}: {pointers} (git.trusted_filters does not name `{LFS_FILTER}`)"),
            "where gates or agents need them: name it there",
        ),
        FilterUse::NotConfigured => CheckView::warning(
            CHECK,
            format!(
                "{names}: {pointers} (your global git configuration has no `filter.{LFS_FILTER}`)"
            ),
            "where gates or agents need them: install git-lfs, then `git lfs install`",
        ),
        FilterUse::Runs(program) if is_there => CheckView::ok(
            CHECK,
            format!("{names}: `{program}` brings these files into worktrees"),
        ),
        FilterUse::Runs(program) => CheckView::failed(
            CHECK,
            &format!(
                "{names}: your global git configuration runs `{program}` on these files, and it is not in PATH: no worktree can be made"
            ),
            "install git-lfs, or take the filter out again with `git config --global --remove-section filter.lfs`",
        ),
    })
}

/// Names a few, and counts the rest.
fn some_of(names: &[String]) -> String {
    let told = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>();
    match names.len().saturating_sub(NAMES_MAX) {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
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
        let runs = FilterUse::Runs("git-lfs".to_owned());
        let table = [
            (0, &FilterUse::NotConfigured, false, None),
            (
                1,
                &FilterUse::NotTrusted,
                false,
                Some((Health::Warning, "f1: worktrees have pointers")),
            ),
            (
                1,
                &FilterUse::NotConfigured,
                false,
                Some((Health::Warning, "f1: worktrees have pointers")),
            ),
            (1, &runs, true, Some((Health::Ok, "f1: `git-lfs` brings"))),
            (1, &runs, false, Some((Health::Failed, "f1: your global"))),
        ];
        for (count, filter, is_there, expected) in table {
            assert_told(check_lfs(&names(count), filter, is_there), expected);
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
