//! The documents of a ticket, read from commits: an agent can change a checkout while someone reads it, a commit never
//! changes.

use symphony_core::contract::{Pipeline, TicketDeliveries, TicketDocument, ticket_documents};
use symphony_core::criteria::{Criteria, collect_criteria};
use symphony_core::id::IssueId;

use super::base::Base;
use super::branch::BranchName;
use super::open::Repository;
use crate::artifact::ARTIFACT_BYTES_MAX;
use crate::commit_id::CommitId;
use crate::error::WorkspaceError;

/// Where the documents of one issue are searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPlaces {
    /// The issue's branch.
    pub branch: BranchName,
    /// The commit of the branch that is read; `None` if there is no such branch.
    pub head: Option<CommitId>,
    /// The base branch.
    pub base: Base,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDocument {
    /// The document that was searched for.
    pub document: TicketDocument,
    /// Its text; what is not UTF-8 is replaced.
    pub text: String,
    /// The branch that it was read from.
    pub branch: BranchName,
    /// The commit that it was read from.
    pub commit: CommitId,
}

/// What is wrong with a document, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentProblem {
    /// Its accepted version is lost.
    Lost(String),
    /// It cannot be read.
    Unread(String),
}

impl Repository {
    /// Reads the documents of an issue, each from the first commit that has it: the base once the accepted version is
    /// merged (people may have corrected it there), the commit of the accepted delivery, the issue's branch, the base.
    ///
    /// A document that is nowhere is left out. One that cannot be read is left out as well, and named among the
    /// problems; so is one whose accepted version is lost, whether another one is found on the branch or not.
    pub fn read_documents(
        &self,
        wanted: Vec<TicketDocument>,
        places: &DocumentPlaces,
    ) -> (Vec<FoundDocument>, Vec<DocumentProblem>) {
        let mut found = Vec::new();
        let mut problems = Vec::new();
        for document in wanted {
            match self.find_document(&document, places) {
                Ok((document, problem)) => {
                    found.extend(document);
                    problems.extend(problem);
                }
                Err(error) => problems.push(DocumentProblem::Unread(format!(
                    "the document {} of {} is left out: {error}",
                    document.path, document.issue
                ))),
            }
        }
        (found, problems)
    }

    /// Reads the acceptance criteria of an issue: those of its text, then those of its documents that were accepted or
    /// are on the base. What an agent wrote on its branch without being asked sets no criteria.
    ///
    /// # Errors
    /// When the repository has no base.
    pub fn read_criteria(
        &self,
        issue: &IssueId,
        text: &str,
        pipeline: Option<&Pipeline>,
        deliveries: &TicketDeliveries,
    ) -> Result<Criteria, WorkspaceError> {
        let Some(pipeline) = pipeline else {
            return Ok(collect_criteria(text, &[]));
        };
        let places = DocumentPlaces {
            branch: BranchName::of_issue(issue),
            head: None,
            base: self.base()?,
        };
        let wanted = ticket_documents(pipeline, issue, &deliveries.own, None);
        let (found, _unread) = self.read_documents(wanted, &places);
        let documents: Vec<(&str, &str)> = found
            .iter()
            .map(|found| (found.document.path.as_str(), found.text.as_str()))
            .collect();
        Ok(collect_criteria(text, &documents))
    }

    fn find_document(
        &self,
        document: &TicketDocument,
        places: &DocumentPlaces,
    ) -> Result<(Option<FoundDocument>, Option<DocumentProblem>), WorkspaceError> {
        let accepted = document.accepted.as_deref();
        let accepted = accepted.and_then(|commit| CommitId::parse(commit).ok());
        let accepted = match accepted {
            Some(commit) if self.has_commit(&commit)? => Some(commit),
            _ => None,
        };
        let is_gone = accepted.is_none() && document.accepted.is_some();
        let base = (&places.base.branch, &places.base.commit);
        let is_merged = match &accepted {
            Some(commit) => self.is_merged(commit, base.1)?,
            None => false,
        };
        let order = [
            is_merged.then_some(base),
            accepted.as_ref().map(|commit| (&places.branch, commit)),
            places.head.as_ref().map(|head| (&places.branch, head)),
            Some(base),
        ];
        for (branch, commit) in order.into_iter().flatten() {
            let bytes_max = usize::try_from(ARTIFACT_BYTES_MAX).unwrap_or(usize::MAX);
            if let Some(bytes) = self.file_at(commit, &document.path, bytes_max)? {
                // the base has it by a merge that joined commits, or from a person
                let is_of_base = (branch, commit) == base;
                let problem = (is_gone && !is_of_base).then(|| lost(document, Some(branch)));
                if bytes.contains(&0) {
                    return Ok((None, Some(problem.unwrap_or_else(|| binary(document)))));
                }
                let found = FoundDocument {
                    document: document.clone(),
                    text: String::from_utf8_lossy(&bytes).into_owned(),
                    branch: branch.clone(),
                    commit: commit.clone(),
                };
                return Ok((Some(found), problem));
            }
        }
        Ok((None, is_gone.then(|| lost(document, None))))
    }
}

/// The problem of a binary document: an older version accepted it, or it was changed on the base.
fn binary(document: &TicketDocument) -> DocumentProblem {
    DocumentProblem::Unread(format!(
        "the document {} of {} is left out: it is a binary file",
        document.path, document.issue
    ))
}

/// The problem of a lost accepted version, and what is read instead.
fn lost(document: &TicketDocument, instead: Option<&BranchName>) -> DocumentProblem {
    let TicketDocument {
        issue, phase, path, ..
    } = document;
    let instead = instead.map_or_else(
        || "there is no other version of it".to_owned(),
        |branch| format!("the current version on {branch} is used instead"),
    );
    DocumentProblem::Lost(format!(
        "the accepted document {path} of the phase {phase} of {issue} is lost: its commit is no longer in the \
         repository; {instead}"
    ))
}
