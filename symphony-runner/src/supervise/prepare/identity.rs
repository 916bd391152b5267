//! The agent's identity for the MCP service.

use symphony_core::run::RunTarget;
use symphony_core::tools::{Assignment, role_for};
use symphony_mcp::{BeforeHandIn, Identity, ReviewTarget, Reviewed, Verdicts};
use symphony_store::{Actor, RunKey};

use super::site::Site;
use crate::error::RunnerError;
use crate::prompts::library::PromptLibrary;
use crate::supervise::Job;

/// Returns the identity of the run's socket.
pub(super) fn identity(
    job: &Job<'_>,
    library: &PromptLibrary,
    site: &Site,
    review: Option<ReviewTarget>,
) -> Identity {
    let agent = &job.run.agent;
    let is_done = matches!(
        review,
        Some(ReviewTarget::PullRequest {
            subject: Reviewed::Proposal,
            ..
        })
    );
    let assignment = match (&job.run.target, &job.run.phase) {
        (RunTarget::PullRequest(..), _) if is_done => Assignment::DoneReview,
        (RunTarget::PullRequest(..) | RunTarget::Gates(..), _) => Assignment::PrReview,
        (RunTarget::Delivery(..), _) => Assignment::PhaseReview,
        (RunTarget::PlanPhase(..), _) => Assignment::PlanPhase,
        (RunTarget::Project, _) => Assignment::Background,
        (RunTarget::Issue(_), phase) => Assignment::Issue(phase.clone()),
    };
    let role = role_for(agent, &assignment);
    let tools = job
        .profile(library)
        .map_or_else(|| role.allowed(), |profile| profile.allowed(role));
    let key = RunKey::of(&job.run);
    Identity {
        actor: Actor::Run(key),
        role,
        tools,
        project: job.project.id.clone(),
        issue: job.run.target.issue().cloned(),
        review,
        workspace: site.workspace.clone(),
        phases: library.pipeline.clone().into(),
        directory: Some(site.path().to_owned()),
        verdicts: Verdicts::ByRole,
        before_hand_in: before_hand_in(job),
    }
}

/// On a worker, a commit is at the hub before it is recorded.
fn before_hand_in(job: &Job<'_>) -> BeforeHandIn {
    let Some(hub) = job.hub.clone() else {
        return BeforeHandIn::default();
    };
    BeforeHandIn::new(move |store, commit| {
        RunnerError::commit(commit, "the commit to hand in")
            .and_then(|commit| Ok(hub.bring(store, &commit)?))
            .map_err(|error| error.with_causes())
    })
}
