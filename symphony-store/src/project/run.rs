//! The end of runs that concern a project rather than the work on an issue: its own agents, and intake.

use symphony_core::agent::AgentType;
use symphony_core::id::IssueId;
use symphony_core::issue::TriageOutcome;
use symphony_core::log::LogEvent;
use symphony_core::outcome::{
    ProjectRouting, ProjectRunEnd, met_global_condition, route_project_run_end,
};
use symphony_core::project::WizardState;
use symphony_core::run::Run;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::db::{Transaction, params};
use crate::error::StoreError;
use crate::project::record::load_project;
use crate::project::setup::set_wizard;
use crate::run::ending::RunFinish;
use crate::run::hand_in::refused_call;

/// Routes the end of a run on a project.
pub(crate) fn route_project(
    tx: &Transaction<'_>,
    run: &Run,
    finish: &RunFinish,
) -> Result<ProjectRouting, StoreError> {
    Ok(route_project_run_end(&ProjectRunEnd {
        agent: &run.agent,
        refused: refused_call(&run.metadata).map(|refused| refused.why_nothing_came(&run.id)),
        status: finish.status,
        error: finish.error.clone(),
        cap: finish.cap,
        wizard: load_project(tx, &run.project)?.wizard,
    }))
}

/// Writes how a project's wizard ended.
pub(crate) fn end_wizard(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    state: WizardState,
) -> Result<(), StoreError> {
    set_wizard(tx, &run.project, state)?;
    let about = About {
        project: Some(&run.project),
        issue: None,
        plan: None,
        run: Some(&run.id),
    };
    append(tx, context, about, &LogEvent::WizardEnded { wizard: state })
}

/// Records that intake has looked at an issue, which it does once. A run that met a global condition did not look.
pub(crate) fn end_intake(
    tx: &Transaction<'_>,
    context: &Context,
    run: &Run,
    issue: &IssueId,
    finish: &RunFinish,
) -> Result<(), StoreError> {
    let held = met_global_condition(finish.error.as_ref(), finish.cap);
    if run.agent != AgentType::Intake || held {
        return Ok(());
    }
    let changed: bool = tx.query_row(
        "SELECT EXISTS (SELECT 1 FROM event WHERE run = ?1 AND issue = ?2 AND kind IN ('issue_edited', 'issue_moved'))",
        [run.id.as_str(), issue.as_str()],
        |row| row.get(0),
    )?;
    let intake = if changed {
        TriageOutcome::Changed
    } else {
        TriageOutcome::Unchanged
    };
    tx.execute(
        "UPDATE issue SET intake = ?2 WHERE id = ?1",
        params![issue.as_str(), intake.name()],
    )?;
    let about = About {
        project: Some(&run.project),
        issue: Some(issue),
        plan: None,
        run: Some(&run.id),
    };
    append(tx, context, about, &LogEvent::IssueTriaged { intake })
}
