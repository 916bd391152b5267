//! The template itself.

use serde::{Deserialize, Serialize};
use symphony_core::plan::{Artifact, ArtifactKind, Phase};

use crate::input::ProjectContext;
use crate::section::{bullet, indented};
use crate::worker::files::{FileEntry, files_section};

/// The constraints of every phase, unless the project names its own.
pub const DEFAULT_GLOBAL_CONSTRAINTS: [&str; 5] = [
    "Do not modify files outside the scope of this phase unless absolutely necessary",
    "Do not install new dependencies unless specified in the tasks",
    "Do not refactor code unrelated to the current objective",
    "Maintain existing code style and conventions",
    "Do not delete or remove existing functionality unless explicitly required",
];

const COMPLETION: &str = "## Completion\n\n\
    When you have completed all tasks and verified the success criteria:\n\n\
    1. Summarize what was accomplished\n\
    2. List any files created or modified\n\
    3. Note any issues encountered or decisions made\n\
    4. Mention anything the next phase should be aware of\n\n\
    If you encounter blocking issues that prevent completion, explain the problem and what would be needed to resolve it.";

/// What a plan phase's prompt is built from: the JSON form of `symphony prompt worker --input`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkerInput {
    /// The phase, as in the plan file.
    #[cfg_attr(feature = "schema", schemars(with = "crate::plan_schema::PhaseSchema"))]
    pub phase: Phase,
    /// What was detected about the project.
    #[serde(default)]
    pub project_context: ProjectContext,
    /// The files of `required_context.files`, loaded, in that order, the matches of a pattern sorted.
    #[serde(default)]
    pub files: Vec<FileEntry>,
    /// The artifacts of the phases in `artifacts_from`, in that order, then in order of production.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<crate::plan_schema::ArtifactSchema>")
    )]
    pub artifacts: Vec<Artifact>,
    /// Constraints of every phase; absent = [`DEFAULT_GLOBAL_CONSTRAINTS`], an empty list = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_constraints: Option<Vec<String>>,
    /// Additional instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<String>,
}

/// A plan phase's prompt and what it was built from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerPrompt {
    /// The prompt.
    pub prompt: String,
    /// The project.
    pub project_context: ProjectContext,
    /// Paths of the files whose text is shown.
    pub files: Vec<String>,
    /// How many artifacts were passed on.
    pub artifacts: usize,
}

/// Builds the prompt of a plan phase (spec: plan, "Worker prompt template"). Never cuts.
pub fn build_worker_prompt(input: &WorkerInput) -> WorkerPrompt {
    let phase = &input.phase;
    let sections = [
        Some(heading(phase)),
        section("Objective", &phase.objective),
        tasks(&phase.tasks),
        project(&input.project_context),
        files_section(&input.files),
        listed(
            "## Required Concepts\n\nYou should be familiar with these concepts for this phase:\n\n",
            &phase.required_context.concepts,
        ),
        artifacts(&input.artifacts),
        constraints(&phase.constraints, input.global_constraints.as_deref()),
        success_criteria(&phase.success_criteria),
        section(
            "Additional Instructions",
            input.custom_instructions.as_deref().unwrap_or_default(),
        ),
        Some(COMPLETION.to_owned()),
    ];
    let mut files: Vec<String> = Vec::new();
    for entry in &input.files {
        if let FileEntry::Loaded { path, .. } = entry
            && !files.contains(path)
        {
            files.push(path.clone());
        }
    }
    WorkerPrompt {
        prompt: joined(sections),
        project_context: input.project_context.clone(),
        files,
        artifacts: input.artifacts.len(),
    }
}

/// Builds a prompt from a title, an objective and tasks alone.
///
/// ```
/// let prompt = symphony_prompt::worker::build_simple_prompt("Tidy", "Remove dead code", &["Find it".into()]);
/// assert!(prompt.starts_with("# Tidy\n\n## Objective\n\nRemove dead code\n\n## Tasks\n\n1. Find it\n\n## Completion\n"));
/// ```
pub fn build_simple_prompt(title: &str, objective: &str, task_list: &[String]) -> String {
    joined([
        Some(format!("# {}", title.trim())),
        section("Objective", objective),
        tasks(task_list),
        Some(COMPLETION.to_owned()),
    ])
}

fn joined(sections: impl IntoIterator<Item = Option<String>>) -> String {
    let present: Vec<String> = sections.into_iter().flatten().collect();
    present.join("\n\n") + "\n"
}

fn heading(phase: &Phase) -> String {
    format!(
        "# Phase: {}\n\nPhase ID: {}\nComplexity: {}",
        phase.title.trim(),
        phase.id,
        phase.complexity
    )
}

/// A section with a text, or none when the text is blank.
fn section(heading: &str, text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| format!("## {heading}\n\n{text}"))
}

/// Numbers tasks from 1, for every style of prompt.
pub(super) fn numbered(tasks: &[String]) -> String {
    let lines: Vec<String> = tasks
        .iter()
        .enumerate()
        .map(|(index, task)| indented(&format!("{}. ", index + 1), task.trim()))
        .collect();
    lines.join("\n")
}

/// Bullets of the items that are not blank.
pub(super) fn bullets(items: &[String]) -> String {
    let lines: Vec<String> = items
        .iter()
        .map(|item| item.trim())
        .filter(|item| !item.is_empty())
        .map(bullet)
        .collect();
    lines.join("\n")
}

fn tasks(tasks: &[String]) -> Option<String> {
    (!tasks.is_empty()).then(|| format!("## Tasks\n\n{}", numbered(tasks)))
}

/// A list below its heading, or nothing when it is empty.
fn listed(head: &str, items: &[String]) -> Option<String> {
    let list = bullets(items);
    (!list.is_empty()).then(|| format!("{head}{list}"))
}

fn project(context: &ProjectContext) -> Option<String> {
    let facts: Vec<String> = [
        ("Project", &context.name),
        ("Description", &context.description),
    ]
    .into_iter()
    .filter(|(_, text)| !text.trim().is_empty())
    .map(|(label, text)| format!("{label}: {}", text.trim()))
    .collect();
    let stack: Vec<String> = context
        .tech_stack
        .iter()
        .map(|(label, value)| format!("{label}: {value}"))
        .collect();
    let parts = [
        (!facts.is_empty()).then(|| facts.join("\n")),
        (!stack.is_empty()).then(|| format!("### Tech Stack\n{}", stack.join("\n"))),
        listed("### Project Patterns\n", &context.patterns),
    ];
    subsections("## Project Context", parts)
}

/// A heading with the parts that are there, or nothing when none is.
fn subsections(heading: &str, parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let present: Vec<String> = parts.into_iter().flatten().collect();
    (!present.is_empty()).then(|| format!("{heading}\n\n{}", present.join("\n\n")))
}

fn artifacts(artifacts: &[Artifact]) -> Option<String> {
    let parts = [
        ("Files Created", ArtifactKind::FileCreated),
        ("Files Modified", ArtifactKind::FileModified),
        ("Files Deleted", ArtifactKind::FileDeleted),
        ("Exports", ArtifactKind::Export),
        ("Notes", ArtifactKind::Note),
    ]
    .map(|(label, kind)| {
        let items: Vec<String> = artifacts
            .iter()
            .filter(|artifact| artifact.kind == kind)
            .map(artifact_text)
            .collect();
        listed(&format!("{label}:\n"), &items)
    });
    subsections(
        "## Artifacts from Previous Phases\n\nThe following artifacts were produced by dependency phases. Use them as needed:",
        parts,
    )
}

/// `name: content`; without a name the path, without content no colon.
pub(super) fn artifact_text(artifact: &Artifact) -> String {
    let filled = |text: &Option<String>| {
        text.as_deref()
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let label = filled(&artifact.name).or_else(|| filled(&artifact.path));
    match (label, filled(&artifact.content)) {
        (Some(label), Some(content)) => format!("{label}: {content}"),
        (Some(text), None) | (None, Some(text)) => text,
        (None, None) => String::new(),
    }
}

fn constraints(own: &[String], global: Option<&[String]>) -> Option<String> {
    let defaults = DEFAULT_GLOBAL_CONSTRAINTS.map(str::to_owned);
    subsections(
        "## Constraints\n\nYou MUST adhere to these constraints:",
        [
            listed("### Phase-Specific Constraints\n", own),
            listed("### Global Constraints\n", global.unwrap_or(&defaults)),
        ],
    )
}

fn success_criteria(criteria: &str) -> Option<String> {
    let criteria = criteria.trim();
    (!criteria.is_empty()).then(|| {
        format!(
            "## Success Criteria\n\nThis phase is complete when:\n\n{criteria}\n\nEnsure all success criteria are met before \
             completing."
        )
    })
}
