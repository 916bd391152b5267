//! A plan, and how a text becomes one.

use serde::{Deserialize, Serialize};

use super::block::find_block;
use super::error::PlanError;
use super::fields::{Object, PhaseNode, Report, Unknown, advisory, check_fields, phase_node};
use super::json::{Json, JsonNode, parse_json};
use super::metadata::PlanMetadata;
use super::problem::PlanWarning;
use super::references::{check_cycles, check_references};
use crate::plan::phase::Phase;

/// A plan: phases in the order of the file. In JSON `{"phases", "parallel_groups"?, "metadata"?}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The phases.
    pub phases: Vec<Phase>,
    /// Ids that the author thinks can run together. Advisory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parallel_groups: Vec<Vec<String>>,
    /// What the author says about the plan. Advisory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<PlanMetadata>,
}

/// The fields of the object form.
const PLAN_FIELDS: [&str; 3] = ["phases", "parallel_groups", "metadata"];

/// Parses and checks the plan in a markdown text; linear in its length.
///
/// # Errors
/// [`PlanError`]; [`PlanError::Invalid`] holds *all* problems of all phases.
pub fn parse_plan(markdown: &str) -> Result<(Plan, Vec<PlanWarning>), PlanError> {
    let block = find_block(markdown)?;
    let root = parse_json(&block.text, block.fence_line + 1)?;
    let mut report = Report::default();
    let second = |line: &usize| PlanWarning::SecondBlock { line: *line };
    report.warnings.extend(block.ignored.iter().map(second));

    let mut plan = Plan::default();
    let mut phases = None;
    match &root.value {
        Json::Array(items) => phases = Some((items, root.line)),
        Json::Object(members) => {
            let object = Object {
                index: None,
                phase_id: None,
                place: "",
                unknown: Unknown::Problem,
            };
            check_fields(&object, members, &PLAN_FIELDS, &mut report);
            for member in members {
                match (member.name.as_str(), &member.node.value) {
                    ("phases", Json::Array(items)) => phases = Some((items, member.node.line)),
                    ("phases", _) => return Err(not_a_plan(&member.node)),
                    ("parallel_groups", _) => {
                        plan.parallel_groups = advisory::groups(&member.node, &mut report);
                    }
                    ("metadata", _) => {
                        plan.metadata = advisory::metadata(&member.node, &mut report);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
    let Some((items, line)) = phases else {
        // A misspelt `phases` explains more than that there are none.
        return Err(if report.problems.is_empty() {
            not_a_plan(&root)
        } else {
            invalid(report)
        });
    };
    if items.is_empty() {
        return Err(PlanError::NoPhases { line });
    }
    advisory::check_total(&root, plan.metadata.as_ref(), items.len(), &mut report);

    let nodes: Vec<PhaseNode> = items
        .iter()
        .enumerate()
        .map(|(index, item)| phase_node(index, item, &mut report))
        .collect();
    check_references(&nodes, &mut report);
    check_cycles(&nodes, &mut report);
    if !report.problems.is_empty() {
        return Err(invalid(report));
    }
    plan.phases = nodes.into_iter().map(|node| node.phase).collect();
    Ok((plan, report.warnings))
}

fn invalid(report: Report) -> PlanError {
    PlanError::Invalid {
        problems: report.problems,
        warnings: report.warnings,
    }
}

fn not_a_plan(node: &JsonNode) -> PlanError {
    let found = match &node.value {
        Json::Object(_) => "an object without `phases`",
        other => other.kind(),
    };
    PlanError::NotAPlan {
        line: node.line,
        found: found.to_owned(),
    }
}
