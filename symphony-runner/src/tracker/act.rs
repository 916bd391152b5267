//! Does what a comment asks for, as the person would by a command.

use symphony_core::id::IssueId;
use symphony_core::issue::DependentsFate;
use symphony_core::pull_request::VerdictKind;
use symphony_core::review_point::{NewPoint, PointChanges, Severity};
use symphony_mcp::Reviewed;
use symphony_store::{Context, StoreError};
use symphony_tracker::command::Command;
use symphony_tracker::comment::Act;

use super::mirror::Mirror;
use crate::error::RunnerError;
use crate::order::{Ending, PersonVerdict, RedGates, end_issue, give_verdict, retry_issue};

impl Mirror<'_> {
    /// Carries an act out.
    ///
    /// # Errors
    /// When it is refused, as it would be for the command.
    pub(super) fn act(
        &mut self,
        issue: &IssueId,
        context: &Context,
        act: &Act,
    ) -> Result<(), RunnerError> {
        match act {
            Act::Nothing | Act::Ignored { .. } | Act::Refused { .. } => Ok(()),
            Act::Answer { .. }
            | Act::Command {
                command: Command::Retry { .. },
                ..
            } => retry_issue(&mut self.session.store, context, issue).map(drop),
            Act::Command {
                command: Command::Cancel,
                ..
            } => {
                let ending = Ending::cancelled(issue, Some(DependentsFate::Keep));
                end_issue(self.session, context, &ending).map(drop)
            }
            Act::Command {
                command: Command::Approve { head, remark },
                ..
            } => self.verdict(
                issue,
                context,
                VerdictKind::Approved,
                remark.clone().unwrap_or_default(),
                Some(head),
            ),
            Act::Command {
                command: Command::Reject { text },
                ..
            } => self.verdict(issue, context, VerdictKind::Rejected, text.clone(), None),
        }
    }

    fn verdict(
        &mut self,
        issue: &IssueId,
        context: &Context,
        kind: VerdictKind,
        text: String,
        commit: Option<&str>,
    ) -> Result<(), RunnerError> {
        let Some(pr) = self.session.store.open_pr(issue)? else {
            return Err(StoreError::NotFound {
                what: "open pull request of",
                id: issue.to_string(),
            }
            .into());
        };
        let (comment, new) = match kind {
            VerdictKind::Approved => (text, Vec::new()),
            VerdictKind::Rejected => (
                String::new(),
                vec![NewPoint {
                    severity: Severity::Must,
                    text,
                    place: None,
                }],
            ),
        };
        let verdict = PersonVerdict {
            kind,
            comment,
            commit,
            points: PointChanges {
                new,
                moved: Vec::new(),
            },
            red_gates: match kind {
                VerdictKind::Approved => RedGates::Refused,
                VerdictKind::Rejected => RedGates::Allowed,
            },
            subject: Reviewed::of(&pr),
        };
        give_verdict(self.session, context, &pr, &verdict).map(drop)
    }
}
