//! The graph and the summary.

use symphony_core::plan::failure::FailureClass;
use symphony_core::plan::state::{PhaseFailure, PhaseState, PlanState, PlanStatus};
use symphony_core::plan::view::{
    Colour, GraphFormat, PlanSummary, render_graph, render_statusline,
};
use symphony_core::plan::{Artifact, Dag, Phase};

use super::{at, id, phase};

fn phases() -> Vec<Phase> {
    let mut phases = vec![
        phase("setup", &[], &[]),
        phase("end", &["setup"], &["setup"]),
        phase("docs", &["setup"], &[]),
        phase("ship", &["docs", "end"], &[]),
    ];
    phases[1].title = "The \"end\" <of> it\n all #1".to_owned();
    phases
}

fn state(dag: &Dag) -> PlanState {
    let mut state = PlanState::new(dag.ids(), at(0));
    let file = |path: &str| -> Artifact {
        serde_json::from_value(serde_json::json!({"type": "file_created", "path": path})).unwrap()
    };
    for (name, phase) in [
        ("setup", PhaseState::Complete { skipped: false }),
        ("end", PhaseState::Failed),
        ("docs", PhaseState::Complete { skipped: true }),
        ("ship", PhaseState::Blocked),
    ] {
        let progress = state.phases.get_mut(&id(name)).unwrap();
        progress.state = phase;
        progress.started_at = Some(at(1));
        progress.completed_at = Some(at(126));
    }
    state.phases.get_mut(&id("setup")).unwrap().artifacts =
        vec![file("src/db.rs"), file("src/db.rs"), file("README.md")];
    state.phases.get_mut(&id("end")).unwrap().failure = Some(PhaseFailure::new(
        3,
        "\n2 tests failed\nmore",
        FailureClass::Logic,
        at(100),
    ));
    state.status = PlanStatus::Failed;
    state.completed_at = Some(at(3_725));
    state
}

#[test]
fn the_graph_in_each_format() {
    let phases = phases();
    let dag = Dag::new(&phases).unwrap();
    let state = state(&dag);
    let mut shown = String::new();
    for format in GraphFormat::ALL {
        for state in [None, Some(&state)] {
            shown += &render_graph(&phases, &dag, state, *format);
            shown += "\n";
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn the_summary_as_text_and_json() {
    let phases = phases();
    let dag = Dag::new(&phases).unwrap();
    let summary = PlanSummary::new(&dag, &state(&dag), at(9_999));
    insta::assert_snapshot!(summary, @"
    Symphony Performance Failed

    Total phases: 4
    Completed: 2
    Failed: 1
    Duration: 62m 5s

    Phase Results:
    - setup: complete (2m 5s)
    - end: failed - 2 tests failed
    - docs: complete (skipped)
    - ship: blocked

    Artifacts Created:
    - src/db.rs
    - README.md
    ");
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary).unwrap());
}

#[test]
fn the_statusline_reads_what_the_state_file_writes() {
    let phases = phases();
    let plan = symphony_core::plan::Plan {
        phases,
        ..symphony_core::plan::Plan::default()
    };
    let file = symphony_core::plan::state_file::init_state(plan, "plan.md", at(0)).unwrap();
    let mut running = file;
    symphony_core::plan::state_file::start_ready(&mut running, 4, None, at(0)).unwrap();
    let line = render_statusline(&running.render().unwrap(), Colour::Off);
    assert_eq!(line.as_deref(), Some("[░░░░░░░░░░] 0/4 | setup"));
}
