//! What to type when something is not merged, published or reviewed.

use symphony_core::outside::{HeadFound, LostHead, MergeObstacle, reject_for_conflict, ways_on};
use symphony_core::pull_request::{PrState, PullRequestOf};
use symphony_runner::merge::{MergeRefusal, NotMerged};
use symphony_store::ReviewRefusal;

/// Says how a merge that was refused can go on.
pub(super) fn merge_hint(error: &NotMerged) -> Option<String> {
    let name = error.of.reference(error.pr);
    let (again, does) = if error.is_proposal {
        (format!("symphony done approve {name}"), "confirms")
    } else {
        (format!("symphony pr merge {name}"), "merges")
    };
    let force = format!("`symphony pr merge {name} --force` merges anyway");
    let hint = match &error.why {
        MergeRefusal::UnderWay => {
            format!("wait for it; `symphony pr show {name}` shows how it ended")
        }
        MergeRefusal::UnderWayAt { host } => {
            format!(
                "`symphony pr show {name}` on {host} settles it; once it is ten minutes old, `{again}` here does"
            )
        }
        MergeRefusal::OpenPoints(_) => {
            let subject = match &error.of {
                PullRequestOf::Issue(issue) => issue.to_string(),
                PullRequestOf::Plan(plan) => plan.to_string(),
            };
            format!(
                "`symphony point list {subject}` shows the points and their answers, `symphony point close {subject} \
                 NUMBER` closes one; {force}"
            )
        }
        MergeRefusal::Obstacle(obstacle) => obstacle_hint(error, obstacle, &name),
        MergeRefusal::Filter { .. } => {
            format!(
                "`symphony pr reject {name} --feedback TEXT` gives it back to an agent; {force}"
            )
        }
        MergeRefusal::RedGates { logs: None, .. } => {
            format!("`symphony pr check {name}` runs them again; {force}")
        }
        MergeRefusal::RedGates { .. } | MergeRefusal::Checks(_) => force,
        MergeRefusal::ChangedByGates(_) if error.is_proposal => {
            format!("`symphony inbox` has a notice: check it, then run `{again}` again")
        }
        MergeRefusal::ChangedByGates(_) => {
            format!("`symphony inbox` has a notice: check it, then run `{again}` again; {force}")
        }
        MergeRefusal::MergedThere { .. } => {
            format!("once it can be recorded, run `{again}` or `symphony forge sync`")
        }
        MergeRefusal::OtherBase { here, .. } => {
            format!("change its base at the forge to `{here}`, or close it there")
        }
        MergeRefusal::ProtectedBase(_) => {
            format!("`symphony config set forge.merge forge` makes merges there; {force}")
        }
        MergeRefusal::BaseAhead { base, remote } => format!(
            "push them with `git push {remote} {base}`, or take them out of `{base}`, then run `{again}` again"
        ),
        MergeRefusal::Stopped => format!("`{again}` {does} it"),
        _ => return None,
    };
    Some(hint)
}

fn obstacle_hint(error: &NotMerged, obstacle: &MergeObstacle, name: &str) -> String {
    let listed = |ways: Vec<String>| {
        let ways: Vec<String> = ways.iter().map(|way| format!("`{way}`")).collect();
        ways.join(" or ")
    };
    match obstacle {
        MergeObstacle::NoBase { base, commit } => ways_on(base, commit),
        MergeObstacle::Conflict { base, .. } => {
            let reject = reject_for_conflict(name, base);
            match &error.of {
                PullRequestOf::Issue(_) => format!("`{reject}` gives it back to an agent"),
                PullRequestOf::Plan(plan) => format!(
                    "`{reject}`, then `symphony plan retry PHASE --plan {plan}`, gives it back to a phase"
                ),
            }
        }
        MergeObstacle::Head(LostHead {
            found: HeadFound::Moved { back, .. },
            ..
        }) => format!(
            "`symphony pr reject {name} --feedback TEXT` has it opened again with the later commits, `{back}` leaves \
             them out"
        ),
        MergeObstacle::Head(lost) => format!("to continue, run {}", listed(lost.answers(name))),
        MergeObstacle::Unpublished(found) => {
            let (mut ways, force) = (
                found.answers(name),
                format!("symphony pr merge {name} --force"),
            );
            if !ways.contains(&force) {
                ways.push(force);
            }
            format!("to continue, run {}", listed(ways))
        }
        MergeObstacle::Returning(found) => {
            format!("to continue, run {}", listed(found.answers(name)))
        }
        MergeObstacle::Checkout(_) => {
            format!("to continue, run {}", listed(obstacle.answers(name)))
        }
    }
}

/// Says how something that was refused about a review can go on.
pub(super) fn review_hint(error: &ReviewRefusal) -> Option<String> {
    match error {
        ReviewRefusal::Ended {
            pr,
            of: PullRequestOf::Plan(_),
            state: PrState::Rejected | PrState::Closed,
            ..
        } => Some(format!(
            "`symphony pr approve {pr} --force --comment TEXT` overrides that"
        )),
        ReviewRefusal::Proposal { pr, of } => Some(format!(
            "`symphony done approve {}` confirms it",
            of.reference(*pr)
        )),
        _ => None,
    }
}
