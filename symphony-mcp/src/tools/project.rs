//! Setting a project up.

use serde_json::{Map, Value, json};
use symphony_core::issue::check_paths;
use symphony_store::{ProjectSetup, Store};

use crate::answer::{Answer, ToolError};
use crate::identity::Identity;
use crate::params::ConfigureProject;

/// Gates of a project: each runs on every pull request.
const GATES_MAX: usize = 20;

/// `configure_project`
pub(super) fn configure(
    store: &mut Store,
    identity: &Identity,
    params: ConfigureProject,
) -> Result<Answer, ToolError> {
    let count = params.gates.len();
    if count > GATES_MAX {
        return Err(ToolError::new(format!(
            "gates has {count} items; the limit is {GATES_MAX}"
        )));
    }
    let optional = params
        .gates
        .iter()
        .position(|gate| gate.required == Some(false));
    if let Some(index) = optional.filter(|_| identity.actor.run().is_some()) {
        return Err(ToolError::new(format!(
            "gates[{index}].required is false, but only a person makes a gate optional. Omit a gate that cannot pass on this \
             commit, and say so in the instructions"
        )));
    }
    if let Some(paths) = &params.sensitive_paths {
        check_paths("sensitive_paths", paths)?;
    }
    let names: Vec<&str> = params.gates.iter().map(|gate| gate.name.as_str()).collect();
    let gates = if names.is_empty() {
        "no gates".to_owned()
    } else {
        format!("the gates {}", names.join(", "))
    };
    let mut settings = Map::new();
    settings.insert("gates".to_owned(), json!(params.gates));
    if let Some(setup) = &params.setup {
        settings.insert("worktree".to_owned(), json!({ "setup": setup }));
    }
    if let Some(paths) = &params.sensitive_paths {
        settings.insert("sensitive_paths".to_owned(), json!(paths));
    }
    if let Some(risk) = &params.risk {
        settings.insert("risk".to_owned(), json!(risk));
    }
    let setup = ProjectSetup {
        settings: Value::Object(settings),
        worker_instructions: params.worker_instructions,
        judge_instructions: params.judge_instructions,
    };
    let project = store.configure_project(&identity.context(), &identity.project, &setup)?;
    Ok(Answer::new(format!(
        "configured {}: {gates}. Where the project's configuration file differs, the file wins",
        project.name
    ))
    .with("settings", project.settings))
}
