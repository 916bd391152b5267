//! Importing issues from an export: all of a document or none.

use std::collections::BTreeMap;

use symphony_core::id::{IssueId, ProjectId};
use symphony_core::issue::{
    ImportPlan, IssueEvent, IssueLine, IssueRef, IssueState, KnownIssue, TransferProblem,
    plan_import,
};

use crate::database::context::{Actor, Context};
use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;
use crate::issue::add::{NewIssue, add_issue_in};
use crate::issue::cascade::move_in;
use crate::issue::dependency::set_dependencies;

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedIssues {
    /// New issues, each with its line.
    pub added: Vec<(usize, IssueId)>,
    /// Lines whose issue already existed and was left unchanged.
    pub skipped: Vec<(usize, IssueId)>,
}

impl Store {
    /// Imports issues into a project in one transaction. Returns the problems of the document if it has any; then
    /// nothing is written.
    ///
    /// # Errors
    /// When a run calls it, the project does not exist, dependencies form a cycle with existing issues, or the database
    /// cannot be written.
    pub fn import_issues(
        &mut self,
        context: &Context,
        project: &ProjectId,
        lines: &[(usize, IssueLine)],
    ) -> Result<Result<ImportedIssues, Vec<TransferProblem>>, StoreError> {
        if matches!(context.actor, Actor::Run(_)) {
            return Err(StoreError::OnlyPeople("import issues"));
        }
        self.project(project)?;
        self.write(context, |tx| {
            let known = known_issues(tx, project, lines)?;
            match plan_import(lines, &known) {
                Err(problems) => Ok(Err(problems)),
                Ok(plan) => carry_out(tx, context, project, plan).map(Ok),
            }
        })
    }
}

/// Looks up every name that the document uses.
fn known_issues(
    tx: &Transaction<'_>,
    project: &ProjectId,
    lines: &[(usize, IssueLine)],
) -> Result<BTreeMap<String, KnownIssue>, StoreError> {
    let mut known = BTreeMap::new();
    let mut by_id =
        tx.prepare_cached("SELECT id, title FROM issue WHERE id = ?1 AND project = ?2")?;
    let mut by_external =
        tx.prepare_cached("SELECT id, title FROM issue WHERE external_id = ?1 AND project = ?2 ORDER BY number LIMIT 1")?;
    for (_, line) in lines {
        let own = line
            .identifier
            .iter()
            .chain(&line.external_id)
            .map(String::as_str);
        for name in own.chain(line.names()) {
            if known.contains_key(name) {
                continue;
            }
            for statement in [&mut by_id, &mut by_external] {
                let found: Option<(String, String)> = statement
                    .query_row(params![name, project.as_str()], |row| {
                        Ok((row.get(0)?, row.get(1)?))
                    })
                    .optional()?;
                if let Some((id, title)) = found {
                    let id = parsed("issue id", id)?;
                    known.insert(name.to_owned(), KnownIssue { id, title });
                    break;
                }
            }
        }
    }
    Ok(known)
}

fn carry_out(
    tx: &Transaction<'_>,
    context: &Context,
    project: &ProjectId,
    plan: ImportPlan,
) -> Result<ImportedIssues, StoreError> {
    let mut made: Vec<IssueId> = Vec::new();
    let id_of = |made: &[IssueId], issue: &IssueRef| match issue {
        IssueRef::Known(id) => Some(id.clone()),
        IssueRef::New(at) => made.get(*at).cloned(),
    };
    for issue in &plan.add {
        let fields = issue.fields.clone();
        let choice = fields.choice();
        let state = if issue.waits_for_parts {
            IssueState::Todo
        } else {
            fields.state()
        };
        let new = NewIssue {
            project: project.clone(),
            title: fields.title,
            description: fields.description,
            status: state.status(),
            priority: fields.priority,
            size: fields.size,
            labels: fields.labels,
            // A parent comes before its sub-tasks.
            parent: issue
                .parent
                .as_ref()
                .and_then(|parent| id_of(&made, parent)),
            depends_on: Vec::new(),
            external_id: fields.external_id,
            choice,
        };
        made.push(add_issue_in(tx, context, &new, &state)?);
    }
    // Dependencies are set once all issues exist, since an issue may depend on one further down.
    for (issue, id) in plan.add.iter().zip(&made) {
        let dependencies: Vec<IssueId> = issue
            .depends_on
            .iter()
            .filter_map(|dependency| id_of(&made, dependency))
            .collect();
        if !dependencies.is_empty() {
            set_dependencies(tx, id, &dependencies)?;
        }
    }
    for (issue, id) in plan.add.iter().zip(&made) {
        if issue.waits_for_parts {
            move_in(tx, context, id, &IssueEvent::SubtasksOpened)?;
        }
    }
    Ok(ImportedIssues {
        added: plan.add.iter().map(|issue| issue.line).zip(made).collect(),
        skipped: plan.skip,
    })
}
