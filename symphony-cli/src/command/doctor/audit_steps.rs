//! What an audit is doing, on a line of a terminal: a large installation takes minutes.

use indicatif::ProgressBar;
use symphony_runner::audit::AuditStep;
use symphony_store::AuditStep as DatabaseStep;
use symphony_view::text::{one_line, plural};

use crate::output::Output;
use crate::progress::spinning;

/// The line, which is there only while someone watches.
#[derive(Debug)]
pub(super) struct ShownSteps(Option<ProgressBar>);

impl ShownSteps {
    pub(super) fn new(out: Output) -> Self {
        Self(
            out.is_watched()
                .then(|| spinning(ProgressBar::new_spinner())),
        )
    }

    /// Shows the step that is taken now.
    pub(super) fn show(&self, step: &AuditStep) {
        if let Some(bar) = &self.0 {
            bar.set_message(one_line(&words(step)).into_owned());
        }
    }
}

/// Removes the line: the answer follows, or an error.
impl Drop for ShownSteps {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn words(step: &AuditStep) -> String {
    match step {
        AuditStep::Database(DatabaseStep::File) => "Checking the database file".to_owned(),
        AuditStep::Database(DatabaseStep::Rows { done, total }) => {
            format!("Checking the database: check {} of {total}", done + 1)
        }
        AuditStep::Database(DatabaseStep::Logs { done, total }) => {
            let total = plural(usize::try_from(*total).unwrap_or(usize::MAX), "issue");
            format!("Replaying the log: {done} of {total}")
        }
        AuditStep::Project(project) => {
            format!("Checking the repository and files of project {project}")
        }
    }
}

#[cfg(test)]
mod tests {
    use symphony_core::id::ProjectId;

    use super::*;

    #[test]
    fn each_step_says_what_is_checked_and_how_far_it_is() {
        let project = ProjectId::parse("web").unwrap();
        for (step, expected) in [
            (
                AuditStep::Database(DatabaseStep::File),
                "Checking the database file",
            ),
            (
                AuditStep::Database(DatabaseStep::Rows { done: 0, total: 30 }),
                "Checking the database: check 1 of 30",
            ),
            (
                AuditStep::Database(DatabaseStep::Logs {
                    done: 500,
                    total: 1_000,
                }),
                "Replaying the log: 500 of 1000 issues",
            ),
            (
                AuditStep::Database(DatabaseStep::Logs { done: 0, total: 1 }),
                "Replaying the log: 0 of 1 issue",
            ),
            (
                AuditStep::Project(project),
                "Checking the repository and files of project web",
            ),
        ] {
            assert_eq!(words(&step), expected);
        }
    }
}
