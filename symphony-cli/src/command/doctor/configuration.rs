//! The configuration files: what `config check` finds, all of it.

use std::path::Path;

use symphony_core::config::ConfigProblem;
use symphony_runner::RunnerError;
use symphony_workspace::config_file::load;

use super::check::CheckView;
use crate::app::App;
use crate::command::problems_of;

const CHECK: &str = "configuration";
/// What to do about a file with problems.
const FIX: &str = "correct the file; `symphony config check` checks it again";

/// Checks the files that apply to a repository; returns the problems, too, so that no other check repeats them.
pub(super) fn check_configuration(app: &App, root: &Path) -> (CheckView, Vec<ConfigProblem>) {
    let loaded = load(&app.surroundings.config_paths(), root);
    let problems = match loaded.and_then(|loaded| problems_of(&loaded, root)) {
        Ok(problems) => problems,
        Err(error) => return (CheckView::failed(CHECK, &error, FIX), Vec::new()),
    };
    let check = if problems.is_empty() {
        CheckView::ok(CHECK, "the configuration is valid")
    } else {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        CheckView::failed(CHECK, &lines.join("\n"), FIX)
    };
    (check, problems)
}

/// Returns whether an error only repeats problems that were reported.
pub(super) fn is_reported(error: &RunnerError, reported: &[ConfigProblem]) -> bool {
    match error {
        RunnerError::Config(error) => {
            let problems = error.problems();
            !problems.is_empty() && problems.iter().all(|problem| reported.contains(problem))
        }
        _ => false,
    }
}
