//! Large plans: growth that is not linear shows here as a test that never ends.

use std::fmt::Write as _;

use symphony_core::plan::artifacts::{parse_markers, parse_output_lines};
use symphony_core::plan::failure::{FailureEvidence, classify_failure};
use symphony_core::plan::state::{
    Completion, OnFailure, PlanAction, PlanLimits, PlanSnapshot, PlanState, apply_all, plan_step,
};
use symphony_core::plan::{Dag, PlanError, find_block, parse_plan};

use super::at;

const PHASES: usize = 100_000;
/// For what needs no more to show.
const FEWER: usize = 20_000;

fn markdown(count: usize, sources: impl Fn(usize) -> String) -> String {
    let mut text = "```symphony-phases\n[\n".to_owned();
    for n in 0..count {
        let comma = if n == 0 { "" } else { ",\n" };
        let sources = sources(n);
        write!(
            text,
            "{comma}{{\"id\":\"p{n}\",\"title\":\"T\",\"objective\":\"O\",\"tasks\":[\"T\"],\
             \"success_criteria\":\"S\",\"dependencies\":[{sources}]}}"
        )
        .unwrap();
    }
    text + "\n]\n```\n"
}

fn first_step(dag: &Dag) -> usize {
    let mut state = PlanState::new(dag.ids(), at(0));
    let snapshot = PlanSnapshot {
        completion: Completion::Ends,
        dag,
        state: &state,
        live_runs: &std::collections::BTreeMap::new(),
        held: &std::collections::BTreeMap::new(),
    };
    let limits = PlanLimits {
        max_parallel: PHASES,
        slots_free: PHASES,
        on_failure: OnFailure::Wait,
    };
    let step = plan_step(&snapshot, at(0), &limits);
    apply_all(&mut state, &step.events).unwrap();
    let starts = |action: &&PlanAction| matches!(action, PlanAction::StartPhase { .. });
    step.actions.iter().filter(starts).count()
}

#[test]
fn a_long_chain_is_no_problem() {
    let text = markdown(PHASES, |n| {
        if n == 0 {
            String::new()
        } else {
            format!("\"p{}\"", n - 1)
        }
    });
    let (plan, warnings) = parse_plan(&text).unwrap();
    assert_eq!((plan.phases.len(), warnings.len()), (PHASES, 0));
    let dag = Dag::new(&plan.phases).unwrap();
    assert_eq!(dag.levels().len(), PHASES);
    assert_eq!(first_step(&dag), 1);
}

#[test]
fn a_wide_fan_out_and_in_is_no_problem() {
    let last = PHASES - 1;
    let text = markdown(PHASES, |n| match n {
        0 => String::new(),
        n if n == last => (1..last)
            .map(|n| format!("\"p{n}\""))
            .collect::<Vec<_>>()
            .join(","),
        _ => "\"p0\"".to_owned(),
    });
    let (plan, _) = parse_plan(&text).unwrap();
    let mut graph = symphony_core::plan::DependencyGraph::new(&plan.phases).unwrap();
    let widths: Vec<usize> = graph.levels().iter().map(Vec::len).collect();
    assert_eq!(widths, [1, PHASES - 2, 1]);
    for n in 0..last {
        let phase = super::id(&format!("p{n}"));
        graph.mark_complete(&phase, vec![]).unwrap();
    }
    assert_eq!(graph.ready(), [&super::id(&format!("p{last}"))]);
    assert_eq!(first_step(graph.dag()), 1);
}

#[test]
fn a_long_cycle_is_found_and_told_in_short() {
    let text = markdown(FEWER, |n| format!("\"p{}\"", (n + 1) % FEWER));
    let Err(PlanError::Invalid { problems, .. }) = parse_plan(&text) else {
        panic!("a cycle")
    };
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0]
            .message
            .starts_with("Circular dependency detected: p0 -> p1 -> p2 -> ")
    );
    assert!(problems[0].message.ends_with(" -> p19999 -> p0"));
    assert!(problems[0].message.len() < 2_000);
}

#[test]
fn adversarial_texts_are_read_in_one_pass() {
    const TIMES: usize = 8_000;
    let marker = "[SYMPHONY:ARTIFACT] {\"type\":\"note\",\"content\":\"n\"}\n";
    for piece in [
        "```symphony-phases\n",
        "```symphony-phases\n[]\n```\n",
        "``` symphony-phases ```\n",
        "<!--",
        "<!--\n",
        "-->\n<!--",
        "`<!--",
        "> ",
        "- - - - - - - -\n\n",
        "expected ",
        "expected but ",
        "rate ",
        "503:",
        "a/",
        marker,
        "Modified ",
        "{\"id\":",
    ] {
        let text = piece.repeat(TIMES);
        let evidence = FailureEvidence {
            text: &text,
            ..FailureEvidence::default()
        };
        classify_failure(&evidence);
        parse_markers(&text, Some("/w"));
        parse_output_lines(&text, None);
        if let Ok(block) = find_block(&text) {
            assert!(block.ignored.len() < TIMES);
        }
        assert!(parse_plan(&text).is_err());
        assert!(parse_plan(&format!("```symphony-phases\n{text}\n```\n")).is_err());
    }
}

#[test]
fn many_problems_are_all_told() {
    let text = markdown(FEWER, |_| "\"nope\"".to_owned());
    let Err(PlanError::Invalid { problems, .. }) = parse_plan(&text) else {
        panic!("problems")
    };
    assert_eq!(problems.len(), FEWER);
    assert_eq!(problems[FEWER - 1].line, FEWER + 2);
}
