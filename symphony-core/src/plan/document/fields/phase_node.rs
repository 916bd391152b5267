//! One phase: every field's rule of the specification's table.

use super::advisory::whole_number;
use super::check_node::{CHECK_FIELDS, check_members, check_nodes};
use super::report::{Object, Report, Unknown, check_fields};
use crate::id::{ID_CHARS_MAX, PlanPhaseId};
use crate::plan::check::Check;
use crate::plan::document::json::{Json, JsonNode, Member};
use crate::plan::document::problem::{PlanProblem, ProblemKind};
use crate::plan::path::check_pattern;
use crate::plan::phase::{Complexity, Phase, RequiredContext, TIMEOUT_MS_MAX};

const PHASE_FIELDS: [&str; 13] = [
    "id",
    "title",
    "objective",
    "tasks",
    "dependencies",
    "complexity",
    "required_context",
    "success_criteria",
    "constraints",
    "timeout_ms",
    "model",
    "provider",
    "checks",
];
const CONTEXT_FIELDS: [&str; 3] = ["files", "concepts", "artifacts_from"];

/// A phase as far as it could be read, with the lines that later checks report.
#[derive(Debug)]
pub(in crate::plan::document) struct PhaseNode {
    pub(in crate::plan::document) phase: Phase,
    pub(in crate::plan::document) id_line: usize,
    pub(in crate::plan::document) dependencies_line: usize,
    pub(in crate::plan::document) artifacts_from_line: usize,
}

/// Reads the phase at `index`; a field that breaks a rule is recorded and left blank.
pub(in crate::plan::document) fn phase_node(
    index: usize,
    node: &JsonNode,
    report: &mut Report,
) -> PhaseNode {
    let members: &[Member] = match &node.value {
        Json::Object(members) => members,
        _ => &[],
    };
    let id = match field(members, "id").map(|node| &node.value) {
        Some(Json::String(id)) if !id.trim().is_empty() => Some(id.clone()),
        _ => None,
    };
    let mut reader = PhaseReader {
        index,
        id,
        line: node.line,
        members,
        report,
    };
    if !matches!(node.value, Json::Object(_)) {
        let message = format!("Phase must be an object, found {}", node.value.kind());
        reader.problem("", node.line, message);
        return reader.lost();
    }
    reader.read()
}

fn field<'a>(members: &'a [Member], name: &str) -> Option<&'a JsonNode> {
    // the last one counts, as JSON parsers have it; null counts as absent
    let member = members.iter().rev().find(|member| member.name == name)?;
    (member.node.value != Json::Null).then_some(&member.node)
}

/// Says what was found where a string belongs; `None` for a string.
fn not_a_string(node: &JsonNode) -> Option<String> {
    match &node.value {
        Json::String(_) => None,
        other => Some(format!("Expected a string, found {}", other.kind())),
    }
}

struct PhaseReader<'a> {
    index: usize,
    id: Option<String>,
    line: usize,
    members: &'a [Member],
    report: &'a mut Report,
}

impl<'a> PhaseReader<'a> {
    fn read(mut self) -> PhaseNode {
        self.check_fields("", self.members, &PHASE_FIELDS);
        self.check_id();
        let title = self.text("title", "Phase title must be a non-empty string");
        let objective = self.text("objective", "Phase objective must be a non-empty string");
        let tasks = self.tasks();
        let dependencies = self.strings(self.members, "", "dependencies");
        let complexity = self.complexity();
        let context = self.context_members();
        let required_context = self.context(context);
        let success_criteria = self.text("success_criteria", "Success criteria is required");
        let constraints = self.strings(self.members, "", "constraints");
        let timeout_ms = self.timeout_ms();
        let model = self.name("model", "Model must be a non-empty string");
        let provider = self.name("provider", "Provider must be a non-empty string");
        let checks = self.checks();
        let line_of = |members, name| field(members, name).map_or(self.line, |node| node.line);
        PhaseNode {
            id_line: line_of(self.members, "id"),
            dependencies_line: line_of(self.members, "dependencies"),
            artifacts_from_line: line_of(context, "artifacts_from"),
            phase: Phase {
                id: self.id.unwrap_or_default(),
                title,
                objective,
                tasks,
                dependencies,
                complexity,
                required_context,
                success_criteria,
                constraints,
                timeout_ms,
                model,
                provider,
                checks,
            },
        }
    }

    fn lost(self) -> PhaseNode {
        PhaseNode {
            id_line: self.line,
            dependencies_line: self.line,
            artifacts_from_line: self.line,
            phase: Phase {
                id: String::new(),
                title: String::new(),
                objective: String::new(),
                tasks: Vec::new(),
                dependencies: Vec::new(),
                complexity: Complexity::Medium,
                required_context: RequiredContext::default(),
                success_criteria: String::new(),
                constraints: Vec::new(),
                timeout_ms: None,
                model: None,
                provider: None,
                checks: Vec::new(),
            },
        }
    }

    fn problem(&mut self, field: impl Into<String>, line: usize, message: impl Into<String>) {
        self.report.problems.push(PlanProblem {
            index: Some(self.index),
            phase_id: self.id.clone(),
            field: field.into(),
            message: message.into(),
            line,
            kind: ProblemKind::Schema,
        });
    }

    /// Notes the fields of an object in the phase that are not known or are given twice.
    fn check_fields(&mut self, place: &str, members: &[Member], known: &'static [&'static str]) {
        let object = Object {
            index: Some(self.index),
            phase_id: self.id.as_deref(),
            place,
            unknown: Unknown::Problem,
        };
        check_fields(&object, members, known, self.report);
    }

    fn field(&self, name: &str) -> Option<&'a JsonNode> {
        field(self.members, name)
    }

    fn check_id(&mut self) {
        let line = self.field("id").map_or(self.line, |node| node.line);
        let Some(id) = self.id.clone() else {
            let message = self.field("id").and_then(not_a_string);
            let message = message.unwrap_or_else(|| "Phase ID is required".to_owned());
            return self.problem("id", line, message);
        };
        if PlanPhaseId::parse(id.as_str()).is_ok() {
            return;
        }
        let is_long = id.chars().count() > ID_CHARS_MAX;
        if !is_long || !is_kebab(&id) {
            self.problem("id", line, "Phase ID must be in kebab-case format");
        }
        if is_long {
            let message = format!("Phase ID exceeds maximum length of {ID_CHARS_MAX} characters");
            self.problem("id", line, message);
        }
    }

    /// Reads a required text.
    fn text(&mut self, name: &'static str, message: &'static str) -> String {
        let node = self.field(name);
        match node.map(|node| &node.value) {
            Some(Json::String(text)) if !text.trim().is_empty() => text.clone(),
            _ => {
                let line = node.map_or(self.line, |node| node.line);
                let message = node
                    .and_then(not_a_string)
                    .unwrap_or_else(|| message.to_owned());
                self.problem(name, line, message);
                String::new()
            }
        }
    }

    /// Reads an optional text that must not be blank.
    fn name(&mut self, name: &'static str, message: &'static str) -> Option<String> {
        self.field(name)?;
        Some(self.text(name, message))
    }

    fn tasks(&mut self) -> Vec<String> {
        let missing = match self.field("tasks") {
            None => Some(self.line),
            Some(node) if node.value == Json::Array(Vec::new()) => Some(node.line),
            Some(_) => None,
        };
        if let Some(line) = missing {
            self.problem("tasks", line, "At least one task is required");
            return Vec::new();
        }
        self.texts(self.members, "", "tasks", |text| {
            text.trim()
                .is_empty()
                .then(|| "Task cannot be empty".to_owned())
        })
    }

    fn complexity(&mut self) -> Complexity {
        let Some(node) = self.field("complexity") else {
            return Complexity::Medium;
        };
        let known = match &node.value {
            Json::String(text) => Complexity::parse(&text.to_ascii_lowercase()).ok(),
            _ => None,
        };
        known.unwrap_or_else(|| {
            let names = Complexity::NAMES.join(", ");
            let message = format!("Phase complexity must be one of: {names}");
            self.problem("complexity", node.line, message);
            Complexity::Medium
        })
    }

    fn context_members(&mut self) -> &'a [Member] {
        let Some(node) = self.field("required_context") else {
            return &[];
        };
        let Json::Object(members) = &node.value else {
            let message = format!("Expected an object, found {}", node.value.kind());
            self.problem("required_context", node.line, message);
            return &[];
        };
        self.check_fields("required_context.", members, &CONTEXT_FIELDS);
        members
    }

    fn context(&mut self, members: &'a [Member]) -> RequiredContext {
        let place = "required_context.";
        RequiredContext {
            files: self.texts(members, place, "files", |pattern| {
                let refusal = check_pattern(pattern).err()?;
                Some(format!(
                    "Path \"{pattern}\" must be relative to the project and stay inside it: {refusal}"
                ))
            }),
            concepts: self.strings(members, place, "concepts"),
            artifacts_from: self.strings(members, place, "artifacts_from"),
        }
    }

    fn strings(&mut self, members: &'a [Member], place: &str, name: &str) -> Vec<String> {
        self.texts(members, place, name, |_| None)
    }

    /// Reads an array of texts, each of which `refuse` may object to.
    fn texts(
        &mut self,
        members: &'a [Member],
        place: &str,
        name: &str,
        refuse: impl Fn(&str) -> Option<String>,
    ) -> Vec<String> {
        let Some(node) = field(members, name) else {
            return Vec::new();
        };
        let Json::Array(items) = &node.value else {
            let message = format!("Expected an array of strings, found {}", node.value.kind());
            self.problem(format!("{place}{name}"), node.line, message);
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(items.len());
        for (position, item) in items.iter().enumerate() {
            let message = match &item.value {
                Json::String(text) => {
                    texts.push(text.clone());
                    refuse(text)
                }
                _ => not_a_string(item),
            };
            if let Some(message) = message {
                self.problem(format!("{place}{name}[{position}]"), item.line, message);
            }
        }
        texts
    }

    fn checks(&mut self) -> Vec<Check> {
        let Some(node) = self.field("checks") else {
            return Vec::new();
        };
        for (index, members) in check_members(node) {
            self.check_fields(&format!("checks[{index}]."), members, &CHECK_FIELDS);
        }
        let (checks, faults) = check_nodes(node);
        for (field, line, message) in faults {
            self.problem(format!("checks{field}"), line, message);
        }
        checks
    }

    fn timeout_ms(&mut self) -> Option<u64> {
        let node = self.field("timeout_ms")?;
        let timeout = whole_number(&node.value).filter(|ms| (1..=TIMEOUT_MS_MAX).contains(ms));
        if timeout.is_none() {
            let message = format!(
                "Timeout must be a whole number of milliseconds from 1 to {TIMEOUT_MS_MAX}"
            );
            self.problem("timeout_ms", node.line, message);
        }
        timeout
    }
}

/// Kebab-case of any length.
fn is_kebab(id: &str) -> bool {
    id.starts_with(|c: char| c.is_ascii_lowercase())
        && id.split('-').all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}
