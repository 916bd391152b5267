//! Proposals that nothing is left to do: whether their base has moved in a way that concerns them, and what the tick does with them.

use symphony_core::config::ProjectConfig;
use symphony_core::done::{BaseEffect, MovedProposal, base_effect};
use symphony_core::id::{IssueId, PrId};
use symphony_core::pull_request::PullRequest;
use symphony_store::{Context, Project, Store};
use symphony_workspace::{BranchName, CommitId, Failpoint, Repository};

use super::hands::Hands;
use super::observe::World;
use crate::error::RunnerError;
use crate::repository::{open_repository, options};

/// Adds the proposals whose base has moved under them. What git cannot tell now it tells the next tick.
pub(super) fn look_at_proposals(store: &Store, world: &mut World) -> Result<(), RunnerError> {
    for (id, (project, config)) in &world.projects {
        let Some(config) = config else {
            continue;
        };
        for proposal in store.open_proposals(id)? {
            match moved_proposal(project, config, &proposal) {
                Ok(moved) => world.snapshot.base.moved.extend(moved),
                Err(error) => {
                    tracing::warn!(proposal = %proposal.id, %error, "it is not known whether its base concerns it");
                }
            }
        }
    }
    Ok(())
}

/// Returns why a proposal has to be checked again; none where its gates and its verdict stand.
///
/// # Errors
/// When git fails.
pub fn moved_proposal(
    project: &Project,
    config: &ProjectConfig,
    found: &PullRequest,
) -> Result<Option<MovedProposal>, RunnerError> {
    let (Some(proposal), Some(issue)) = (&found.proposal, found.of.issue()) else {
        return Ok(None);
    };
    let branch = BranchName::parse(&found.base)?;
    // a base that has not moved costs no git process
    let heads = Repository::heads_of(&project.root, options(config), &[branch])?;
    // a base that is gone holds the project, which says so
    let Some(head) = heads.into_iter().next().flatten() else {
        return Ok(None);
    };
    if head.as_str() == found.head_commit {
        return Ok(None);
    }
    let changed = changed_since(
        &open_repository(project, config)?,
        &found.head_commit,
        &head,
    )?;
    Ok(
        match base_effect(proposal, &found.base, changed.as_deref()) {
            BaseEffect::Stands => None,
            BaseEffect::CheckAgain { why } => Some(MovedProposal {
                project: found.project.clone(),
                issue: issue.clone(),
                pr: found.id,
                why,
            }),
        },
    )
}

/// Lists the paths that differ between a commit of the base and its head; none where the base does not have the commit any more.
fn changed_since(
    repository: &Repository,
    recorded: &str,
    head: &CommitId,
) -> Result<Option<Vec<String>>, RunnerError> {
    let Ok(recorded) = CommitId::parse(recorded) else {
        return Ok(None);
    };
    if !repository.has_commit(&recorded)? || !repository.is_merged(&recorded, head)? {
        return Ok(None);
    }
    let changed = repository.changed_files(&recorded, head)?;
    let paths = changed
        .into_iter()
        .flat_map(|file| file.old_path.into_iter().chain([file.path]));
    Ok(Some(paths.collect()))
}

/// Confirms what a judge approved, where the project leaves that to Symphony; returns what was done, in words.
pub(super) fn confirm(
    store: &mut Store,
    hands: &mut impl Hands,
    issue: &IssueId,
    pr: PrId,
) -> Result<String, RunnerError> {
    store.confirm_done(&Context::system(hands.now()), pr)?;
    Failpoint::DoneConfirmed.reach();
    Ok(format!(
        "{issue}: done, nothing was left to do (proposal {pr}, confirmed by auto_done)"
    ))
}

/// Sends a proposal back to a worker; returns what was done, in words.
pub(super) fn send_back(
    store: &mut Store,
    hands: &mut impl Hands,
    moved: &MovedProposal,
) -> Result<Option<String>, RunnerError> {
    if !store.return_proposal(&Context::system(hands.now()), moved)? {
        return Ok(None);
    }
    Failpoint::DoneReturned.reach();
    Ok(Some(format!(
        "{}: a worker looks again whether nothing is left to do: {}",
        moved.issue, moved.why
    )))
}

/// Refuses to merge a proposal: it changes nothing.
///
/// # Errors
/// Names the command that confirms it.
pub(crate) fn refuse_proposal(pr: &PullRequest) -> Result<(), RunnerError> {
    let (Some(_), Some(issue)) = (&pr.proposal, pr.of.issue()) else {
        return Ok(());
    };
    Err(RunnerError::refused(format!(
        "proposal {} says that nothing is left to do: there is nothing to merge; `symphony done approve {issue}` confirms it",
        pr.id
    )))
}
