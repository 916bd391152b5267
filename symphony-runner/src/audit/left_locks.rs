//! Lock files that a dead git left when it deleted a branch of Symphony's: they block creating a branch of that name,
//! or deleting any.

use symphony_core::invariant::{Invariant, Violation};
use symphony_workspace::Repository;

use crate::error::RunnerError;

pub(super) fn check(
    repository: &Repository,
    found: &mut Vec<Violation>,
) -> Result<(), RunnerError> {
    for lock in repository.left_locks()? {
        let of = match &lock.branch {
            Some(branch) => format!("of branch {branch}, which is gone"),
            None => "of the packed refs".to_owned(),
        };
        let detail = format!(
            "a git process that was killed left this lock {of}: `symphony clean` removes it"
        );
        let subject = lock.path.display().to_string();
        found.push(Violation::new(Invariant::I13, subject, detail));
    }
    Ok(())
}
