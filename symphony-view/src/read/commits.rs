//! The commits of a pull request.

use symphony_core::pull_request::PullRequest;
use symphony_runner::repository::open_repository;
use symphony_runner::session::Session;
use symphony_store::StoreError;
use symphony_workspace::{CommitId, CommitLine};

/// Commits that are read at once.
const COMMITS_MAX: u32 = 100;

/// Reads the commits of a pull request, the newest first; none where the repository does not have them any more.
///
/// # Errors
/// When the database cannot be read.
pub fn commits(session: &Session, pr: &PullRequest) -> Result<Vec<CommitLine>, StoreError> {
    let project = session.store.project(&pr.project)?;
    let config = session.installation.project_config(&project).ok();
    let repository = config.and_then(|config| open_repository(&project, &config).ok());
    let ids = CommitId::parse(&pr.base_commit)
        .and_then(|base| Ok((base, CommitId::parse(&pr.head_commit)?)))
        .ok();
    let commits = repository.zip(ids).and_then(|(repository, (base, head))| {
        repository.commits_between(&base, &head, COMMITS_MAX).ok()
    });
    Ok(commits.unwrap_or_default())
}
