//! An issue with all that belongs to it.

use symphony_core::id::{IssueId, ProjectId};
use symphony_core::inbox::LostDocument;
use symphony_runner::session::Session;
use symphony_runner::upkeep::kept_documents::lost_documents;
use symphony_store::StoreError;

use crate::IssueDetail;

/// Reads an issue with its runs, comments, findings and documents.
///
/// # Errors
/// When there is no such issue, or the database cannot be read.
pub fn issue(session: &Session, id: &IssueId) -> Result<IssueDetail, StoreError> {
    let detail = IssueDetail::load(&session.store, id, &session.configured_gates())?;
    let project = session.store.issue(id)?.project;
    Ok(detail.with_lost_documents(&lost(session, &project)?))
}

/// The documents of a project that are lost. A configuration or a repository that cannot be read is reported elsewhere.
fn lost(session: &Session, project: &ProjectId) -> Result<Vec<LostDocument>, StoreError> {
    let project = session.store.project(project)?;
    let Ok(config) = session.installation.project_config(&project) else {
        return Ok(Vec::new());
    };
    Ok(lost_documents(&session.store, &project, &config).unwrap_or_default())
}
