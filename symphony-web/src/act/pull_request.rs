//! Pull requests: approved, rejected with points, merged, gates run again; proposals are confirmed.

use symphony_core::done::list_obstacles;
use symphony_core::pull_request::{PullRequest, PullRequestOf, VerdictKind};
use symphony_core::review_point::PointChanges;
use symphony_mcp::Reviewed;
use symphony_runner::confirm::Confirmation;
use symphony_runner::gates::check_pr;
use symphony_runner::merge::{MergeOptions, MergesUnderWay, merge_pr, settle_merges};
use symphony_runner::network::NetworkLog;
use symphony_runner::order::{PersonVerdict, RedGates, confirm_proposal, give_verdict};
use symphony_runner::session::Session;

use symphony_view::merged_sentence;

use super::points::{closed_points, new_point};
use crate::page::find_pull_request;
use crate::routes::Done;
use crate::server::{Failure, Fields, Turn};

fn page_of(pr: &PullRequest) -> String {
    format!("/prs/{}", pr.id)
}

/// Finds a pull request, after merges that were cut off are settled: the order finds it as it is then.
fn settled(session: &mut Session, id: &str) -> Result<PullRequest, Failure> {
    let (installation, store) = (&session.installation, &mut session.store);
    if let Err(error) = settle_merges(
        installation,
        store,
        &session.project,
        MergesUnderWay::WaitedFor,
    ) {
        tracing::warn!(%error, "an interrupted merge could not be settled");
    }
    find_pull_request(session, id)
}

/// Approves the head of a pull request.
pub(crate) fn approve(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let found = settled(session, id)?;
    let comment = fields.prose("text");
    let verdict = PersonVerdict {
        kind: VerdictKind::Approved,
        comment,
        commit: fields.given("commit"),
        points: PointChanges {
            new: Vec::new(),
            moved: closed_points(fields)?,
        },
        red_gates: RedGates::Refused,
        subject: Reviewed::Change,
    };
    let pr = give_verdict(session, &turn.context(), &found, &verdict)?;
    Ok(Done {
        to: page_of(&pr),
        said: format!("Approved pull request {}.", pr.id),
    })
}

/// Sends a pull request back, with what has to change: at a line of a file, or in all.
pub(crate) fn reject(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let found = settled(session, id)?;
    let verdict = PersonVerdict {
        kind: VerdictKind::Rejected,
        comment: String::new(),
        commit: fields.given("commit"),
        points: PointChanges {
            new: vec![new_point(fields)?],
            moved: Vec::new(),
        },
        red_gates: RedGates::Allowed,
        subject: Reviewed::of(&found),
    };
    let pr = give_verdict(session, &turn.context(), &found, &verdict)?;
    Ok(Done {
        to: page_of(&pr),
        said: match &pr.of {
            PullRequestOf::Issue(issue) => format!(
                "Rejected {} {}: {issue} goes back to an agent.",
                pr.noun(),
                pr.id
            ),
            PullRequestOf::Plan(plan) => {
                format!(
                    "Rejected pull request {}: plan {plan} waits for you.",
                    pr.id
                )
            }
        },
    })
}

/// Confirms a proposal that nothing is left to do.
pub(crate) fn confirm(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let found = settled(session, id)?;
    let comment = fields.prose("text");
    let ending = turn.site.ending();
    let stop = move || *ending.borrow();
    // the page of the pull request has the output of its gates
    let network = NetworkLog::default();
    let context = turn.context();
    let done = confirm_proposal(session, &context, &found, Some(&comment), &stop, &network)?;
    match done {
        Confirmation::Confirmed {
            proposal,
            in_spite_of,
        } => {
            let known = if in_spite_of.is_empty() {
                String::new()
            } else {
                format!(
                    " You confirmed it, although {}.",
                    list_obstacles(&in_spite_of)
                )
            };
            Ok(Done {
                to: page_of(&proposal),
                said: format!("{} is done: nothing was left to do.{known}", proposal.of),
            })
        }
        Confirmation::Refused { obstacles } => Err(Failure::Conflict(format!(
            "proposal {} cannot be confirmed: {}",
            found.id,
            list_obstacles(&obstacles)
        ))),
    }
}

/// Merges a pull request.
pub(crate) fn merge(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    fields: &Fields,
) -> Result<Done, Failure> {
    let found = find_pull_request(session, id)?;
    if fields
        .given("commit")
        .is_some_and(|seen| seen != found.head_commit)
    {
        return Err(Failure::Conflict(format!(
            "the head of pull request {} has changed since you looked at it: look at it again",
            found.id
        )));
    }
    let merged = merge_pr(
        &session.installation,
        &mut session.store,
        &turn.context(),
        found.id,
        &MergeOptions::default(),
    )?;
    Ok(Done {
        to: page_of(&merged.pr),
        said: merged_sentence(&merged),
    })
}

/// Runs the gates of a pull request again.
pub(crate) fn check(
    session: &mut Session,
    turn: &Turn,
    id: &str,
    _fields: &Fields,
) -> Result<Done, Failure> {
    let found = settled(session, id)?;
    let started = check_pr(
        &session.installation,
        &mut session.store,
        &turn.context(),
        found.id,
    )?;
    Ok(Done {
        to: page_of(&found),
        said: match started {
            Some(_) => "The gates are running.".to_owned(),
            None => "The gates will run as soon as a slot is free.".to_owned(),
        },
    })
}
