//! The documents of a ticket for a prompt. They are read from commits, so that no agent can change them while they are
//! read.

use symphony_core::contract::{Pipeline, TicketDeliveries, ticket_documents};
use symphony_core::criteria::{ChecklistEntry, Criteria, compare_criteria};
use symphony_core::id::{IssueId, PhaseName};
use symphony_prompt::{CriteriaInput, CriterionInput, DocumentSource, PhaseArtifact};
use symphony_workspace::{
    BranchName, CommitId, DocumentPlaces, DocumentProblem, FoundDocument, Repository,
    WorkspaceError,
};

/// The documents for a prompt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Documents {
    /// Documents of the issues above first, starting with the topmost one, then those of the issue, each in the order
    /// of their phases.
    pub(crate) list: Vec<PhaseArtifact>,
    /// Why documents could not be read, including lost ones.
    pub(crate) problems: Vec<String>,
    /// Accepted documents that are lost. An agent that works without them has to know.
    pub(crate) lost: Vec<String>,
}

/// Returns the issue's acceptance criteria for its worker, or with their answers for the judge of a pull request.
pub(crate) fn criteria_input(
    criteria: &Criteria,
    answers: Option<&[ChecklistEntry]>,
) -> CriteriaInput {
    let compared = compare_criteria(criteria, answers.unwrap_or_default());
    let items = compared.items.into_iter().map(|item| {
        let (state, note) = item
            .answer
            .map(|answer| (answer.state, answer.note))
            .unzip();
        CriterionInput {
            item: item.criterion.item,
            text: item.criterion.text,
            source: item.criterion.source,
            state,
            note: note.unwrap_or_default(),
        }
    });
    CriteriaInput {
        items: items.collect(),
        dropped: compared
            .dropped
            .into_iter()
            .map(|entry| entry.criterion.text)
            .collect(),
        left_out: compared.left_out,
    }
}

/// Which documents to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentQuery<'a> {
    /// The issue.
    pub(crate) issue: &'a IssueId,
    /// The commit of its branch to read from; `None` if it has no branch.
    pub(crate) head: Option<&'a CommitId>,
    /// The phase that the reader delivers or judges: only documents of earlier phases are read. `None` for all phases.
    pub(crate) before: Option<&'a PhaseName>,
    /// The deliveries of the ticket.
    pub(crate) deliveries: &'a TicketDeliveries,
}

impl Documents {
    /// Reads the documents of an issue and of the issues above it.
    ///
    /// # Errors
    /// When the repository has no base, or git fails.
    pub(crate) fn read(
        repository: &Repository,
        pipeline: &Pipeline,
        query: DocumentQuery<'_>,
    ) -> Result<Self, WorkspaceError> {
        let base = repository.base()?;
        let mut documents = Self::default();
        for (nearer, (ancestor, deliveries)) in query.deliveries.ancestors.iter().enumerate().rev()
        {
            let branch = BranchName::of_issue(ancestor);
            let places = DocumentPlaces {
                head: repository.branch_head(&branch)?,
                branch,
                base: base.clone(),
            };
            let wanted = ticket_documents(pipeline, ancestor, deliveries, None);
            let found = repository.read_documents(wanted, &places);
            documents.extend(Some((ancestor, nearer + 1)), found);
        }
        let places = DocumentPlaces {
            branch: BranchName::of_issue(query.issue),
            head: query.head.cloned(),
            base,
        };
        let wanted = ticket_documents(pipeline, query.issue, &query.deliveries.own, query.before);
        documents.extend(None, repository.read_documents(wanted, &places));
        Ok(documents)
    }

    fn extend(
        &mut self,
        above: Option<(&IssueId, usize)>,
        (found, problems): (Vec<FoundDocument>, Vec<DocumentProblem>),
    ) {
        let found = found.into_iter().map(|found| PhaseArtifact {
            phase: found.document.phase,
            path: found.document.path,
            text: found.text,
            parent: above.map(|(ancestor, _)| ancestor.clone()),
            levels_above: above.map_or(0, |(_, levels)| levels),
            source: Some(DocumentSource {
                branch: found.branch.as_str().to_owned(),
                commit: found.commit.to_string(),
            }),
        });
        self.list.extend(found);
        for problem in problems {
            match problem {
                DocumentProblem::Lost(text) => {
                    self.lost.push(text.clone());
                    self.problems.push(text);
                }
                DocumentProblem::Unread(text) => self.problems.push(text),
            }
        }
    }
}
