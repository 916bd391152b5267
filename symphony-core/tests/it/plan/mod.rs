//! Plan files, from text to summary.

mod checks;
mod document;
mod failures;
mod graph;
mod properties;
mod scale;
mod skill;
mod standing;
mod state;
mod step;
mod view;

use symphony_core::Timestamp;
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::{Phase, Plan};

/// A phase that breaks no rule.
fn phase(id: &str, dependencies: &[&str], artifacts_from: &[&str]) -> Phase {
    serde_json::from_value(serde_json::json!({
        "id": id,
        "title": format!("Title of {id}"),
        "objective": "An objective",
        "tasks": ["A task"],
        "dependencies": dependencies,
        "required_context": {"artifacts_from": artifacts_from},
        "success_criteria": "A criterion",
    }))
    .unwrap()
}

fn plan(phases: &[(&str, &[&str])]) -> Plan {
    let phases = phases.iter().map(|(id, sources)| phase(id, sources, &[]));
    Plan {
        phases: phases.collect(),
        ..Plan::default()
    }
}

fn id(text: &str) -> PlanPhaseId {
    PlanPhaseId::parse(text).unwrap()
}

/// Seconds after a fixed moment.
fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_750_000_000 + second).unwrap()
}
