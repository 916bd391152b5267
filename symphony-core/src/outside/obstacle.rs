//! What keeps an approved pull request from being merged, as the base branch shows before anyone tries.

use super::conflict::reject_for_conflict;
use super::{ReturningCommits, UnpublishedHead};
use crate::command_line::shell_quoted;
use crate::id::PrId;
use crate::listing::list_few;
use crate::pull_request_of::PullRequestOf;

/// Most files that a sentence lists; the rest is counted.
const FILES_NAMED_MAX: usize = 5;

/// An approved pull request whose merge would overwrite files in the checkout of its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutInTheWay {
    /// The pull request.
    pub pr: PrId,
    /// The checkout.
    pub path: String,
    /// Files there that are changed, or untracked and at the paths of the change's.
    pub files: Vec<String>,
}

/// An open pull request whose branch has moved away from the reviewed commit, or whose reviewed commit is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostHead {
    /// The pull request.
    pub pr: PrId,
    /// What it finishes.
    pub of: PullRequestOf,
    /// What there is in its place.
    pub found: HeadFound,
}

/// What exists instead of a reviewed commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadFound {
    /// Nothing: the repository does not have it.
    Gone {
        /// The commit.
        commit: String,
        /// The newest ref that other work on the same was saved to.
        rescue: Option<String>,
    },
    /// Its branch has gone on, or back.
    Moved {
        /// The branch.
        branch: String,
        /// Where that is.
        now: String,
        /// The command that takes it back.
        back: String,
    },
}

/// Why a pull request cannot be merged as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeObstacle {
    /// It conflicts with its base.
    Conflict {
        /// The base branch.
        base: String,
        /// The files.
        files: Vec<String>,
    },
    /// Its base branch does not exist.
    NoBase {
        /// The branch.
        base: String,
        /// Where it was last.
        commit: String,
    },
    /// The reviewed commit cannot be merged: it is missing.
    Head(LostHead),
    /// It refers to commits of submodules that no one could fetch.
    Unpublished(UnpublishedHead),
    /// It would bring back what was removed from its base.
    Returning(ReturningCommits),
    /// Files in the checkout of its base are in the way.
    Checkout(CheckoutInTheWay),
}

impl MergeObstacle {
    /// Describes what is in the way, in words that follow "it cannot be merged:".
    pub fn text(&self) -> String {
        match self {
            Self::Conflict { base, files } => format!(
                "it conflicts with {base} in {}",
                list_few(files.iter().map(String::as_str), FILES_NAMED_MAX)
            ),
            Self::NoBase { base, .. } => format!("its base branch `{base}` does not exist"),
            Self::Head(lost) => lost.found.text(),
            Self::Unpublished(head) => head.text(),
            Self::Returning(commits) => commits.text(),
            Self::Checkout(checkout) => format!(
                "it would overwrite {} in {}: commit, stash or move that first",
                list_few(checkout.files.iter().map(String::as_str), FILES_NAMED_MAX),
                checkout.path
            ),
        }
    }

    /// Returns the commands that resolve it, for the pull request of this name.
    pub fn answers(&self, reference: &str) -> Vec<String> {
        let show = format!("symphony pr show {reference}");
        match self {
            Self::Conflict { base, .. } => vec![reject_for_conflict(reference, base), show],
            Self::NoBase { base, commit } => vec![
                format!("git branch {base} {commit}"),
                "symphony config set base_branch NAME".to_owned(),
                show,
            ],
            Self::Head(lost) => {
                let mut answers = lost.answers(reference);
                answers.push(show);
                answers
            }
            Self::Unpublished(head) => {
                let mut answers = head.answers(reference);
                answers.push(show);
                answers
            }
            Self::Returning(commits) => {
                let mut answers = commits.answers(reference);
                answers.push(show);
                answers
            }
            Self::Checkout(checkout) => {
                let mut answers = checkout.answers();
                answers.push(show);
                answers
            }
        }
    }

    /// Returns whether looking at the pull request again is useless, too: its gates and its judge need the commit.
    pub const fn is_gone(&self) -> bool {
        matches!(
            self,
            Self::Head(LostHead {
                found: HeadFound::Gone { .. },
                ..
            })
        )
    }
}

impl CheckoutInTheWay {
    /// Returns the commands that show what is in the way, and move it away: both include what git ignores.
    fn answers(&self) -> Vec<String> {
        let git = format!("git -C {}", shell_quoted(&self.path));
        let named = self.files.iter().take(FILES_NAMED_MAX);
        let files: Vec<String> = named.map(|file| shell_quoted(file)).collect();
        let files = files.join(" ");
        vec![
            format!("{git} status --ignored -- {files}"),
            format!("{git} stash push --all -- {files}"),
        ]
    }
}

impl HeadFound {
    /// Describes what is wrong, in words that follow "it cannot be merged:".
    pub fn text(&self) -> String {
        match self {
            Self::Gone { commit, rescue } => {
                let saved = rescue.as_ref().map_or_else(String::new, |rescue| {
                    format!("; other work on it was saved to {rescue}")
                });
                format!("the repository no longer has its commit {commit}{saved}")
            }
            Self::Moved { branch, now, .. } => {
                format!("its branch {branch} is now at {now}, which was not reviewed")
            }
        }
    }
}

impl LostHead {
    /// Returns the commands that get on.
    pub fn answers(&self, reference: &str) -> Vec<String> {
        let reject =
            |feedback: &str| format!("symphony pr reject {reference} --feedback {feedback}");
        match (&self.found, &self.of) {
            (HeadFound::Moved { back, .. }, _) => vec![back.clone(), reject("TEXT")],
            (HeadFound::Gone { rescue, .. }, PullRequestOf::Issue(_)) => {
                let look = rescue.as_ref().map(|rescue| format!("git log {rescue}"));
                let ways = [
                    Some(reject("'the commit is gone: redo the work'")),
                    look,
                    Some(format!("symphony pr close {reference}")),
                ];
                ways.into_iter().flatten().collect()
            }
            (HeadFound::Gone { rescue, .. }, PullRequestOf::Plan(plan)) => {
                let look = rescue.as_ref().map(|rescue| format!("git log {rescue}"));
                let ways = [
                    Some(format!("symphony pr close {reference}")),
                    look,
                    Some(format!("symphony plan abort --plan {plan}")),
                ];
                ways.into_iter().flatten().collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{IssueId, PlanId};
    use crate::outside::base_view::BaseView;

    #[test]
    fn a_checkout_in_the_way_is_named_with_what_puts_it_away() {
        let pr = PrId::new(1);
        let view = BaseView {
            overwriting: vec![CheckoutInTheWay {
                pr,
                path: "/home/ada/my project".to_owned(),
                files: vec!["new.txt".to_owned()],
            }],
            ..BaseView::default()
        };
        let obstacle = view.obstacle_to(pr).unwrap();
        assert_eq!(
            obstacle.text(),
            "it would overwrite new.txt in /home/ada/my project: commit, stash or move that first"
        );
        assert_eq!(
            obstacle.answers("X"),
            [
                "git -C '/home/ada/my project' status --ignored -- new.txt",
                "git -C '/home/ada/my project' stash push --all -- new.txt",
                "symphony pr show X",
            ]
        );
        assert_eq!(view.obstacle_to(PrId::new(2)), None);
    }

    #[test]
    fn a_head_that_is_not_there_is_named_with_ways_that_work() {
        let issue = || PullRequestOf::from(IssueId::parse("SYM-1").unwrap());
        let plan = || PullRequestOf::from(PlanId::parse("ship").unwrap());
        let gone = |rescue: Option<&str>| HeadFound::Gone {
            commit: "abc".to_owned(),
            rescue: rescue.map(str::to_owned),
        };
        let moved = HeadFound::Moved {
            branch: "symphony/SYM-1".to_owned(),
            now: "def".to_owned(),
            back: "git branch -f symphony/SYM-1 abc".to_owned(),
        };
        let again = "symphony pr reject X --feedback 'the commit is gone: redo the work'";
        for (of, found, text, answers) in [
            (
                issue(),
                gone(None),
                "the repository no longer has its commit abc",
                vec![again, "symphony pr close X", "symphony pr show X"],
            ),
            (
                issue(),
                gone(Some("refs/r")),
                "the repository no longer has its commit abc; other work on it was saved to refs/r",
                vec![
                    again,
                    "git log refs/r",
                    "symphony pr close X",
                    "symphony pr show X",
                ],
            ),
            (
                plan(),
                gone(None),
                "the repository no longer has its commit abc",
                vec![
                    "symphony pr close X",
                    "symphony plan abort --plan ship",
                    "symphony pr show X",
                ],
            ),
            (
                issue(),
                moved,
                "its branch symphony/SYM-1 is now at def, which was not reviewed",
                vec![
                    "git branch -f symphony/SYM-1 abc",
                    "symphony pr reject X --feedback TEXT",
                    "symphony pr show X",
                ],
            ),
        ] {
            let pr = PrId::new(1);
            let view = BaseView {
                lost: vec![LostHead { pr, of, found }],
                ..BaseView::default()
            };
            let obstacle = view.obstacle_to(pr).unwrap();
            assert_eq!(obstacle.text(), text);
            assert_eq!(obstacle.answers("X"), answers);
            assert_eq!(view.obstacle_to(PrId::new(2)), None);
        }
    }
}
