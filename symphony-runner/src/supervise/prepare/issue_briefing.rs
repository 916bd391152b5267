//! The briefing of a run on an issue, and of the review of its pull request.

use symphony_core::agent::AgentType;
use symphony_core::id::PhaseName;
use symphony_core::issue::Issue;
use symphony_core::pull_request::PullRequest;
use symphony_mcp::{ReviewTarget, Reviewed, StoreThread};
use symphony_prompt::Review;
use symphony_workspace::CommitId;

use super::briefing::{Briefing, BriefingSources};
use super::site::Site;
use crate::error::RunnerError;
use crate::paths::write_private;
use crate::supervise::Job;
use crate::supervise::documents::{DocumentQuery, Documents, criteria_input};
use crate::supervise::project_file::{PROMPT_FILE_BYTES_MAX, read_own};
use crate::supervise::prompts::{Cut, PromptRequest, ShownDiff, build, done_review, review_input};

/// How many bytes of the diff a judge may read as a file.
const DIFF_FILE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Assembles the prompts of an issue's run, or with a pull request, of its review.
pub(super) async fn issue_briefing(
    sources: BriefingSources<'_>,
    issue: Issue,
    pr: Option<PullRequest>,
) -> Result<Briefing, RunnerError> {
    let BriefingSources {
        job, store, site, ..
    } = sources;
    let claude_md = claude_md(site, pr.as_ref())?;
    let review = match &pr {
        Some(pr) => Some(show_review(job, store, site, pr).await?),
        None => None,
    };
    // Intake only sorts issues, for which nothing has been delivered yet.
    let documents = match job.run.agent {
        AgentType::Intake => Documents::default(),
        _ => documents(sources, &issue, None).await?,
    };
    let mut request = request(sources, issue, claude_md, review)?;
    request.documents = documents;
    let mut criteria = None;
    if pr.is_some() || job.run.agent == AgentType::Worker {
        let of = request.issue.clone();
        let deliveries = store
            .call(move |store| store.ticket_deliveries(&of))
            .await??;
        let pipeline = Some(&sources.library.pipeline);
        let (id, text) = (&request.issue.id, &request.issue.description);
        let read = site
            .repository
            .read_criteria(id, text, pipeline, &deliveries)?;
        let answers = pr.as_ref().map(|pr| pr.checklist.as_slice());
        request.criteria = Some(criteria_input(&read, answers));
        criteria = Some(read);
    }
    let prompts = store.call(move |store| build(request, store)).await??;
    Ok(Briefing {
        prompts,
        criteria,
        review: pr.map(|pr| ReviewTarget::PullRequest {
            subject: Reviewed::of(&pr),
            pr: pr.id,
            commit: pr.head_commit,
        }),
    })
}

/// Returns the documents of an issue and of those above it, at the checked-out commit: what the agent works on or
/// judges.
pub(super) async fn documents(
    sources: BriefingSources<'_>,
    issue: &Issue,
    before: Option<&PhaseName>,
) -> Result<Documents, RunnerError> {
    let of = issue.clone();
    let deliveries = sources
        .store
        .call(move |store| store.ticket_deliveries(&of))
        .await??;
    let site = sources.site;
    let head = site.repository.head(&site.worktree)?;
    let query = DocumentQuery {
        issue: &issue.id,
        head: Some(&head),
        before,
        deliveries: &deliveries,
    };
    let pipeline = &sources.library.pipeline;
    Ok(Documents::read(&site.repository, pipeline, query)?)
}

/// Returns the input for every prompt of a run on an issue.
pub(super) fn request(
    sources: BriefingSources<'_>,
    issue: Issue,
    claude_md: Option<String>,
    review: Option<Review>,
) -> Result<PromptRequest, RunnerError> {
    let BriefingSources { job, site, .. } = sources;
    Ok(PromptRequest {
        agent: job.run.agent.clone(),
        run: job.run.id.clone(),
        path: site.path().display().to_string(),
        branch: site.branch_name(),
        base: site.base_name(),
        claude_md,
        workflow_md: read_own(&job.project.root.join("WORKFLOW.md"))?,
        notes: site.notes.clone(),
        review,
        custom_instructions: job.overrides.custom_instructions.clone(),
        provider: sources.provider,
        news: sources.news.cloned(),
        issue,
        documents: Documents::default(),
        criteria: None,
        library: sources.library.clone(),
        config: job.config.clone(),
    })
}

/// Returns CLAUDE.md. A judge gets that of the base commit, so that nothing planted in the branch influences it.
pub(super) fn claude_md(
    site: &Site,
    review: Option<&PullRequest>,
) -> Result<Option<String>, RunnerError> {
    let Some(pr) = review else {
        return read_own(&site.path().join("CLAUDE.md"));
    };
    let Ok(base) = CommitId::parse(&pr.base_commit) else {
        return Ok(None);
    };
    let bytes = site
        .repository
        .file_at(&base, "CLAUDE.md", PROMPT_FILE_BYTES_MAX)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Returns what the judge is shown. The whole diff is a file beside the prompts.
pub(super) async fn show_review(
    job: &Job<'_>,
    store: &StoreThread,
    site: &Site,
    pr: &PullRequest,
) -> Result<Review, RunnerError> {
    if let Some(review) = done_review(pr) {
        return Ok(review);
    }
    let path = job.paths.diff();
    let (text, cut) = match (
        CommitId::parse(&pr.base_commit),
        CommitId::parse(&pr.head_commit),
    ) {
        (Ok(base), Ok(head)) => {
            let diff = site.repository.diff(&base, &head, DIFF_FILE_BYTES_MAX)?;
            let cut = if diff.patch_cut {
                Cut::Possible
            } else {
                Cut::No
            };
            (diff.patch, cut)
        }
        _ => (pr.diff.clone(), Cut::Possible),
    };
    write_private(&path, &text)?;
    let diff = ShownDiff {
        text,
        cut,
        path: &path,
    };
    let of = pr.of.clone();
    let points = store.call(move |store| store.review_points(&of)).await??;
    Ok(review_input(
        pr,
        &points,
        diff,
        &job.config,
        &site.repository,
    )?)
}
