//! Setting up a project: its row's gates, paths and thresholds, and how far its wizard has come.

use serde_json::Value;
use symphony_core::agent::AgentType;
use symphony_core::config::parse_project_row;
use symphony_core::id::ProjectId;
use symphony_core::issue::check_text;
use symphony_core::log::LogEvent;
use symphony_core::project::WizardState;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::to_json;
use crate::db::{OptionalExtension as _, Transaction, params};
use crate::error::StoreError;
use crate::project::profile_override::{OverrideEdit, set_override_in};
use crate::project::record::Project;
use crate::project::refusal::ProjectRefusal;

/// The result of the setup wizard.
#[derive(Debug, Clone, Default)]
pub struct ProjectSetup {
    /// Keys of a project's configuration: `gates`, `worktree`, `sensitive_paths`, `risk`. Keys that it does not have
    /// are left unchanged in the row: a wizard that runs again must not remove sensitive paths that it does not think
    /// of.
    pub settings: Value,
    /// Instructions for the project's workers; `None` leaves them unchanged.
    pub worker_instructions: Option<String>,
    /// Instructions for its judges; `None` leaves them unchanged.
    pub judge_instructions: Option<String>,
}

impl Store {
    /// Writes the setup wizard's result to the project's row and to its overrides of worker and judge, and marks the
    /// wizard as completed: all or nothing.
    ///
    /// # Errors
    /// When a setting is wrong (all wrong ones are reported), instructions are too long, or the project does not exist.
    pub fn configure_project(
        &mut self,
        context: &Context,
        id: &ProjectId,
        setup: &ProjectSetup,
    ) -> Result<Project, StoreError> {
        check_settings(&setup.settings)?;
        let instructions = [
            (
                AgentType::Worker,
                "worker_instructions",
                &setup.worker_instructions,
            ),
            (
                AgentType::Judge,
                "judge_instructions",
                &setup.judge_instructions,
            ),
        ];
        for (_, field, text) in &instructions {
            check_text(field, text.as_deref().unwrap_or_default())?;
        }
        self.write(context, |tx| {
            write_settings(tx, id, &over_row(tx, id, &setup.settings)?)?;
            set_wizard(tx, id, WizardState::Completed)?;
            for (agent, _, text) in &instructions {
                if let Some(text) = text {
                    let edit = OverrideEdit {
                        custom_instructions: Some(text.clone()),
                        model: None,
                    };
                    set_override_in(tx, context, agent, Some(id), &edit)?;
                }
            }
            let settings = setup.settings.clone();
            append(
                tx,
                context,
                about(id),
                &LogEvent::ProjectConfigured(settings),
            )
        })?;
        self.project(id)
    }

    /// Adds settings to a project's row, and replaces those of the same keys. Every file takes precedence over them.
    ///
    /// # Errors
    /// When a setting is wrong (all wrong ones are reported), or the project does not exist.
    pub fn add_project_settings(
        &mut self,
        context: &Context,
        id: &ProjectId,
        settings: &Value,
    ) -> Result<Project, StoreError> {
        self.write(context, |tx| {
            let whole = over_row(tx, id, settings)?;
            write_settings(tx, id, &whole)?;
            append(tx, context, about(id), &LogEvent::ProjectSettingsSet(whole))
        })?;
        self.project(id)
    }

    /// Lets the setup wizard of a project run again.
    ///
    /// # Errors
    /// When the project does not exist, or its wizard is running.
    pub fn restart_wizard(
        &mut self,
        context: &Context,
        id: &ProjectId,
    ) -> Result<Project, StoreError> {
        self.write(context, |tx| {
            let at_work: bool = tx.query_row(
                "SELECT EXISTS (SELECT 1 FROM run WHERE project = ?1 AND agent = 'wizard' AND status IN ('starting', 'running'))",
                [id.as_str()],
                |row| row.get(0),
            )?;
            if at_work {
                let project = id.clone();
                return Err(ProjectRefusal::WizardRuns(project).into());
            }
            set_wizard(tx, id, WizardState::Pending)?;
            append(tx, context, about(id), &LogEvent::WizardRestarted {})
        })?;
        self.project(id)
    }
}

/// Writes the state of a project's wizard.
pub(crate) fn set_wizard(
    tx: &Transaction<'_>,
    id: &ProjectId,
    state: WizardState,
) -> Result<(), StoreError> {
    let changed = tx.execute(
        "UPDATE project SET wizard = ?2 WHERE id = ?1",
        params![id.as_str(), state.name()],
    )?;
    if changed == 0 {
        return Err(StoreError::not_found("project", id));
    }
    Ok(())
}

/// Merges settings into those of the row. The result must be valid, too, since two thresholds can contradict each
/// other.
fn over_row(tx: &Transaction<'_>, id: &ProjectId, settings: &Value) -> Result<Value, StoreError> {
    let row: Option<String> = tx
        .query_row(
            "SELECT settings FROM project WHERE id = ?1",
            [id.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    let mut whole = serde_json::from_str(row.as_deref().unwrap_or("{}")).unwrap_or_default();
    lay_over(&mut whole, settings);
    check_settings(&whole)?;
    Ok(whole)
}

/// Merges one JSON value into another: objects field by field, everything else as a whole.
fn lay_over(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                lay_over(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => under.clone_from(over),
    }
}

fn write_settings(
    tx: &Transaction<'_>,
    id: &ProjectId,
    settings: &Value,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE project SET settings = ?2 WHERE id = ?1",
        params![id.as_str(), to_json(settings)],
    )?;
    Ok(())
}

fn check_settings(settings: &Value) -> Result<(), StoreError> {
    let (_, problems) = parse_project_row(settings);
    if problems.is_empty() {
        return Ok(());
    }
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Err(StoreError::refused(problems.join("; ")))
}

fn about(id: &ProjectId) -> About<'_> {
    About {
        project: Some(id),
        ..About::default()
    }
}
