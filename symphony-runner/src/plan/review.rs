//! The pull request of a plan whose phases are all complete: what stands in it, and when there is none to open.

use symphony_core::Timestamp;
use symphony_core::id::{PlanId, PrId};
use symphony_core::listing::list_few;
use symphony_core::plan::state::PhaseState;
use symphony_core::pull_request::{DIFF_BYTES_MAX, FileStat};
use symphony_store::{Context, NewPullRequest, PlanRecord, PlanTarget, Store};
use symphony_workspace::{BranchName, CommitId, Failpoint, Repository};

use crate::error::RunnerError;

/// Phases that the title names.
const TITLE_PHASES_MAX: usize = 2;
/// Characters of the title: it becomes the subject of the merge commit.
const TITLE_CHARS_MAX: usize = 120;
/// Bytes of the body: a plan may have thousands of phases.
const BODY_BYTES_MAX: usize = 16 * 1024;

/// What the end of a plan's phases led to.
#[derive(Debug)]
pub(super) enum Opened {
    /// Its pull request is open.
    PullRequest(PrId),
    /// The user's branch has everything already.
    Nothing,
}

/// Opens the pull request of a plan that awaits its review. Doing it again finds it done.
///
/// # Errors
/// When git or the database fails.
pub(super) fn open_review(
    store: &mut Store,
    repository: &Repository,
    record: &PlanRecord,
    target: &PlanTarget,
) -> Result<Opened, RunnerError> {
    let base = BranchName::of_plan_base(&record.id);
    let begin = CommitId::parse(&target.base_commit).map_err(|error| {
        RunnerError::refused(format!("the base of plan {}: {error}", record.id))
    })?;
    // a branch that a person removed meanwhile is missed by the merge, which says what to do
    let branch = repository.branch_head(&BranchName::parse(&target.branch)?)?;
    let branch = branch.unwrap_or_else(|| begin.clone());
    // without a base nothing was ever begun, or a person merged it and took the branch away
    let Some(head) = repository.branch_head(&base)? else {
        return nothing_to_merge(store, &record.id, &begin);
    };
    if repository.is_merged(&head, &branch)? {
        return nothing_to_merge(store, &record.id, &branch);
    }
    let diff = repository.diff(&branch, &head, DIFF_BYTES_MAX)?;
    if diff.files.is_empty() {
        return nothing_to_merge(store, &record.id, &branch);
    }
    let new = NewPullRequest {
        of: record.id.clone().into(),
        title: title(record),
        body: body(record),
        branch: base.as_str().to_owned(),
        base: target.branch.clone(),
        base_commit: diff.merge_base.as_str().to_owned(),
        head_commit: head.as_str().to_owned(),
        diff: diff.patch,
        files: diff.files.into_iter().map(FileStat::from).collect(),
        reported_gates: Vec::new(),
    };
    Failpoint::PlanReviewPlanned.reach();
    let pr = store.create_pr(&Context::system(Timestamp::now()), &new)?;
    Failpoint::PlanReviewOpened.reach();
    Ok(Opened::PullRequest(pr.id))
}

fn nothing_to_merge(
    store: &mut Store,
    plan: &PlanId,
    at: &CommitId,
) -> Result<Opened, RunnerError> {
    store.record_plan_merged(&Context::system(Timestamp::now()), plan, at.as_str())?;
    Ok(Opened::Nothing)
}

/// Names the work by its phases: it becomes the subject of the merge commit.
fn title(record: &PlanRecord) -> String {
    let titles = record.document.phases.iter();
    let titles = titles.map(|phase| phase.title.trim());
    let title = list_few(titles, TITLE_PHASES_MAX).replace(['\n', '\r'], " ");
    if title.chars().count() <= TITLE_CHARS_MAX {
        return title;
    }
    let cut: String = title.chars().take(TITLE_CHARS_MAX - 1).collect();
    format!("{cut}…")
}

/// Lists the phases, and how far each is to be relied on.
fn body(record: &PlanRecord) -> String {
    let mut body = format!("The work of plan {} ({}):\n\n", record.id, record.path);
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
