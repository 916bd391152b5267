//! The pull request of a plan whose phases are all complete: what it says, and when there is none to open.

use std::path::Path;

use symphony_core::Timestamp;
use symphony_core::id::{PlanId, PrId};
use symphony_core::outside::BaseNotice;
use symphony_core::plan::state::PhaseState;
use symphony_core::plan::{LostBase, plan_title};
use symphony_core::pull_request::{DIFF_BYTES_MAX, FileStat, PullRequest};
use symphony_store::{Context, NewPullRequest, PlanRecord, PlanTarget, Store};
use symphony_workspace::{BranchName, ChangeQuery, CommitId, DiffSnapshot, Failpoint, Repository};

use super::base::{PlanBase, look_at_base, stop_for_lost_base, tell_lost_base};
use super::refusal::PlanRunRefusal;
use crate::error::RunnerError;
use crate::paths::read_capped;

/// Most bytes of the body: a plan may have thousands of phases.
const BODY_BYTES_MAX: usize = 16 * 1024;

/// What happened when the phases of a plan ended.
#[derive(Debug)]
pub(super) enum Opened {
    /// Its pull request is open.
    PullRequest(PrId),
    /// The phases changed nothing.
    Nothing,
    /// The plan's branch lost work of its phases: a person was asked.
    Lost(LostBase),
}

/// Opens the pull request of a plan that awaits its review. Idempotent.
///
/// There is none only if the plan's branch never left the commit that it began at, or has the same files. Work that
/// reached the user's branch without a merge by Symphony is reviewed nevertheless: an agent without a sandbox can move
/// that branch.
///
/// # Errors
/// When git or the database fails.
pub(super) fn open_review(
    store: &mut Store,
    repository: &Repository,
    record: &PlanRecord,
    target: &PlanTarget,
) -> Result<Opened, RunnerError> {
    let head = match look_at_base(store, repository, &record.id, target)? {
        PlanBase::Unbegun(begin) => return nothing_to_merge(store, &record.id, &begin),
        PlanBase::At(head) => head,
        PlanBase::Lost(lost) => {
            stop_for_lost_base(store, record, &lost)?;
            return Ok(Opened::Lost(lost));
        }
    };
    let begin = RunnerError::commit(
        &target.base_commit,
        format_args!("the base of plan {}", record.id),
    )?;
    let whole = repository.diff(&begin, &head, DIFF_BYTES_MAX)?;
    if whole.files.is_empty() {
        return nothing_to_merge(store, &record.id, &begin);
    }
    let branch = BranchName::parse(&target.branch)?;
    let Some(now) = repository.branch_head(&branch)? else {
        return Err(PlanRunRefusal::TargetGone {
            plan: record.id.clone(),
            branch: target.branch.clone(),
            base_commit: target.base_commit.clone(),
        }
        .into());
    };
    let context = Context::system(Timestamp::now());
    let pr = match &now {
        now if has_landed(repository, &branch, now, &begin, &head, &whole)? => {
            let new = new_pull_request(repository, target, record, &head, whole);
            Failpoint::PlanReviewPlanned.reach();
            store.open_landed_review(&context, &record.id, &new, |pr| {
                let (plan, project) = (&record.id, &record.project);
                BaseNotice::of_landed(plan, project, pr, &target.branch, head.as_str())
            })?
        }
        _ => {
            let diff = repository.diff(&now, &head, DIFF_BYTES_MAX)?;
            let new = new_pull_request(repository, target, record, &head, diff);
            Failpoint::PlanReviewPlanned.reach();
            store.create_pr(&context, &new)?
        }
    };
    Failpoint::PlanReviewOpened.reach();
    Ok(Opened::PullRequest(pr.id))
}

/// Updates the open pull request of a plan to the current head of its branch, with gates and judge again; returns
/// whether it had to. A branch that is gone or has lost work is reported until it is back.
///
/// # Errors
/// When git or the database fails.
pub(super) fn renew_review(
    store: &mut Store,
    repository: &Repository,
    record: &PlanRecord,
    target: &PlanTarget,
    open: &PullRequest,
) -> Result<bool, RunnerError> {
    let found = repository.branch_head(&BranchName::of_plan_base(&record.id))?;
    if found
        .as_ref()
        .is_some_and(|found| found.as_str() == open.head_commit)
    {
        store.forget_lost_base(&Context::system(Timestamp::now()), &record.id)?;
        return Ok(false);
    }
    let standing = look_at_base(store, repository, &record.id, target)?;
    let head = match standing {
        PlanBase::Unbegun(_) => return Ok(false),
        PlanBase::At(head) => head,
        PlanBase::Lost(lost) => {
            tell_lost_base(store, &record.id, &record.project, &lost)?;
            return Ok(false);
        }
    };
    let begin = RunnerError::commit(
        &target.base_commit,
        format_args!("the base of plan {}", record.id),
    )?;
    let now = repository.branch_head(&BranchName::parse(&target.branch)?)?;
    let diff = repository.diff(now.as_ref().unwrap_or(&begin), &head, DIFF_BYTES_MAX)?;
    let new = new_pull_request(repository, target, record, &head, diff);
    store.renew_plan_pr(&Context::system(Timestamp::now()), &record.id, &new)?;
    Ok(true)
}

/// Returns whether the user's branch already has all the work: its commits, or its changes.
fn has_landed(
    repository: &Repository,
    branch: &BranchName,
    now: &CommitId,
    begin: &CommitId,
    head: &CommitId,
    whole: &DiffSnapshot,
) -> Result<bool, RunnerError> {
    let files: Vec<&str> = whole.files.iter().map(|file| file.path.as_str()).collect();
    let found = repository.find_change(&ChangeQuery {
        branch,
        base: now,
        since: begin,
        head,
        files: &files,
    })?;
    Ok(found.is_some())
}

fn new_pull_request(
    repository: &Repository,
    target: &PlanTarget,
    record: &PlanRecord,
    head: &CommitId,
    diff: DiffSnapshot,
) -> NewPullRequest {
    NewPullRequest {
        of: record.id.clone().into(),
        title: title(repository, record),
        body: body(record),
        branch: BranchName::of_plan_base(&record.id).as_str().to_owned(),
        base: target.branch.clone(),
        base_commit: diff.merge_base.as_str().to_owned(),
        head_commit: head.as_str().to_owned(),
        diff: diff.patch,
        files: diff.files.into_iter().map(FileStat::from).collect(),
        reported_gates: Vec::new(),
        checklist: Vec::new(),
    }
}

fn nothing_to_merge(
    store: &mut Store,
    plan: &PlanId,
    at: &CommitId,
) -> Result<Opened, RunnerError> {
    store.record_plan_merged(&Context::system(Timestamp::now()), plan, at.as_str())?;
    Ok(Opened::Nothing)
}

/// Names the work: this becomes the subject of the merge commit.
fn title(repository: &Repository, record: &PlanRecord) -> String {
    let file = read_capped(&repository.root().join(&record.path));
    let text = file.ok().flatten();
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
    plan_title(text.as_deref(), &record.document)
}

/// Lists the phases, and how far each can be trusted.
fn body(record: &PlanRecord) -> String {
    // The history is shared: a file outside of the repository is named without the folders of this machine.
    let path = Path::new(&record.path);
    let name = path.file_name().filter(|_| path.is_absolute());
    let name = name.unwrap_or(path.as_os_str()).to_string_lossy();
    let mut body = format!("The phases of {name}:\n\n");
    for phase in &record.document.phases {
        let progress = record
            .state
            .phases
            .iter()
            .find(|(id, _)| id.as_str() == phase.id);
        let remark = match progress.map(|(_, progress)| (&progress.state, progress.is_unconfirmed))
        {
            Some((PhaseState::Complete { skipped: true }, _)) => " (skipped)",
            Some((_, true)) => " (complete, unconfirmed)",
            _ => "",
        };
        let line = format!("- {}: {}{remark}\n", phase.id, phase.title.trim());
        if body.len() + line.len() > BODY_BYTES_MAX {
            body.push_str("- …\n");
            break;
        }
        body.push_str(&line);
    }
    body
}
