//! Changes of a whole project: it leaves the installation, or its new issues get another prefix.

use std::collections::BTreeSet;
use std::path::Path;

use symphony_core::id::{IssueId, ProjectId, is_prefix};
use symphony_core::issue::{Dependency, DependentEffect, DependentsFate, settle_dependents};
use symphony_core::log::LogEvent;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::parsed;
use crate::db::{Connection, OptionalExtension, params};
use crate::error::StoreError;
use crate::issue::end::{load_open_dependents, settle};
use crate::issue::query::load_issue;
use crate::project::record::{Project, load_project, refuse_taken, refuse_used};
use crate::project::refusal::ProjectRefusal;

/// The open issues of a project, and the issues of other projects that depend on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectDependents {
    gone: Vec<IssueId>,
    dependencies: Vec<Dependency>,
}

impl ProjectDependents {
    /// Returns what happens to the issues of other projects when this one leaves; empty when none depends on it.
    pub fn settled(&self, fate: DependentsFate) -> Vec<DependentEffect> {
        settle_dependents(&self.gone, fate, &self.dependencies)
    }
}

impl Store {
    /// Returns the dependencies of open issues of other projects, as far as they lead to an open issue of this one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn dependents_on_project(&self, id: &ProjectId) -> Result<ProjectDependents, StoreError> {
        load_project_dependents(&self.conn, id)
    }

    /// Removes a project from lists and dispatch. Its issues and runs are kept, and adding its folder again brings it
    /// back. The issues of other projects that depend on its open ones are settled in the same transaction.
    ///
    /// # Errors
    /// When the project does not exist, or it has a live run or a plan that has not ended.
    pub fn remove_project(
        &mut self,
        context: &Context,
        id: &ProjectId,
        fate: DependentsFate,
    ) -> Result<Vec<DependentEffect>, StoreError> {
        self.write(context, |tx| {
            load_project(tx, id)?;
            refuse_under_way(tx, id)?;
            let dependents = load_project_dependents(tx, id)?.settled(fate);
            for effect in &dependents {
                let how = if load_issue(tx, &effect.because_of)?.project == *id {
                    format!("left with project {id}")
                } else {
                    "was cancelled".to_owned()
                };
                settle(tx, context, effect, &how)?;
            }
            tx.execute(
                "UPDATE project SET removed_at = ?2 WHERE id = ?1",
                params![id.as_str(), context.now.as_millisecond()],
            )?;
            let about = About {
                project: Some(id),
                ..About::default()
            };
            append(tx, context, about, &LogEvent::ProjectRemoved {})?;
            Ok(dependents)
        })
    }

    /// Returns whether a folder belongs to a removed project.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_removed_at(&self, root: &Path) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM project WHERE root = ?1 AND removed_at IS NOT NULL)",
            )?
            .query_row([root.to_str()], |row| row.get(0))?)
    }

    /// Gives new issues of a project another prefix. Existing identifiers do not change, and numbers continue, so that
    /// an old identifier and its branch always refer to the same issue.
    ///
    /// # Errors
    /// When the prefix is malformed, or another project has it now or in its old identifiers.
    pub fn rename_prefix(
        &mut self,
        context: &Context,
        id: &ProjectId,
        prefix: &str,
    ) -> Result<Project, StoreError> {
        if !is_prefix(prefix) {
            let prefix = prefix.to_owned();
            return Err(ProjectRefusal::BadPrefix(prefix).into());
        }
        self.write(context, |tx| {
            let before = load_project(tx, id)?;
            refuse_taken(tx, "prefix", prefix, Some(id))?;
            refuse_used(tx, prefix, Some(id))?;
            tx.execute(
                "UPDATE project SET prefix = ?2 WHERE id = ?1",
                [id.as_str(), prefix],
            )?;
            let about = About {
                project: Some(id),
                ..About::default()
            };
            let event = LogEvent::PrefixRenamed {
                from: before.prefix,
                to: prefix.to_owned(),
            };
            append(tx, context, about, &event)
        })?;
        self.project(id)
    }
}

/// Refuses while a project has a live run or a plan that has not ended.
fn refuse_under_way(conn: &Connection, id: &ProjectId) -> Result<(), StoreError> {
    let live: Option<String> = conn
        .query_row(
            "SELECT id FROM run WHERE project = ?1 AND status IN ('starting', 'running') LIMIT 1",
            [id.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    let project = id.clone();
    if let Some(run) = live {
        let run = parsed("run id", run)?;
        return Err(ProjectRefusal::RunIsLive { run, project }.into());
    }
    let plan: Option<String> = conn
        .query_row(
            "SELECT id FROM plan WHERE project = ?1 AND status IN ('running', 'paused', 'awaiting_user_decision', 'review') LIMIT 1",
            [id.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    match plan {
        Some(plan) => {
            let plan = parsed("plan id", plan)?;
            Err(ProjectRefusal::PlanUnderWay { plan, project }.into())
        }
        None => Ok(()),
    }
}

fn load_project_dependents(
    conn: &Connection,
    id: &ProjectId,
) -> Result<ProjectDependents, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT id FROM issue WHERE project = ?1 AND status NOT IN ('done', 'cancelled') ORDER BY number",
    )?;
    let mut rows = statement.query([id.as_str()])?;
    let mut found = ProjectDependents::default();
    while let Some(row) = &rows.next()? {
        found.gone.push(parsed("issue id", row.get(0)?)?);
    }
    let mut pairs = BTreeSet::new();
    for gone in &found.gone {
        pairs.extend(load_open_dependents(conn, gone)?);
    }
    found.dependencies = pairs.into_iter().collect();
    Ok(found)
}
