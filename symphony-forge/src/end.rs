//! What follows if one side has merged or closed a pull request.

use symphony_core::pull_request::PrState;
use symphony_tracker::remote::RemoteUser;

use crate::remote::{RemotePull, RemoteState};

/// What one side's end changes on the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Nothing: both are open, or both have ended.
    None,
    /// It was merged there: it is merged here too, once the base has it.
    TakeMerge {
        /// The commit of the base, as far as the forge says it.
        commit: Option<String>,
        /// Who merged it.
        by: Option<RemoteUser>,
    },
    /// Another commit than the one that is here was merged there. What the base has of ours decides.
    OtherMerged {
        /// The commit of the branch that was merged.
        head: String,
    },
    /// It was closed there, so it is closed here.
    CloseHere,
    /// It was merged or closed here, so it is closed there.
    CloseThere,
}

/// Decides what follows from the states of both sides. `head` is the commit that is here.
pub fn plan_end(ours: PrState, head: &str, theirs: &RemotePull) -> End {
    match (&theirs.state, ours) {
        (RemoteState::Merged { commit, by }, PrState::Open | PrState::Approved) => {
            if theirs.head == head {
                return End::TakeMerge {
                    commit: commit.clone(),
                    by: by.clone(),
                };
            }
            End::OtherMerged {
                head: theirs.head.clone(),
            }
        }
        (RemoteState::Closed, PrState::Open | PrState::Approved) => End::CloseHere,
        (RemoteState::Open, PrState::Merged | PrState::Closed) => End::CloseThere,
        // a rejected one is worked on, and its branch comes back
        _ => End::None,
    }
}
