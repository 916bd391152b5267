//! A pull request beside what its project and its branch have now.

use symphony_core::config::ProjectConfig;
use symphony_core::config_change::decisive_patterns;
use symphony_core::criteria::compare_criteria;
use symphony_core::issue::Comment;
use symphony_core::pull_request::PullRequest;
use symphony_runner::gates::shown_gates;
use symphony_runner::repository::open_repository;
use symphony_runner::session::Session;
use symphony_runner::supervise::submodule_changes;
use symphony_store::{Project, RunFilter, Store, StoreError};
use symphony_workspace::{BranchName, Repository};

use crate::{CriteriaChanged, PrView, RunView};

/// Reads a pull request whole: with its points, its publication, and which files a person should look at first.
///
/// # Errors
/// When the database cannot be read.
pub fn whole_pull_request(session: &Session, pr: PullRequest) -> Result<PrView, StoreError> {
    let publication = session.store.publication(pr.id)?;
    let forge = session.store.forge_pull_of(pr.id)?;
    let points = session.store.review_points(&pr.of)?;
    let project = session.store.project(&pr.project)?;
    let config = session.installation.project_config(&project).ok();
    // a configuration that is broken says nothing of prompts; its own file is known all the same
    let decisive = config.as_ref().map_or_else(
        || decisive_patterns(None),
        |config| config.decisive_paths(&project.root),
    );
    let unread = unread_messages(&session.store, &pr)?;
    let view = beside(session, pr, &project, config.as_ref())?
        .with_publication(publication)
        .with_forge(forge)
        .with_unread(unread)
        .with_points(points);
    Ok(view.with_decisive(&decisive))
}

/// Reads the messages to the agents of an open pull request's issue that none of them has read.
///
/// # Errors
/// When the database cannot be read.
pub fn unread_messages(store: &Store, pr: &PullRequest) -> Result<Vec<Comment>, StoreError> {
    match pr.of.issue().filter(|_| pr.state.is_open()) {
        Some(issue) => store.unread_messages(issue),
        None => Ok(Vec::new()),
    }
}

/// Reads a pull request beside the gates that its project has now, and what its branch has now. A configuration or a repository
/// that cannot be read is reported elsewhere, and says nothing here.
///
/// # Errors
/// When the database cannot be read.
pub fn pull_request(session: &Session, pr: PullRequest) -> Result<PrView, StoreError> {
    let project = session.store.project(&pr.project)?;
    let config = session.installation.project_config(&project).ok();
    beside(session, pr, &project, config.as_ref())
}

fn beside(
    session: &Session,
    pr: PullRequest,
    project: &Project,
    config: Option<&ProjectConfig>,
) -> Result<PrView, StoreError> {
    let on_branch = RunFilter {
        issue: pr.of.issue().cloned(),
        plan: pr.of.plan().cloned(),
        ..RunFilter::default()
    };
    let runs = session.store.runs(&on_branch)?.into_iter();
    let runs: Vec<RunView> = runs.map(RunView::from).collect();
    let Some(config) = config else {
        let view = PrView::from(pr).with_gates_run(runs.iter());
        return Ok(view.with_by_products(runs.into_iter()));
    };
    let branch = BranchName::parse(&pr.branch).ok();
    let repository = open_repository(project, config).ok();
    let changed = repository
        .as_ref()
        .and_then(|repository| criteria_changed(session, repository, config, &pr));
    let submodules = repository
        .as_ref()
        .map(|repository| changed_submodules(repository, &pr));
    let now = repository
        .zip(branch)
        .and_then(|(repository, branch)| repository.branch_head(&branch).ok().flatten());
    let now = now.map(|commit| commit.as_str().to_owned());
    let view = PrView::of(pr, &shown_gates(&session.installation, project, config));
    let view = view.with_branch_at(now).with_gates_run(runs.iter());
    let view = view.with_criteria_changed(changed);
    let view = view.with_submodules(submodules.unwrap_or_default());
    Ok(view.with_by_products(runs.into_iter()))
}

/// Describes what it does to submodules; git that fails is reported by what needs it.
fn changed_submodules(repository: &Repository, pr: &PullRequest) -> Vec<String> {
    submodule_changes(repository, pr).unwrap_or_else(|error| {
        tracing::warn!(%error, "the submodules that the change touches could not be read");
        Vec::new()
    })
}

/// Compares the criteria of now with those that the worker answered, while the pull request is open: what a judge is shown.
fn criteria_changed(
    session: &Session,
    repository: &Repository,
    config: &ProjectConfig,
    pr: &PullRequest,
) -> Option<CriteriaChanged> {
    if !pr.state.is_open() || pr.proposal.is_some() {
        return None;
    }
    let issue = session.store.issue(pr.of.issue()?).ok()?;
    let claims = session.store.ticket_deliveries(&issue).ok()?;
    let library = session.installation.library(config).ok()?;
    let pipeline = Some(&library.pipeline);
    let now = repository.read_criteria(&issue.id, &issue.description, pipeline, &claims);
    CriteriaChanged::of(compare_criteria(&now.ok()?, &pr.checklist))
}
