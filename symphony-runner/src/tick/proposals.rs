//! Proposals that nothing is left to do: what their base shows now, and what the tick does with them.

use std::collections::BTreeMap;

use symphony_core::config::ProjectConfig;
use symphony_core::done::{
    BaseEffect, BaseNow, ConfirmedBy, MovedProposal, StaleProposal, base_effect, stands,
};
use symphony_core::gates::ConfiguredGate;
use symphony_core::id::{IssueId, PrId};
use symphony_core::pull_request::PullRequest;
use symphony_core::tick::ReviewSubject;
use symphony_store::{Context, Project, Store};
use symphony_workspace::{BranchName, CommitId, Failpoint, Repository};

use super::effects::Effects;
use super::observed::Observed;
use crate::error::RunnerError;
use crate::gates::configured_gates;
use crate::installation::Installation;
use crate::repository::{open_repository, options};
use crate::step_event::{IssueStepEvent, StepEvent};

/// Adds what the bases of open proposals show, and decides which proposals may be confirmed. If git cannot tell now,
/// the next tick tries again, and nothing is confirmed until then.
pub(super) fn look_at_proposals(
    installation: &Installation,
    store: &Store,
    observed: &mut Observed,
) -> Result<(), RunnerError> {
    let mut seen = BTreeMap::new();
    for (id, (project, config)) in &observed.projects {
        let proposals = store.open_proposals(id)?;
        let Some(config) = config.as_ref().filter(|_| !proposals.is_empty()) else {
            continue;
        };
        let gates = match gates_now(installation, project, config) {
            Ok(gates) => gates,
            Err(error) => {
                tracing::warn!(project = %id, %error, "its proposals were not looked at");
                continue;
            }
        };
        for proposal in proposals {
            match base_now(project, config, &proposal, &gates) {
                Ok(base) => drop(base.map(|base| seen.insert(proposal.id, (proposal, base)))),
                Err(error) => {
                    tracing::warn!(proposal = %proposal.id, %error, "it is not known whether its base concerns it");
                }
            }
        }
    }
    for (proposal, base) in seen.values() {
        observed.snapshot.base.moved.extend(moved(proposal, base));
    }
    for review in &mut observed.snapshot.reviews {
        let ReviewSubject::Done {
            pr,
            obstacles,
            base,
        } = &mut review.subject
        else {
            continue;
        };
        if let Some((_, found)) = seen.remove(pr) {
            let record = store.done_record(*pr)?;
            let stands = stands(&record, Some(&found), ConfirmedBy::AutoDone);
            *obstacles = stands.err().unwrap_or_default();
            *base = Some(Box::new(found));
        }
    }
    Ok(())
}

/// Returns the current gates of a project.
///
/// # Errors
/// When its repository cannot be read.
pub(crate) fn gates_now(
    installation: &Installation,
    project: &Project,
    config: &ProjectConfig,
) -> Result<Vec<ConfiguredGate>, RunnerError> {
    if config.gates.is_empty() {
        return Ok(Vec::new());
    }
    configured_gates(installation, config, &open_repository(project, config)?)
}

/// Checks the base of a proposal. Returns `None` if it no longer exists, which holds the project.
///
/// # Errors
/// When it is not a proposal of an issue, or git fails.
pub(crate) fn base_now(
    project: &Project,
    config: &ProjectConfig,
    found: &PullRequest,
    gates: &[ConfiguredGate],
) -> Result<Option<BaseNow>, RunnerError> {
    let Some(proposal) = &found.proposal else {
        return Ok(None);
    };
    let branch = BranchName::parse(&found.base)?;
    // If the base has not moved, no git process is needed.
    let heads = Repository::heads_of(&project.root, options(config), &[branch])?;
    let Some(head) = heads.into_iter().next().flatten() else {
        return Ok(None);
    };
    let effect = if head.as_str() == found.head_commit {
        BaseEffect::Stands
    } else {
        let repository = open_repository(project, config)?;
        let changed = changed_since(&repository, &found.head_commit, &head)?;
        base_effect(proposal, &found.base, changed.as_deref())
    };
    Ok(Some(BaseNow {
        name: found.base.clone(),
        head: head.as_str().to_owned(),
        effect,
        gates: gates.to_vec(),
    }))
}

/// Returns a proposal that must go back to a worker; `None` if it need not.
fn moved(found: &PullRequest, base: &BaseNow) -> Option<MovedProposal> {
    let BaseEffect::CheckAgain { why } = &base.effect else {
        return None;
    };
    Some(MovedProposal {
        project: found.project.clone(),
        issue: found.of.issue()?.clone(),
        pr: found.id,
        why: why.clone(),
    })
}

/// Lists the paths that differ between a commit of the base and its head; `None` if the base no longer has the commit.
fn changed_since(
    repository: &Repository,
    recorded: &str,
    head: &CommitId,
) -> Result<Option<Vec<String>>, RunnerError> {
    let Ok(recorded) = CommitId::parse(recorded) else {
        return Ok(None);
    };
    if !repository.has_merged(&recorded, head)? {
        return Ok(None);
    }
    let changed = repository.changed_files(&recorded, head)?;
    let paths = changed
        .into_iter()
        .flat_map(|file| file.old_path.into_iter().chain([file.path]));
    Ok(Some(paths.collect()))
}

/// Confirms what a judge approved, if the project leaves that to Symphony.
pub(super) fn confirm(
    store: &mut Store,
    effects: &mut impl Effects,
    issue: &IssueId,
    pr: PrId,
    base: &BaseNow,
) -> Result<StepEvent, RunnerError> {
    store.confirm_done(&Context::system(effects.now()), pr, base)?;
    Failpoint::DoneConfirmed.reach();
    Ok(StepEvent::Issue(
        issue.clone(),
        IssueStepEvent::DoneConfirmed { pr },
    ))
}

/// Sends a proposal back to a worker, unless it has been moved meanwhile.
pub(super) fn send_back(
    store: &mut Store,
    effects: &mut impl Effects,
    moved: &MovedProposal,
) -> Result<Option<StepEvent>, RunnerError> {
    if !store.return_proposal(&Context::system(effects.now()), moved)? {
        return Ok(None);
    }
    Failpoint::DoneReturned.reach();
    let why = moved.why.clone();
    Ok(Some(StepEvent::Issue(
        moved.issue.clone(),
        IssueStepEvent::ProposalReturned { why },
    )))
}

/// Requests that gates or a judge check a proposal again, unless it has been moved meanwhile.
pub(super) fn refresh(
    store: &mut Store,
    effects: &mut impl Effects,
    stale: &StaleProposal,
) -> Result<Option<StepEvent>, RunnerError> {
    if !store.refresh_proposal(&Context::system(effects.now()), stale)? {
        return Ok(None);
    }
    let (pr, look) = (stale.pr, stale.what);
    Ok(Some(StepEvent::Issue(
        stale.issue.clone(),
        IssueStepEvent::ProposalRefreshed { pr, look },
    )))
}
