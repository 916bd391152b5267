//! The setup wizard and what `init` proposes: a proposal never overrules what the wizard finds.
//!
//! A configuration file wins over the database, where the wizard's findings are. Gates in the file that are exactly what
//! `init` proposes are no one's decision: they move to the database, where they hold until the wizard has found better ones.
//! Gates that a person wrote stay, and `init` says that they override the wizard's.

use std::path::Path;

use serde_json::{Value, json};
use symphony_core::config::{FileRole, Gate};
use symphony_store::{Project, Store};
use symphony_workspace::config_file::{ConfigFileError, parse_text, set, unset};
use symphony_workspace::proposal::Proposal;

use super::sandbox::SANDBOX;
use crate::app::App;

/// Switches the setup wizard on, and makes room for what it will find. Returns the project as it is then, and what a person
/// may want to do.
pub(crate) fn ask_wizard(
    store: &mut Store,
    project: Project,
    path: &Path,
    proposal: &Proposal,
) -> anyhow::Result<(Project, Option<String>)> {
    set(path, FileRole::Project, "wizard_enabled", "true")?;
    let project = keep_proposal(store, project, proposal)?;
    let advice = give_way(path, proposal)?;
    Ok((project, advice))
}

/// Takes gates and set-up of `init`'s own out of the file; says so where a person wrote others.
fn give_way(path: &Path, proposal: &Proposal) -> Result<Option<String>, ConfigFileError> {
    // a file that cannot be read is reported by whoever needs it
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let file = parse_text(&path.display().to_string(), &text).value;
    let setup = file.pointer("/worktree/setup");
    let proposed = serde_json::to_value(&proposal.setup).unwrap_or_default();
    match gates_of(&file) {
        None => return Ok(None),
        Some(gates) if gates == proposal.gates => {}
        Some(_) => {
            return Ok(Some(format!(
                "The gates in {} override those that the wizard finds: remove `gates` from the file to use the \
                 wizard's.",
                path.display()
            )));
        }
    }
    unset(path, "gates")?;
    if setup == Some(&proposed) {
        unset(path, "worktree.setup")?;
    }
    Ok(None)
}

/// Returns the gates of a file; none when it names none.
fn gates_of(file: &Value) -> Option<Vec<Gate>> {
    let gates = file.get("gates").filter(|gates| !gates.is_null())?;
    Some(serde_json::from_value(gates.clone()).unwrap_or_default())
}

/// Writes what is proposed to the project's row, unless something is there.
fn keep_proposal(
    store: &mut Store,
    project: Project,
    proposal: &Proposal,
) -> anyhow::Result<Project> {
    // how agents are confined is no finding
    let has_findings = project
        .settings
        .as_object()
        .is_some_and(|row| row.keys().any(|key| key != SANDBOX));
    if has_findings || proposal.gates.is_empty() {
        return Ok(project);
    }
    let gates = &proposal.gates;
    let settings = match &proposal.setup {
        None => json!({ "gates": gates }),
        Some(setup) => json!({ "gates": gates, "worktree": { "setup": setup } }),
    };
    Ok(store.add_project_settings(&App::as_human(), &project.id, &settings)?)
}
