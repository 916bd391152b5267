//! Setting a project up: what its row says of gates, paths and thresholds, and how far its wizard came.

use rusqlite::{OptionalExtension as _, Transaction, params};
use serde_json::Value;
use symphony_core::agent::AgentType;
use symphony_core::config::parse_project_row;
use symphony_core::id::ProjectId;
use symphony_core::issue::check_text;
use symphony_core::log::LogEvent;
use symphony_core::project::WizardState;

use crate::context::Context;
use crate::error::StoreError;
use crate::event::{About, append};
use crate::open::Store;
use crate::profile_override::{OverrideEdit, set_override_in};
use crate::project::Project;
use crate::row::to_json;

/// What the setup wizard hands over.
#[derive(Debug, Clone, Default)]
pub struct ProjectSetup {
    /// Keys of a project's configuration: `gates`, `worktree`, `sensitive_paths`, `risk`. They replace what the row said
    /// before, but for the `worktree` of a row where this names none: gates need the set-up that was detected.
    pub settings: Value,
    /// Instructions of the project's workers; none leaves those that are there.
    pub worker_instructions: Option<String>,
    /// Instructions of its judges; none leaves those that are there.
    pub judge_instructions: Option<String>,
}

impl Store {
    /// Writes what the setup wizard found to the project's row and to its overrides of worker and judge, and marks the
    /// wizard as completed: all or nothing.
    ///
    /// # Errors
    /// When a setting is wrong (all that are), instructions are too long, or there is no such project.
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
            write_settings(tx, id, &with_worktree(tx, id, &setup.settings)?)?;
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

    /// Writes settings to a project's row, where every file wins over them.
    ///
    /// # Errors
    /// When a setting is wrong (all that are), or there is no such project.
    pub fn set_project_settings(
        &mut self,
        context: &Context,
        id: &ProjectId,
        settings: &Value,
    ) -> Result<Project, StoreError> {
        check_settings(settings)?;
        self.write(context, |tx| {
            write_settings(tx, id, settings)?;
            let event = LogEvent::ProjectSettingsSet(settings.clone());
            append(tx, context, about(id), &event)
        })?;
        self.project(id)
    }

    /// Lets the setup wizard of a project work again.
    ///
    /// # Errors
    /// When there is no such project, or its wizard is at work.
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
                return Err(StoreError::refused(format!(
                    "the setup wizard of {id} is at work: `symphony runs list` shows it"
                )));
            }
            set_wizard(tx, id, WizardState::Pending)?;
            append(tx, context, about(id), &LogEvent::WizardRestarted {})
        })?;
        self.project(id)
    }
}

/// Writes where a project's wizard stands.
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

/// Adds the `worktree` of the row to settings without one.
fn with_worktree(
    tx: &Transaction<'_>,
    id: &ProjectId,
    settings: &Value,
) -> Result<Value, StoreError> {
    let row: Option<String> = tx
        .query_row(
            "SELECT settings FROM project WHERE id = ?1",
            [id.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    let row: Value = serde_json::from_str(row.as_deref().unwrap_or("{}")).unwrap_or_default();
    let mut whole = settings.clone();
    if let (Some(kept), Some(fields)) = (row.get("worktree"), whole.as_object_mut()) {
        fields.entry("worktree").or_insert_with(|| kept.clone());
    }
    Ok(whole)
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
