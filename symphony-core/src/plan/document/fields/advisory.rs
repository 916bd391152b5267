//! `parallel_groups` and `metadata`: advisory, so nothing in them is an error except a misspelt field.

use super::report::{Object, Report, Unknown, check_fields};
use crate::plan::document::json::{Json, JsonNode, Member};
use crate::plan::document::metadata::PlanMetadata;
use crate::plan::document::problem::PlanWarning;

const METADATA_FIELDS: [&str; 4] = [
    "total_phases",
    "estimated_parallelism",
    "estimated_tokens",
    "notes",
];

/// Reads `parallel_groups`.
pub(in crate::plan::document) fn groups(node: &JsonNode, report: &mut Report) -> Vec<Vec<String>> {
    match &node.value {
        Json::Null => Some(Vec::new()),
        Json::Array(items) => items.iter().map(strings).collect(),
        _ => None,
    }
    .unwrap_or_else(|| {
        odd("parallel_groups", "an array of arrays of ids", node, report);
        Vec::new()
    })
}

/// Reads `metadata`.
pub(in crate::plan::document) fn metadata(
    node: &JsonNode,
    report: &mut Report,
) -> Option<PlanMetadata> {
    let members = match &node.value {
        Json::Object(members) => members,
        Json::Null => return None,
        _ => {
            odd("metadata", "an object", node, report);
            return None;
        }
    };
    let object = Object {
        index: None,
        phase_id: None,
        place: "metadata.",
        unknown: Unknown::ProblemWhenMisspelt,
    };
    check_fields(&object, members, &METADATA_FIELDS, report);
    let mut metadata = PlanMetadata::default();
    for Member { name, node, .. } in members {
        let path = || format!("metadata.{name}");
        match (name.as_str(), &node.value) {
            (_, Json::Null) => {}
            ("notes", Json::String(text)) => metadata.notes = Some(text.clone()),
            ("notes", _) => odd(&path(), "a string", node, report),
            ("total_phases" | "estimated_parallelism" | "estimated_tokens", value) => {
                let Some(number) = whole_number(value) else {
                    odd(&path(), "a whole number", node, report);
                    continue;
                };
                match name.as_str() {
                    "total_phases" => metadata.total_phases = Some(number),
                    "estimated_parallelism" => metadata.estimated_parallelism = number,
                    _ => metadata.estimated_tokens = Some(number),
                }
            }
            _ => {}
        }
    }
    Some(metadata)
}

/// Notes a `total_phases` that disagrees.
pub(in crate::plan::document) fn check_total(
    root: &JsonNode,
    metadata: Option<&PlanMetadata>,
    found: usize,
    report: &mut Report,
) {
    let stated = metadata.and_then(|metadata| metadata.total_phases);
    let Some(stated) = stated.filter(|stated| usize::try_from(*stated) != Ok(found)) else {
        return;
    };
    let line = field(root, "metadata")
        .and_then(|metadata| field(metadata, "total_phases"))
        .map_or(root.line, |node| node.line);
    report.warnings.push(PlanWarning::TotalPhases {
        stated,
        found,
        line,
    });
}

/// Reads a whole number that is not negative.
pub(super) fn whole_number(value: &Json) -> Option<u64> {
    match value {
        Json::Number(text) => text.parse().ok(),
        _ => None,
    }
}

fn field<'a>(node: &'a JsonNode, name: &str) -> Option<&'a JsonNode> {
    let Json::Object(members) = &node.value else {
        return None;
    };
    // the last one counts, as everywhere
    let member = members.iter().rev().find(|member| member.name == name);
    member.map(|member| &member.node)
}

fn strings(node: &JsonNode) -> Option<Vec<String>> {
    let Json::Array(items) = &node.value else {
        return None;
    };
    let text = |item: &JsonNode| match &item.value {
        Json::String(text) => Some(text.clone()),
        _ => None,
    };
    items.iter().map(text).collect()
}

fn odd(path: &str, expected: &'static str, node: &JsonNode, report: &mut Report) {
    report.warnings.push(PlanWarning::Advisory {
        path: path.to_owned(),
        expected,
        line: node.line,
    });
}
