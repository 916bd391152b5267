//! What follows if one side has merged or closed a pull request.

use symphony_core::pull_request::PrState;
use symphony_tracker::remote::RemoteUser;

use crate::remote::{RemotePull, RemoteState};

/// A pull request as it is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ours<'a> {
    /// Its state.
    pub state: PrState,
    /// The commit that was handed in.
    pub head: &'a str,
    /// The branch that it is to be merged into.
    pub base: &'a str,
    /// The commits that Symphony pushed to its branch.
    pub pushed: &'a [String],
    /// Whether no one works on it any more: its issue is done, cancelled or a duplicate.
    pub is_given_up: bool,
}

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
    /// An older commit than the one that is here was merged there. What is here needs a pull request of its own.
    OlderMerged {
        /// The commit of the branch that was merged.
        head: String,
    },
    /// It was merged there with commits that Symphony did not push. A person has to say what is missing.
    MoreMerged {
        /// The commit of the branch that was merged.
        head: String,
    },
    /// It was merged there into another branch than the one that it is for here. A person has to say what is to be.
    OtherBase {
        /// The branch.
        base: String,
    },
    /// It was merged there while an agent was sent after it again, and not as it is here: no agent is sent any more.
    Shelve {
        /// The commit of the branch that was merged.
        head: String,
    },
    /// It was closed there, so it is closed here.
    CloseHere,
    /// It was merged or closed here, so it is closed there.
    CloseThere,
}

/// Decides what follows from the states of both sides.
pub fn plan_end(ours: Ours<'_>, theirs: &RemotePull) -> End {
    match (&theirs.state, ours.state) {
        (
            RemoteState::Merged { commit, by },
            state @ (PrState::Open | PrState::Approved | PrState::Rejected),
        ) => {
            let head = theirs.head.clone();
            let is_same = head == ours.head;
            let has_base = theirs.base_branch == ours.base;
            if is_same && has_base {
                return End::TakeMerge {
                    commit: commit.clone(),
                    by: by.clone(),
                };
            }
            let is_pushed = |commit: &str| ours.pushed.iter().any(|pushed| pushed == commit);
            match state {
                PrState::Rejected => End::Shelve { head },
                _ if is_same => End::OtherBase {
                    base: theirs.base_branch.clone(),
                },
                _ if is_pushed(ours.head) && !is_pushed(&head) => End::MoreMerged { head },
                _ => End::OlderMerged { head },
            }
        }
        (RemoteState::Closed, PrState::Open | PrState::Approved | PrState::Rejected) => {
            End::CloseHere
        }
        (RemoteState::Open, PrState::Merged | PrState::Closed) => End::CloseThere,
        (RemoteState::Open, PrState::Rejected) if ours.is_given_up => End::CloseThere,
        // a rejected one is worked on, and its branch comes back
        _ => End::None,
    }
}

/// How a merge that a person orders here is made at the forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// The forge is asked to merge.
    Ask,
    /// It did merge at this person's order, and the base here has to follow.
    Follow {
        /// The commit of the base.
        commit: String,
    },
    /// Someone merged it there.
    Merged {
        /// The commit of the base, as far as the forge says it.
        commit: Option<String>,
        /// Who merged it.
        by: Option<RemoteUser>,
    },
    /// It is closed there.
    Closed,
    /// It is for another branch there.
    OtherBase {
        /// The branch.
        base: String,
    },
    /// Its branch there is at another commit.
    OtherHead {
        /// The commit.
        head: String,
    },
}

/// Decides about a merge that a person orders. `ordered` is the commit of an earlier order's merge, which was not recorded.
pub fn plan_order(ours: Ours<'_>, theirs: &RemotePull, ordered: Option<&str>) -> Order {
    match (&theirs.state, ordered) {
        (RemoteState::Merged { .. }, Some(commit)) => Order::Follow {
            commit: commit.to_owned(),
        },
        (RemoteState::Merged { commit, by }, None) => Order::Merged {
            commit: commit.clone(),
            by: by.clone(),
        },
        (RemoteState::Closed, _) => Order::Closed,
        (RemoteState::Open, _) if theirs.base_branch != ours.base => Order::OtherBase {
            base: theirs.base_branch.clone(),
        },
        (RemoteState::Open, _) if theirs.head != ours.head => Order::OtherHead {
            head: theirs.head.clone(),
        },
        (RemoteState::Open, _) => Order::Ask,
    }
}
