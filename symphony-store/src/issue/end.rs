//! Ending an issue at a person's request, together with the issues that depend on it: both or neither.

use symphony_core::id::IssueId;
use symphony_core::issue::{
    Dependency, DependentEffect, DependentsFate, Issue, IssueEvent, IssueStatus,
    check_required_text, settle_dependents,
};
use symphony_core::log::LogEvent;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{Connection, Transaction};
use crate::error::StoreError;
use crate::issue::cascade::move_in;
use crate::issue::dependency::set_dependencies;
use crate::issue::note::add_comment_in;
use crate::issue::query::load_issue;

/// How an issue ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueEnd {
    /// The terminal event of its state machine that ends it.
    pub event: IssueEvent,
    /// A comment with the reason.
    pub comment: Option<String>,
    /// What happens to the open issues that depend on it, when it is cancelled.
    pub dependents: DependentsFate,
}

/// An issue that ended, and what happened to those that depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedIssue {
    /// The issue.
    pub issue: Issue,
    /// What happened to each dependent issue; empty when the issue is done, since that is what they waited for.
    pub dependents: Vec<DependentEffect>,
}

impl Store {
    /// Returns the dependencies of the open issues that depend on this one, as far as they lead back to it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_dependents(&self, id: &IssueId) -> Result<Vec<Dependency>, StoreError> {
        load_open_dependents(&self.conn, id)
    }

    /// Ends an issue. When that cancels it, the open issues that depend on it are settled in the same transaction.
    ///
    /// # Errors
    /// When the issue does not exist, or the table of transitions has no such row.
    pub fn end_issue(
        &mut self,
        context: &Context,
        id: &IssueId,
        end: &IssueEnd,
    ) -> Result<EndedIssue, StoreError> {
        if let Some(comment) = &end.comment {
            check_required_text("reason", comment)?;
        }
        self.write(context, |tx| {
            // Before the move, in the same transaction: a dependent that was left out would wait for a cancelled issue
            // for ever.
            let dependencies = load_open_dependents(tx, id)?;
            let state = move_in(tx, context, id, &end.event)?;
            if let Some(comment) = &end.comment {
                add_comment_in(tx, context, id, comment)?;
            }
            let dependents = if state.status() == IssueStatus::Cancelled {
                settle_dependents(std::slice::from_ref(id), end.dependents, &dependencies)
            } else {
                Vec::new()
            };
            for effect in &dependents {
                settle(tx, context, effect, "was cancelled")?;
            }
            Ok(EndedIssue {
                issue: load_issue(tx, id)?,
                dependents,
            })
        })
    }
}

/// Writes what happens to a dependent issue, with a comment about the issue that it depended on.
pub(crate) fn settle(
    tx: &Transaction<'_>,
    context: &Context,
    effect: &DependentEffect,
    how: &str,
) -> Result<(), StoreError> {
    let (issue, gone) = (&effect.issue, &effect.because_of);
    let comment = match effect.fate {
        DependentsFate::Keep => return Ok(()),
        DependentsFate::Cancel => {
            move_in(tx, context, issue, &IssueEvent::Cancelled)?;
            format!("Cancelled, because {gone}, which it depends on, {how}.")
        }
        DependentsFate::Release => {
            let kept: Vec<IssueId> = load_issue(tx, issue)?
                .depends_on
                .into_iter()
                .filter(|dependency| dependency != gone)
                .collect();
            set_dependencies(tx, issue, &kept)?;
            append(
                tx,
                context,
                About::issue(issue),
                &LogEvent::IssueEdited {
                    released_from: Some(gone.clone()),
                    labels_added: Vec::new(),
                    priority: None,
                },
            )?;
            format!("It no longer depends on {gone}, which {how}.")
        }
    };
    add_comment_in(tx, context, issue, &comment)?;
    Ok(())
}

/// Reads the dependencies of the open issues that depend on one, as far as they lead back to it.
pub(crate) fn load_open_dependents(
    conn: &Connection,
    id: &IssueId,
) -> Result<Vec<Dependency>, StoreError> {
    let mut statement = conn.prepare_cached(
        "WITH RECURSIVE reach (id) AS (
             SELECT id FROM issue WHERE id = ?1 UNION
             SELECT d.issue FROM reach r JOIN issue_dependency d ON d.depends_on = r.id
             JOIN issue i ON i.id = d.issue AND i.status NOT IN ('done', 'cancelled'))
         SELECT d.issue, d.depends_on FROM reach r JOIN issue_dependency d ON d.depends_on = r.id
         JOIN issue i ON i.id = d.issue AND i.status NOT IN ('done', 'cancelled')
         ORDER BY i.project, i.number, d.depends_on",
    )?;
    let mut rows = statement.query([id.as_str()])?;
    let mut found = Vec::new();
    while let Some(row) = &rows.next()? {
        found.push(Dependency {
            issue: parsed("issue id", row.get(0)?)?,
            depends_on: parsed("issue id", row.get(1)?)?,
        });
    }
    Ok(found)
}
