//! The rules between phases: ids are unique, references name phases, no phase waits for itself.

use std::collections::BTreeMap;

use super::fields::{PhaseNode, Report};
use super::problem::{PlanProblem, ProblemKind};
use crate::plan::graph::{find_cycles, render_cycle};

/// Names of the two fields that make one phase wait for another.
const DEPENDENCIES: &str = "dependencies";
const ARTIFACTS_FROM: &str = "required_context.artifacts_from";

/// Notes ids used twice and references to nothing or to the phase itself.
pub(super) fn check_references(nodes: &[PhaseNode], report: &mut Report) {
    let mut first_seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let id = node.phase.id.as_str();
        if id.is_empty() {
            continue;
        }
        if let Some(first) = first_seen.get(id) {
            let message = format!("Duplicate phase ID \"{id}\" (first seen at index {first})");
            report.problems.push(problem(node, index, "id", message));
        } else {
            first_seen.insert(id, index);
        }
    }
    for (index, node) in nodes.iter().enumerate() {
        let phase = &node.phase;
        let lists = [
            (DEPENDENCIES, "Dependency", &phase.dependencies),
            (
                ARTIFACTS_FROM,
                "Artifact source",
                &phase.required_context.artifacts_from,
            ),
        ];
        for (field, what, ids) in lists {
            for id in ids {
                let message = if !phase.id.is_empty() && *id == phase.id {
                    "Phase cannot depend on itself".to_owned()
                } else if first_seen.contains_key(id.as_str()) {
                    continue;
                } else {
                    format!("{what} \"{id}\" references non-existent phase")
                };
                report.problems.push(problem(node, index, field, message));
            }
        }
    }
}

/// Notes each group of phases that wait for each other, once, at its first phase.
pub(super) fn check_cycles(nodes: &[PhaseNode], report: &mut Report) {
    let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let id = node.phase.id.as_str();
        if !id.is_empty() {
            positions.entry(id).or_insert(index);
        }
    }
    // References that were reported already are skipped, so that no problem is reported twice.
    let waits_for: Vec<Vec<usize>> = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let sources = node.phase.sources();
            let known = sources.filter_map(|id| positions.get(id.as_str()).copied());
            known.filter(|source| *source != index).collect()
        })
        .collect();
    for cycle in find_cycles(&waits_for) {
        let Some((index, node)) = cycle
            .first()
            .and_then(|index| Some((*index, nodes.get(*index)?)))
        else {
            continue;
        };
        let names: Vec<&str> = cycle
            .iter()
            .filter_map(|index| nodes.get(*index).map(|node| node.phase.id.as_str()))
            .collect();
        let next = names.get(1).copied().unwrap_or_default();
        let field = if node.phase.dependencies.iter().any(|id| id == next) {
            DEPENDENCIES
        } else {
            ARTIFACTS_FROM
        };
        let message = format!("Circular dependency detected: {}", render_cycle(&names));
        report.problems.push(PlanProblem {
            kind: ProblemKind::Cycle,
            ..problem(node, index, field, message)
        });
    }
}

fn problem(node: &PhaseNode, index: usize, field: &str, message: String) -> PlanProblem {
    let line = match field {
        DEPENDENCIES => node.dependencies_line,
        ARTIFACTS_FROM => node.artifacts_from_line,
        _ => node.id_line,
    };
    PlanProblem {
        index: Some(index),
        phase_id: Some(node.phase.id.clone()).filter(|id| !id.is_empty()),
        field: field.to_owned(),
        message,
        line,
        kind: ProblemKind::Reference,
    }
}
