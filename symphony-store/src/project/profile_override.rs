//! The database's changes to agent profiles, for one project or for all (spec: contracts, "Agent profile").

use symphony_core::agent::AgentType;
use symphony_core::id::ProjectId;
use symphony_core::issue::check_text;
use symphony_core::log::LogEvent;
use symphony_core::profile::{ModelChoice, ProfileOverride};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::database::open::Store;
use crate::database::row::parsed_opt;
use crate::db::{Connection, OptionalExtension, Row, Transaction, params};
use crate::error::StoreError;

/// A change of an override; `None` leaves a field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverrideEdit {
    /// The instructions; a blank text clears them.
    pub custom_instructions: Option<String>,
    /// The model; `inherit` clears it.
    pub model: Option<ModelChoice>,
}

/// The database's changes to an agent's profile, layer by layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverrideLayers {
    /// For the project.
    pub project: Option<ProfileOverride>,
    /// For all projects.
    pub global: Option<ProfileOverride>,
}

impl OverrideLayers {
    /// Returns the effective values: each from the project if it has one, otherwise from the layer for all.
    pub fn effective(&self) -> ProfileOverride {
        ProfileOverride::layered(self.project.as_ref(), self.global.as_ref())
    }
}

impl Store {
    /// Changes the override of a profile, for a project or for all. Returns that layer's override.
    ///
    /// # Errors
    /// When there is no such project, or the instructions are too long.
    pub fn set_override(
        &mut self,
        context: &Context,
        agent: &AgentType,
        project: Option<&ProjectId>,
        edit: &OverrideEdit,
    ) -> Result<ProfileOverride, StoreError> {
        if let Some(text) = &edit.custom_instructions {
            check_text("instructions", text)?;
        }
        self.write(context, |tx| {
            if let Some(id) = project {
                let known: bool = tx.query_row(
                    "SELECT EXISTS (SELECT 1 FROM project WHERE id = ?1)",
                    [id.as_str()],
                    |row| row.get(0),
                )?;
                if !known {
                    return Err(StoreError::not_found("project", id));
                }
            }
            set_override_in(tx, context, agent, project, edit)
        })
    }

    /// Returns the overrides of a profile in a project.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn overrides(
        &self,
        agent: &AgentType,
        project: &ProjectId,
    ) -> Result<OverrideLayers, StoreError> {
        Ok(OverrideLayers {
            project: load_override(&self.conn, agent, Some(project))?,
            global: load_override(&self.conn, agent, None)?,
        })
    }
}

/// Changes an override inside a transaction. An empty one is removed.
pub(crate) fn set_override_in(
    tx: &Transaction<'_>,
    context: &Context,
    agent: &AgentType,
    project: Option<&ProjectId>,
    edit: &OverrideEdit,
) -> Result<ProfileOverride, StoreError> {
    let mut now = load_override(tx, agent, project)?.unwrap_or_default();
    if let Some(text) = &edit.custom_instructions {
        now.custom_instructions = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    }
    if let Some(model) = &edit.model {
        now.model = model.clone();
    }
    let scope = project.map(ProjectId::as_str);
    tx.execute(
        "DELETE FROM profile_override WHERE agent = ?1 AND coalesce(project, '') = coalesce(?2, '')",
        params![agent.name(), scope],
    )?;
    let model = now
        .model
        .named()
        .map(symphony_core::profile::ModelName::as_str);
    if now.custom_instructions.is_some() || model.is_some() {
        tx.execute(
            "INSERT INTO profile_override (agent, project, custom_instructions, model, updated_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                agent.name(),
                scope,
                now.custom_instructions,
                model,
                context.now.as_millisecond()
            ],
        )?;
    }
    let about = About {
        project,
        ..About::default()
    };
    let instructions = now.custom_instructions.as_ref();
    let set = LogEvent::ProfileOverrideSet {
        agent: agent.clone(),
        model: model.map(str::to_owned),
        instructions_chars: instructions.map(|text| text.chars().count() as u64),
    };
    append(tx, context, about, &set)?;
    Ok(now)
}

fn load_override(
    conn: &Connection,
    agent: &AgentType,
    project: Option<&ProjectId>,
) -> Result<Option<ProfileOverride>, StoreError> {
    conn.prepare_cached(
        "SELECT custom_instructions, model FROM profile_override
         WHERE agent = ?1 AND coalesce(project, '') = coalesce(?2, '')",
    )?
    .query_row(
        params![agent.name(), project.map(ProjectId::as_str)],
        |row| Ok(from_row(row)),
    )
    .optional()?
    .transpose()
}

fn from_row(row: &Row<'_>) -> Result<ProfileOverride, StoreError> {
    let model: Option<ModelChoice> = parsed_opt("model", row.get("model")?)?;
    Ok(ProfileOverride {
        custom_instructions: row.get("custom_instructions")?,
        model: model.unwrap_or_default(),
    })
}
