//! The shape of a plan file's phases and artifacts, of which only the schema is used.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::Value;

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
