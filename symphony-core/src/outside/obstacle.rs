//! What keeps an approved pull request from being merged, as the base branch shows before anybody tries.

use super::BaseView;
use crate::id::PrId;
use crate::listing::list_few;

/// Files that a sentence names; the rest is counted.
const FILES_NAMED_MAX: usize = 5;

/// An open pull request that conflicts with its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    /// The pull request.
    pub pr: PrId,
    /// Its base branch.
    pub base: String,
    /// The files that conflict.
    pub files: Vec<String>,
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
}

impl BaseView {
    /// Returns what keeps a pull request from being merged; none when nothing is known to.
    pub fn obstacle_to(&self, pr: PrId) -> Option<MergeObstacle> {
        let gone = self.gone.iter().find(|gone| {
            let mut prs = gone.prs.iter();
            prs.any(|open| open.pr == pr)
        });
        if let Some(gone) = gone {
            return Some(MergeObstacle::NoBase {
                base: gone.branch.clone(),
                commit: gone.commit.clone(),
            });
        }
        let mut conflicting = self.conflicting.iter();
        let conflict = conflicting.find(|conflict| conflict.pr == pr)?;
        Some(MergeObstacle::Conflict {
            base: conflict.base.clone(),
            files: conflict.files.clone(),
        })
    }
}

impl MergeObstacle {
    /// Says what is in the way, in words that follow "it cannot be merged:".
    pub fn text(&self) -> String {
        match self {
            Self::Conflict { base, files } => format!(
                "it conflicts with {base} in {}",
                list_few(files.iter().map(String::as_str), FILES_NAMED_MAX)
            ),
            Self::NoBase { base, .. } => format!("its base branch `{base}` does not exist"),
        }
    }

    /// Returns the commands that get on, for the pull request of this name.
    pub fn answers(&self, reference: &str) -> Vec<String> {
        let show = format!("symphony pr show {reference}");
        match self {
            Self::Conflict { base, .. } => vec![reject_for_conflict(reference, base), show],
            Self::NoBase { base, commit } => vec![
                format!("git branch {base} {commit}"),
                "symphony config set base_branch NAME".to_owned(),
                show,
            ],
        }
    }
}

/// Returns the command that has an agent resolve the conflicts of a pull request with its base.
pub fn reject_for_conflict(reference: &str, base: &str) -> String {
    format!("symphony pr reject {reference} --feedback 'merge {base} and resolve the conflicts'")
}
