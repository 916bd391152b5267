//! How an approved commit goes into the base, and which subjects the base's history gets from it.
//!
//! People read a base along first parents (`git log --first-parent`). A fast-forward puts every commit of the branch
//! there, so it is only made when each of them is meaningful: none was made by exit handling, and the base's own
//! history stays the first-parent line.

use crate::change::is_work_in_progress;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;
use crate::git::Git;

/// How an approved commit goes into the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeStyle {
    /// A fast-forward where possible, whatever the subjects are.
    FastForward,
    /// A fast-forward where possible if it keeps the base's first-parent history readable, otherwise a merge commit.
    Readable,
    /// Always a merge commit.
    Commit,
    /// One commit on the base with all changes of the branch.
    Squash,
}

/// A commit of the first-parent line between base and head.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    first_parent: String,
    subject: String,
}

/// Returns whether the base may move to `head` without a merge commit, in this style. `head` must descend from `base`.
pub(super) fn may_fast_forward(
    git: &Git,
    base: &CommitId,
    head: &CommitId,
    style: MergeStyle,
) -> Result<bool, WorkspaceError> {
    match style {
        MergeStyle::FastForward => Ok(true),
        MergeStyle::Readable => Ok(is_readable(base, &steps(git, base, head)?)),
        MergeStyle::Commit | MergeStyle::Squash => Ok(false),
    }
}

/// Reads the first-parent line of `head` down to the base, newest first.
fn steps(git: &Git, base: &CommitId, head: &CommitId) -> Result<Vec<Step>, WorkspaceError> {
    let list = git
        .command("rev-list")
        .args(["--first-parent", "--format=%P%x09%s"])
        .args([head.as_str(), &format!("^{base}")])
        .slow()
        .run()?;
    let text = String::from_utf8_lossy(&list);
    Ok(text
        .lines()
        .filter(|line| !line.starts_with("commit "))
        .map(|line| {
            let (parents, subject) = line.split_once('\t').unwrap_or((line, ""));
            Step {
                first_parent: parents.split(' ').next().unwrap_or_default().to_owned(),
                subject: subject.to_owned(),
            }
        })
        .collect())
}

/// Returns whether the base's first-parent history stays as it is and gets no subject of exit handling.
fn is_readable(base: &CommitId, steps: &[Step]) -> bool {
    let ends_at_base = steps
        .last()
        .is_some_and(|step| step.first_parent == base.as_str());
    ends_at_base && !steps.iter().any(|step| is_work_in_progress(&step.subject))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_readable_when_every_step_says_something_and_leads_to_the_base() {
        let base = CommitId::parse(&"a".repeat(40)).unwrap();
        let step = |parent: &str, subject: &str| Step {
            first_parent: parent.repeat(40),
            subject: subject.to_owned(),
        };
        for (steps, expected) in [
            (vec![step("a", "Add a parser")], true),
            (
                vec![step("b", "Add tests"), step("a", "Add a parser")],
                true,
            ),
            (
                vec![
                    step("b", "Add tests"),
                    step("a", "symphony(SYM-1): work in progress"),
                ],
                false,
            ),
            // The base was merged into the branch, so its history would become the side line.
            (vec![step("c", "Merge branch 'main' into SYM-1")], false),
            (vec![], false),
        ] {
            assert_eq!(is_readable(&base, &steps), expected, "{steps:?}");
        }
    }
}
