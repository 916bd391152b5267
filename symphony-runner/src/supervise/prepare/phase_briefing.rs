//! The briefings of phases: of the agent that delivers one, and of the judge of its claim.

use std::path::Path;

use symphony_core::config::ProviderName;
use symphony_core::contract::{ClaimState, PhaseClaim, PhaseContract, Pipeline};
use symphony_core::id::PhaseName;
use symphony_core::issue::Issue;
use symphony_mcp::{ReviewTarget, StoreThread};
use symphony_prompt::PhaseArtifact;
use symphony_workspace::artifact::read_artifact;
use symphony_workspace::{CommitId, WorkspaceError};

use super::briefing::Briefing;
use super::issue_briefing::request;
use super::project_file::{PROMPT_FILE_BYTES_MAX, read_own};
use super::site::Site;
use crate::error::RunnerError;
use crate::library::PromptLibrary;
use crate::supervise::Job;
use crate::supervise::prompts::{PhasePart, build, build_phase, phase_review};

/// Claims of an issue that are looked at for the artifacts of its earlier phases.
pub(crate) const CLAIMS_READ_MAX: u32 = 50;

/// Assembles the prompts of a phase's agent.
pub(super) async fn phase_briefing(
    job: &Job<'_>,
    store: &StoreThread,
    (library, provider): (&PromptLibrary, ProviderName),
    (issue, phase): (Issue, PhaseName),
    site: &Site,
) -> Result<Briefing, RunnerError> {
    let contract = library.pipeline.get(&phase).cloned().ok_or_else(|| {
        RunnerError::refused(format!("the phase `{phase}` has no contract any more"))
    })?;
    let id = issue.id.clone();
    let claims = store
        .call(move |store| store.claims(&id, None, CLAIMS_READ_MAX))
        .await??;
    let places = [site.path(), job.project.root.as_path()];
    let part = PhasePart {
        artifacts: earlier_artifacts(&library.pipeline, &contract, &issue, &claims, &places),
        override_text: override_text(&job.config.prompts_dir, &contract)?,
        contract,
    };
    let claude_md = read_own(&site.path().join("CLAUDE.md"))?;
    let request = request(job, (library, provider), issue, site, claude_md, None)?;
    let prompts = store
        .call(move |store| build_phase(request, part, store))
        .await??;
    Ok(Briefing {
        prompts,
        review: None,
    })
}

/// The project's addition for a profile in a phase.
pub(crate) fn override_text(
    prompts_dir: &Path,
    contract: &PhaseContract,
) -> Result<Option<String>, RunnerError> {
    let name = format!("{}-{}.md", contract.dispatch_profile, contract.phase);
    read_own(&prompts_dir.join("overrides").join(name))
}

/// Artifacts of the phases before one, in their order: where the accepted claim says, else where the contract does.
/// What cannot be read is left out: the agent looks for itself.
pub(crate) fn earlier_artifacts(
    pipeline: &Pipeline,
    contract: &PhaseContract,
    issue: &Issue,
    claims: &[PhaseClaim],
    places: &[&Path],
) -> Vec<PhaseArtifact> {
    let mut earlier: Vec<&PhaseContract> = pipeline
        .iter()
        .filter(|other| pipeline.is_later(&other.phase, &contract.phase))
        .collect();
    // the further from this phase, the earlier
    earlier.sort_by_key(|other| std::cmp::Reverse(pipeline.later(&other.phase).len()));
    let path_of = |phase: &PhaseContract| {
        let accepted = claims
            .iter()
            .rfind(|claim| claim.phase == phase.phase && claim.state == ClaimState::Accepted);
        let claimed = accepted.and_then(|claim| claim.artifact_path.clone());
        let contracted = phase.artifact_path.as_ref();
        claimed.or_else(|| contracted.map(|path| path.for_issue(&issue.id)))
    };
    earlier
        .into_iter()
        .filter_map(|phase| {
            let path = path_of(phase)?;
            let found = read_artifact(&path, places)
                .inspect_err(|error| tracing::info!(%error, "an earlier artifact is left out"))
                .ok()?;
            Some(PhaseArtifact {
                phase: phase.phase.clone(),
                path,
                text: found.text(),
            })
        })
        .collect()
}

/// Assembles the prompts of the judge of a claim. It is shown, and judges, what the branch holds now.
pub(super) async fn claim_briefing(
    job: &Job<'_>,
    store: &StoreThread,
    (library, provider): (&PromptLibrary, ProviderName),
    (issue, claim): (Issue, PhaseClaim),
    site: &Site,
) -> Result<Briefing, RunnerError> {
    let head = site.repository.head(&site.worktree)?;
    let claim = follow_head(store, claim, head).await?;
    let places = [site.path(), job.project.root.as_path()];
    let artifact = judged_artifact(&claim, &places)?;
    let review = phase_review(&claim, library.pipeline.get(&claim.phase), artifact);
    // of the base: nothing planted in the branch steers the judge
    let base = site.repository.base()?.commit;
    let claude_md = site
        .repository
        .file_at(&base, "CLAUDE.md", PROMPT_FILE_BYTES_MAX)?
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let library = (library, provider);
    let request = request(job, library, issue, site, claude_md, Some(review))?;
    let prompts = store.call(move |store| build(request, store)).await??;
    Ok(Briefing {
        prompts,
        review: Some(ReviewTarget::Claim {
            claim: claim.id,
            commit: claim.head_commit.unwrap_or_default(),
        }),
    })
}

/// A commit that came after the claim is what is judged.
async fn follow_head(
    store: &StoreThread,
    claim: PhaseClaim,
    head: CommitId,
) -> Result<PhaseClaim, RunnerError> {
    if claim.head_commit.as_deref() == Some(head.as_str()) {
        return Ok(claim);
    }
    let context = Job::as_system();
    Ok(store
        .call(move |store| store.move_claim_head(&context, claim.id, head.as_str()))
        .await??)
}

/// The artifact of a claim as its judge is shown it; none when it is gone, which the judge is to see.
pub(crate) fn judged_artifact(
    claim: &PhaseClaim,
    places: &[&Path],
) -> Result<Option<String>, RunnerError> {
    let Some(path) = &claim.artifact_path else {
        return Ok(None);
    };
    match read_artifact(path, places) {
        Ok(found) => Ok(Some(found.text())),
        Err(WorkspaceError::FileMissing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
