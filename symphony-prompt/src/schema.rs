//! JSON Schemas of types that belong to other crates, and of the whole input document (feature `schema`).

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, schema_for};
use serde_json::{Value, json};

use crate::document::PromptInput;
use crate::worker::WorkerInput;

/// Returns the JSON Schema of [`PromptInput`], the document of `symphony prompt build`.
pub fn document_schema() -> Schema {
    versioned(schema_for!(PromptInput))
}

/// Returns the JSON Schema of [`WorkerInput`], the document of `symphony prompt worker`.
pub fn worker_schema() -> Schema {
    versioned(schema_for!(WorkerInput))
}

/// Adds the version that a document may name, to each of the forms that it may have.
fn versioned(mut schema: Schema) -> Schema {
    let version =
        json!({ "description": "The version of the document's form; 1 without it.", "const": 1 });
    let add = |form: &mut Value| {
        if let Some(properties) = form.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert("version".to_owned(), version.clone());
        }
    };
    let forms = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    if let Some(forms) = forms {
        forms.iter_mut().for_each(add);
    } else {
        let mut whole = schema.to_value();
        add(&mut whole);
        schema = Schema::try_from(whole).expect("an object is a schema");
    }
    schema
}

/// The shape of a plan file's phase.
#[derive(JsonSchema)]
#[schemars(rename = "Phase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct PhaseSchema {
    /// Kebab-case id, unique in the plan.
    id: String,
    /// Title.
    title: String,
    /// What the phase is for.
    objective: String,
    /// What to do, in order.
    tasks: Vec<String>,
    /// Ids of the phases that must be complete before.
    #[schemars(default)]
    dependencies: Vec<String>,
    /// `low`, `medium` (default) or `high`, any case.
    complexity: Option<String>,
    /// What it needs to know.
    required_context: Option<RequiredContextSchema>,
    /// When it is complete.
    success_criteria: String,
    /// What it must not do.
    #[schemars(default)]
    constraints: Vec<String>,
    /// Time limit in milliseconds.
    timeout_ms: Option<u64>,
    /// Model for this phase.
    model: Option<String>,
    /// Provider for this phase.
    provider: Option<String>,
}

/// The shape of what a phase needs to know.
#[derive(JsonSchema)]
#[schemars(rename = "RequiredContext")]
#[expect(dead_code, reason = "only its schema is used")]
struct RequiredContextSchema {
    /// Paths or patterns, relative to the project.
    #[schemars(default)]
    files: Vec<String>,
    /// Things to be familiar with.
    #[schemars(default)]
    concepts: Vec<String>,
    /// Ids of the phases whose artifacts are passed on.
    #[schemars(default)]
    artifacts_from: Vec<String>,
}

/// The shape of an artifact.
#[derive(JsonSchema)]
#[schemars(rename = "Artifact")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ArtifactSchema {
    /// `file_created`, `file_modified`, `file_deleted`, `export` or `note`.
    #[schemars(rename = "type")]
    kind: String,
    /// The file, relative to the project.
    path: Option<String>,
    /// The name of an export or a note.
    name: Option<String>,
    /// What there is to say.
    content: Option<String>,
    /// Anything else; `sourcePhase` names the phase it came from.
    metadata: Option<BTreeMap<String, Value>>,
}
