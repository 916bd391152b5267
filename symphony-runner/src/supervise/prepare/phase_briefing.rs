//! The briefings of phases: of the agent that delivers one, and of the judge of its delivery.

use std::path::Path;

use symphony_core::contract::{Delivery, PhaseContract};
use symphony_core::id::PhaseName;
use symphony_core::issue::Issue;
use symphony_mcp::ReviewTarget;
use symphony_workspace::artifact::read_artifact;
use symphony_workspace::{CommitId, Repository, WorkspaceError};

use super::briefing::{Briefing, BriefingSources};
use super::issue_briefing::{documents, request};
use crate::error::RunnerError;
use crate::supervise::project_file::{PROMPT_FILE_BYTES_MAX, read_own};
use crate::supervise::prompts::{PhasePart, build, build_phase, phase_review};

/// How many bytes of an artifact are read from a commit: as many as from a file.
const ARTIFACT_BYTES: usize = 4 * 1024 * 1024;

/// Assembles the prompts of a phase's agent.
pub(super) async fn phase_briefing(
    sources: BriefingSources<'_>,
    issue: Issue,
    phase: PhaseName,
) -> Result<Briefing, RunnerError> {
    let library = sources.library;
    let contract = library.pipeline.get(&phase).cloned().ok_or_else(|| {
        RunnerError::refused(format!("the phase `{phase}` no longer has a contract"))
    })?;
    let documents = documents(sources, &issue, Some(&phase)).await?;
    let part = PhasePart {
        override_text: override_text(&library.folder, &contract)?,
        contract,
    };
    let claude_md = read_own(&sources.site.path().join("CLAUDE.md"))?;
    let mut request = request(sources, issue, claude_md, None)?;
    request.documents = documents;
    let prompts = sources
        .store
        .call(move |store| build_phase(request, part, store))
        .await??;
    Ok(Briefing {
        prompts,
        review: None,
        criteria: None,
    })
}

/// Returns the project's addition for a profile in a phase.
pub(crate) fn override_text(
    prompts_dir: &Path,
    contract: &PhaseContract,
) -> Result<Option<String>, RunnerError> {
    let name = format!("{}-{}.md", contract.dispatch_profile, contract.phase);
    read_own(&prompts_dir.join("overrides").join(name))
}

/// Assembles the prompts of the judge of a delivery, with the current content of the branch.
pub(super) async fn delivery_briefing(
    sources: BriefingSources<'_>,
    issue: Issue,
    delivery: Delivery,
) -> Result<Briefing, RunnerError> {
    let BriefingSources { store, site, .. } = sources;
    let head = site.repository.head(&site.worktree)?;
    let delivery = follow_head(sources, delivery, head).await?;
    let places = [site.path(), sources.job.project.root.as_path()];
    let artifact = judged_artifact(&delivery, &site.repository, &places)?;
    let documents = documents(sources, &issue, Some(&delivery.phase)).await?;
    let contract = sources.library.pipeline.get(&delivery.phase);
    let review = phase_review(&delivery, contract, artifact);
    // From the base, so that nothing planted in the branch influences the judge.
    let base = site.repository.base()?.commit;
    let claude_md = site
        .repository
        .file_at(&base, "CLAUDE.md", PROMPT_FILE_BYTES_MAX)?
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let mut request = request(sources, issue, claude_md, Some(review))?;
    request.documents = documents;
    let prompts = store.call(move |store| build(request, store)).await??;
    Ok(Briefing {
        prompts,
        review: Some(ReviewTarget::Delivery {
            delivery: delivery.id,
            commit: delivery.head_commit.unwrap_or_default(),
        }),
        criteria: None,
    })
}

/// A commit that came after the delivery becomes the judged one.
async fn follow_head(
    sources: BriefingSources<'_>,
    delivery: Delivery,
    head: CommitId,
) -> Result<Delivery, RunnerError> {
    if delivery.head_commit.as_deref() == Some(head.as_str()) {
        return Ok(delivery);
    }
    let context = sources.job.as_supervisor();
    Ok(sources
        .store
        .call(move |store| store.move_delivery_head(&context, delivery.id, head.as_str()))
        .await??)
}

/// Returns the artifact of a delivery as its judge is shown it, at the commit that the verdict will name; `None` when
/// it does not exist, which the judge must see. An artifact that git ignores is in no commit: only then it is read
/// where the delivery's checks found it.
pub(crate) fn judged_artifact(
    delivery: &Delivery,
    repository: &Repository,
    places: &[&Path],
) -> Result<Option<String>, RunnerError> {
    let Some(path) = &delivery.artifact_path else {
        return Ok(None);
    };
    let commit = delivery.head_commit.as_deref();
    if let Some(commit) = commit.and_then(|commit| CommitId::parse(commit).ok())
        && repository.has_commit(&commit)?
        && let Some(bytes) = repository.file_at(&commit, path, ARTIFACT_BYTES)?
    {
        return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
    }
    match read_artifact(path, places) {
        Ok(found) => Ok(Some(found.text())),
        Err(WorkspaceError::FileMissing { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
