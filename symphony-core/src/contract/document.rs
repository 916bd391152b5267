//! The documents of a ticket: what the phases of an issue delivered, and which version of each counts.

use super::model::PhaseContract;
use super::pipeline::Pipeline;
use super::record::{Delivery, DeliveryState};
use crate::id::{IssueId, PhaseName};

/// Most documents that are searched for per issue: more phases than any pipeline needs.
pub const TICKET_DOCUMENTS_MAX: usize = 12;

/// Most ancestors of a sub-task whose documents are searched for: more levels than anyone splits work into.
pub const ANCESTORS_MAX: usize = 8;

/// A document that a phase of an issue delivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketDocument {
    /// The issue.
    pub issue: IssueId,
    /// The phase.
    pub phase: PhaseName,
    /// Where the document is, relative to the project.
    pub path: String,
    /// The commit of the newest accepted delivery; `None` if no delivery of the phase was accepted.
    pub accepted: Option<String>,
}

/// The deliveries of an issue and of those above it, each list oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TicketDeliveries {
    /// Deliveries of the issue.
    pub own: Vec<Delivery>,
    /// The parent of a sub-task, its parent and so on, nearest first, at most [`ANCESTORS_MAX`], each with its
    /// deliveries.
    pub ancestors: Vec<(IssueId, Vec<Delivery>)>,
}

/// Lists the documents of an issue, those of earlier phases first: at the path of the phase's newest accepted delivery,
/// otherwise at the contract's. With `before`, only phases that come before it. `deliveries` are the issue's deliveries,
/// oldest first.
pub fn ticket_documents(
    pipeline: &Pipeline,
    issue: &IssueId,
    deliveries: &[Delivery],
    before: Option<&PhaseName>,
) -> Vec<TicketDocument> {
    let is_wanted = |contract: &&PhaseContract| {
        before.is_none_or(|before| pipeline.is_later(&contract.phase, before))
    };
    let mut phases: Vec<&PhaseContract> = pipeline.iter().filter(is_wanted).collect();
    // A phase with more phases after it comes earlier.
    phases.sort_by_key(|contract| std::cmp::Reverse(pipeline.later(&contract.phase).len()));
    let documents = phases.into_iter().filter_map(|contract| {
        let accepted = deliveries.iter().rfind(|delivery| {
            delivery.phase == contract.phase && delivery.state == DeliveryState::Accepted
        });
        let delivered = accepted.and_then(|delivery| delivery.artifact_path.clone());
        let contracted = contract.artifact_path.as_ref();
        Some(TicketDocument {
            issue: issue.clone(),
            phase: contract.phase.clone(),
            path: delivered.or_else(|| contracted.map(|path| path.for_issue(issue)))?,
            accepted: accepted.and_then(|delivery| delivery.head_commit.clone()),
        })
    });
    documents.take(TICKET_DOCUMENTS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Timestamp;
    use crate::agent::AgentType;
    use crate::contract::parse_contract;
    use crate::id::{DeliveryId, ProjectId};
    use crate::issue::CommentAuthor;

    fn pipeline() -> Pipeline {
        let contract = |phase: &str, next: &str| {
            let text = format!(
                "---\nphase: {phase}\ncontract_version: 1\ndispatch_profile: worker\nartifact_type: document\n\
                 artifact_path: docs/{{id}}/{phase}.md\n{next}---\n# Phase\n"
            );
            parse_contract(&format!("{phase}.md"), &text).unwrap()
        };
        let ready = parse_contract(
            "ready.md",
            "---\nphase: ready\ncontract_version: 1\ndispatch_profile: worker\nartifact_type: code\n---\n# Ready\n",
        );
        let contracts = vec![
            contract("research", "next_phase: design\n"),
            contract("design", "next_phase: ready\n"),
            contract("audit", ""),
            ready.unwrap(),
        ];
        let profiles = BTreeSet::from([AgentType::Worker]);
        Pipeline::new([contracts], &[], &profiles).unwrap()
    }

    fn delivery(phase: &str, state: DeliveryState, path: Option<&str>, commit: &str) -> Delivery {
        Delivery {
            id: DeliveryId::new(1),
            project: ProjectId::parse("demo").unwrap(),
            issue: IssueId::parse("A-1").unwrap(),
            phase: PhaseName::parse(phase).unwrap(),
            artifact_path: path.map(str::to_owned),
            summary: String::new(),
            skip_to: None,
            next_phase: None,
            run: None,
            author: CommentAuthor::Human,
            state,
            reasons: Vec::new(),
            verdict: None,
            head_commit: Some(commit.to_owned()),
            open: false,
            created_at: Timestamp::from_millisecond(0).unwrap(),
        }
    }

    fn listed(deliveries: &[Delivery], before: Option<&str>) -> Vec<String> {
        let before = before.map(|phase| PhaseName::parse(phase).unwrap());
        let issue = IssueId::parse("A-1").unwrap();
        ticket_documents(&pipeline(), &issue, deliveries, before.as_ref())
            .into_iter()
            .map(|found| {
                let commit = found.accepted.as_deref().unwrap_or("-");
                format!("{} {} {commit}", found.phase, found.path)
            })
            .collect()
    }

    #[test]
    fn documents_come_in_the_order_of_their_phases_and_the_newest_accepted_delivery_counts() {
        use DeliveryState::{Accepted, Rejected};
        let deliveries = [
            delivery("research", Accepted, Some("notes/a.md"), "c1"),
            delivery("research", Accepted, Some("notes/b.md"), "c2"),
            delivery("research", Rejected, Some("notes/c.md"), "c3"),
            delivery("design", Rejected, None, "c4"),
        ];
        for (deliveries, before, expected) in [
            (
                &deliveries[..],
                Some("ready"),
                vec!["research notes/b.md c2", "design docs/A-1/design.md -"],
            ),
            (
                &deliveries[..],
                Some("design"),
                vec!["research notes/b.md c2"],
            ),
            (&deliveries[..], Some("research"), vec![]),
            (
                &[],
                None,
                vec![
                    "research docs/A-1/research.md -",
                    "design docs/A-1/design.md -",
                    "audit docs/A-1/audit.md -",
                ],
            ),
        ] {
            assert_eq!(listed(deliveries, before), expected, "{before:?}");
        }
    }
}
