//! Settling interrupted merges.

use std::time::{Duration, Instant};

use symphony_core::Timestamp;
use symphony_core::asker::Verification;
use symphony_core::id::PrId;
use symphony_core::pull_request::{PullRequest, PullRequestOf};
use symphony_core::user::Attribution;
use symphony_store::{Actor, Context, MergeIntent, MergePlace, Person, Project, Store};
use symphony_workspace::{BranchName, CommitId, Failpoint, Repository};

use super::place::{Whose, age_of, place_here, whose};
use super::turn::MergeTurn;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::merge::watch::note_killed_merges;
use crate::plan::show_plan_of;
use crate::repository::open_repository;
use crate::step_event::{MergeStepEvent, StepEvent};

/// How long to wait for a merge that is moving its base, or has moved it, while git writes the files of a checkout.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// Time between two tries to take the turn.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// Time between two looks at a merge in another repository, each of which asks the server.
const LOOK_THERE: Duration = Duration::from_millis(200);

/// Why the person who made an interrupted merge is not verified, where the merge does not say who it was.
const RECORDED_LATER: &str = "another command recorded the interrupted merge";

/// Whether to wait for merges in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergesUnderWay {
    /// Leave them alone.
    Left,
    /// Wait for them, since they are moving their base.
    WaitedFor,
}

/// Settles the interrupted merges of a project: records those that reached their base, takes back the others, and adds
/// notices about what their gates changed. Returns what was done.
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
    let settling = Settling {
        place: place_here(installation, project)?,
        is_ordered: under_way == MergesUnderWay::WaitedFor,
    };
    let mut events = Vec::new();
    for intent in intents {
        if let Whose::Theirs(_) = whose(&intent, settling.place.as_ref()) {
            if under_way == MergesUnderWay::WaitedFor {
                wait_for_theirs(store, &intent)?;
            }
            continue;
        }
        let pr = store.pr(intent.pr)?;
        // A merge holds its lock as long as its process lives, so an intent whose lock is free was interrupted.
        let Some(turn) = turn_at(project, &pr.of, under_way)? else {
            continue;
        };
        let event = match settle_cut_off(store, &repository, &turn, &pr, &settling)? {
            Settled::Nothing | Settled::Theirs(_) => continue,
            Settled::Reached { commit, by } => {
                let context = Context {
                    actor: Actor::Human(by.unwrap_or_else(unknown_person)),
                    now: Timestamp::now(),
                };
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

fn unknown_person() -> Person {
    Person {
        verification: Verification::Unverified(RECORDED_LATER.to_owned()),
        attribution: Attribution::default(),
    }
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

/// Waits until a merge in another repository is recorded, unless it has taken long already.
fn wait_for_theirs(store: &Store, intent: &MergeIntent) -> Result<(), RunnerError> {
    let Some(left) = age_of(intent).and_then(|age| WAIT_MAX.checked_sub(age)) else {
        return Ok(());
    };
    let begun = Instant::now();
    while begun.elapsed() < left {
        std::thread::sleep(LOOK_THERE);
        let now = store.merge_intent(intent.pr)?;
        if now.is_none_or(|now| now.merged != intent.merged) {
            break;
        }
    }
    Ok(())
}

/// Who settles merges.
#[derive(Debug)]
pub(crate) struct Settling {
    /// Where.
    pub(crate) place: Option<MergePlace>,
    /// Whether a person's order waits for it: a merge that was left in another repository is taken back only then, since that
    /// repository's base may have it.
    pub(crate) is_ordered: bool,
}

/// What happened to an interrupted merge.
#[derive(Debug)]
pub(crate) enum Settled {
    /// There was no interrupted merge.
    Nothing,
    /// It is made in another repository.
    Theirs(MergePlace),
    /// It had reached its base, so this commit is to be recorded.
    Reached {
        /// The commit.
        commit: CommitId,
        /// The person who ordered it; `None` where an older version of Symphony merged.
        by: Option<Person>,
    },
    /// It had not reached its base, and was taken back.
    TakenBack,
}

/// Settles the interrupted merge of a pull request. The caller holds the turn, so no other process is merging it. If
/// the merge reached its base, the caller records it.
///
/// # Errors
/// When git or the database fails. Then nothing was decided.
pub(crate) fn settle_cut_off(
    store: &mut Store,
    repository: &Repository,
    _turn: &MergeTurn,
    pr: &PullRequest,
    by: &Settling,
) -> Result<Settled, RunnerError> {
    let Some(intent) = store.merge_intent(pr.id)? else {
        return Ok(Settled::Nothing);
    };
    let left = match whose(&intent, by.place.as_ref()) {
        Whose::Ours => None,
        Whose::Theirs(place) => return Ok(Settled::Theirs(place)),
        Whose::Left(place) => Some(place),
    };
    // The checkout of the base may already show the merge, and the note of the move may still exist.
    if let Err(error) = repository.settle_interrupted() {
        tracing::warn!(%error, "the next merge settles what an interrupted one left in the checkout");
    }
    // The intent is removed only if the base does not have its commit. Taken back too early, a merge that reached its
    // base would stay open for good, and its work would be merged a second time.
    if let Some(commit) = reached(repository, pr, &intent)? {
        let by = intent.by;
        return Ok(Settled::Reached { commit, by });
    }
    if let Some(place) = left {
        if !by.is_ordered {
            return Ok(Settled::Theirs(place));
        }
        tracing::warn!(
            host = place.host,
            pull_request = %pr.id,
            base = pr.base,
            "that host began a merge and did not record it, so it is taken back here: its base may have it"
        );
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
    // The base has moved, so gates that failed on it may pass now.
    store.probe_gates_now(context, &pr.project)?;
    Ok(pr)
}

/// Returns the commit of a merge if its base has it.
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
    let is_there = repository.has_merged(&commit, &head)?;
    Ok(is_there.then_some(commit))
}
