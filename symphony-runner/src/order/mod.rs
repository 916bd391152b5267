//! A person's orders: what a command and a page do, by the same functions. Each refuses with a fact; the face says what to do then.

mod close;
mod ending;
mod issue;
mod phase;
mod point;
mod proposal;
mod retry;
mod say;
mod secrets;
mod shift;
mod verdict;

pub use close::close_pr;
pub use ending::{Ended, Ending, end_issue};
pub use issue::{Edited, EndedReview, add_issue, edit_issue, unknown_phase, unusable_choice};
pub use phase::give_phase_verdict;
pub use point::{MovedPoints, Replied, move_points, reply_to_point};
pub use proposal::confirm_proposal;
pub use retry::retry_issue;
pub use say::{Sent, Withdrawn, say_to_issue, say_to_run, withdraw_message};
pub use secrets::SecretCheck;
pub use shift::{Shifted, shift_issue};
pub(crate) use verdict::record_verdict;
pub use verdict::{PersonVerdict, RedGates, give_verdict};

use symphony_core::id::{IssueId, PrId, RunId};
use symphony_core::issue::IssueStatus;
use symphony_core::listing::list_few;
use symphony_core::message::NoAddressee;

/// Dependent issues that a refusal names; the rest is counted.
const NAMED_MAX: usize = 5;

/// Why an order is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderRefusal {
    /// Required gates are red, and the approval was not forced.
    #[error("required gates of pull request {pr} are red")]
    RedGates {
        /// The pull request.
        pr: PrId,
    },
    /// The order is about a change, and this is a proposal that nothing is left to do; or the other way round.
    #[error(
        "pull request {pr} does not take this order: a change is approved or rejected, and a proposal that nothing is left to do is confirmed or rejected"
    )]
    OtherSubject {
        /// The pull request.
        pr: PrId,
    },
    /// What has ended is taken up again by moving it, not by a retry.
    #[error("{issue} is `{status}`")]
    Ended {
        /// The issue.
        issue: IssueId,
        /// Where it is.
        status: IssueStatus,
    },
    /// There is no agent on an issue that could read a message.
    #[error("run {run} {}", without_reader(*why))]
    NoAddressee {
        /// The run.
        run: RunId,
        /// Why.
        why: NoAddressee,
    },
    /// Issues depend on one that is to be cancelled, and nobody has decided what happens to them.
    #[error("{} on {issue}", who_depends(dependents))]
    Dependents {
        /// The issue.
        issue: IssueId,
        /// Those that depend on it directly.
        dependents: Vec<IssueId>,
    },
    /// Nothing that an agent delivered for the issue's phase awaits a verdict.
    #[error("no delivery of {issue} awaits a verdict")]
    NoDelivery {
        /// The issue.
        issue: IssueId,
    },
    /// A label names a gate to repair that the project does not have.
    #[error("the project has no gate `{gate}`")]
    NoGate {
        /// The name.
        gate: String,
    },
    /// Another issue is to repair the gate that a label names.
    #[error("{issue} (`{status}`) is already there to repair the gate `{gate}`")]
    RepairedElsewhere {
        /// The gate.
        gate: String,
        /// The other issue.
        issue: IssueId,
        /// Where it is.
        status: IssueStatus,
    },
    /// A text holds the value of a secret.
    #[error(
        "nothing was recorded: the text contains the value of {held}, and agents would read it"
    )]
    Secret {
        /// The names of the secrets.
        held: String,
    },
}

fn who_depends(dependents: &[IssueId]) -> String {
    let verb = if dependents.len() == 1 {
        "depends"
    } else {
        "depend"
    };
    let names = dependents.iter().map(IssueId::as_str);
    format!("{} {verb}", list_few(names, NAMED_MAX))
}

const fn without_reader(why: NoAddressee) -> &'static str {
    match why {
        NoAddressee::Gates => "runs gates: it has no agent",
        NoAddressee::Plan => "works for a plan, whose agents take no messages",
        NoAddressee::Project => {
            "works for the project, not on an issue: its agent takes no messages"
        }
    }
}
