//! Settling merges that were cut off.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::asker::Verification;
use symphony_core::id::PrId;
use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_store::{Context, MergeIntent, Project, Store};
use symphony_workspace::{BranchName, CommitId, Failpoint, Repository};

use super::turn::MergeTurn;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::merge::watch::note_killed_merges;
use crate::plan::show_plan_of;
use crate::repository::open_repository;
use crate::step_event::{MergeStepEvent, StepEvent};

/// How long a merge is waited for that has moved, or is moving, its base: git writes the files of a checkout.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// Time between two looks.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// Why it is not verified that a person made a merge that was cut off.
const RECORDED_LATER: &str = "another command recorded the interrupted merge";

/// Whether merges under way are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergesUnderWay {
    /// They are left alone.
    Left,
    /// They are waited for: their base is moving.
    WaitedFor,
}

/// Settles the merges of a project that were cut off: those that reached their base are recorded, the others taken back, and what
/// their gates changed is noted. Returns what was done, a line each.
///
/// # Errors
/// When git or the database fails.
pub fn settle_merges(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    under_way: MergesUnderWay,
) -> Result<Vec<StepEvent>, RunnerError> {
    let settled = settle_intents(installation, store, project, under_way)?;
    note_killed_merges(installation, store, project)?;
    Ok(settled)
}

fn settle_intents(
    installation: &Installation,
    store: &mut Store,
    project: &Project,
    under_way: MergesUnderWay,
) -> Result<Vec<StepEvent>, RunnerError> {
    let intents = store.merge_intents(&project.id)?;
    if intents.is_empty() {
        return Ok(Vec::new());
    }
    let config = installation.project_config(project)?;
    let repository = open_repository(project, &config)?;
    let mut events = Vec::new();
    for intent in intents {
        let pr = store.pr(intent.pr)?;
        // The lock of a merge is held for as long as its process lives, so an intent whose lock is free was interrupted.
        let Some(turn) = turn_at(project, &pr.of, under_way)? else {
            continue;
        };
        let person = Verification::Unverified(RECORDED_LATER.to_owned());
        let context = Context::person(person, Timestamp::now());
        let event = match settle_cut_off(store, &repository, &turn, &pr)? {
            Settled::Nothing => continue,
            Settled::Reached(commit) => {
                record(store, &context, pr.id, &commit)?;
                MergeStepEvent::Recorded
            }
            Settled::TakenBack => MergeStepEvent::TakenBack,
        };
        events.push(StepEvent::Merge {
            of: pr.of,
            pr: pr.id,
            base: pr.base,
            event,
        });
    }
    Ok(events)
}

fn turn_at(
    project: &Project,
    of: &PullRequestOf,
    under_way: MergesUnderWay,
) -> Result<Option<MergeTurn>, RunnerError> {
    let begun = Instant::now();
    loop {
        let turn = MergeTurn::take(project, of)?;
        let is_over = under_way == MergesUnderWay::Left || begun.elapsed() > WAIT_MAX;
        if turn.is_some() || is_over {
            return Ok(turn);
        }
        std::thread::sleep(LOOK);
    }
}

/// What happened to a merge that was cut off.
#[derive(Debug)]
pub(crate) enum Settled {
    /// There was none.
    Nothing,
    /// It had reached its base: this commit is to be recorded.
    Reached(CommitId),
    /// It had not.
    TakenBack,
}

/// Settles the merge of a pull request that was cut off; whoever has the turn knows that no one else is at work with it. One that
/// reached its base is the caller's to record.
///
/// # Errors
/// When git or the database fails: then nothing was decided.
pub(crate) fn settle_cut_off(
    store: &mut Store,
    repository: &Repository,
    _turn: &MergeTurn,
    pr: &PullRequest,
) -> Result<Settled, RunnerError> {
    let Some(intent) = store.merge_intent(pr.id)? else {
        return Ok(Settled::Nothing);
    };
    // the base's checkout may show the merge already, and there may be a note of the move
    if let Err(error) = repository.settle_interrupted() {
        tracing::warn!(%error, "the next merge settles what an interrupted one left in the checkout");
    }
    // The intent goes only when the base does not have its commit. Taken back too early, a merge that reached its base would
    // stay open for good, and its work would be merged a second time.
    if let Some(commit) = reached(repository, pr, &intent)? {
        return Ok(Settled::Reached(commit));
    }
    store.take_back_merge(&Context::system(Timestamp::now()), &intent)?;
    Ok(Settled::TakenBack)
}

/// Records a merge that reached its base.
///
/// # Errors
/// When the database cannot be written.
pub(crate) fn record(
    store: &mut Store,
    context: &Context,
    id: PrId,
    commit: &CommitId,
) -> Result<PullRequest, RunnerError> {
    let pr = store.record_merge(context, id, commit.as_str())?;
    Failpoint::MergeRecorded.reach();
    show_plan_of(store, &pr);
    // the base has moved: what failed on it may pass now
    store.probe_gates_now(context, &pr.project)?;
    Ok(pr)
}

/// Returns the commit of a merge that its base has.
pub(super) fn reached(
    repository: &Repository,
    pr: &PullRequest,
    intent: &MergeIntent,
) -> Result<Option<CommitId>, RunnerError> {
    let commit = RunnerError::commit(
        &intent.merged,
        format_args!("the merge of pull request {}", pr.id),
    )?;
    let Some(head) = repository.branch_head(&BranchName::parse(&pr.base)?)? else {
        return Ok(None);
    };
    let is_there = repository.has_commit(&commit)? && repository.is_merged(&commit, &head)?;
    Ok(is_there.then_some(commit))
}
