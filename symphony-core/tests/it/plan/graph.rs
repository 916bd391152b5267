//! The dependency graph that an embedding program uses.

use symphony_core::id::PlanPhaseId;
use symphony_core::plan::{Artifact, Dag, DependencyGraph, GraphError};

use super::{id, phase};

fn note(text: &str) -> Artifact {
    serde_json::from_value(serde_json::json!({"type": "note", "content": text})).unwrap()
}

fn names<'a>(ids: impl IntoIterator<Item = &'a PlanPhaseId>) -> Vec<&'a str> {
    ids.into_iter().map(PlanPhaseId::as_str).collect()
}

#[test]
fn levels_follow_dependencies_with_ties_by_position() {
    let graph = DependencyGraph::new(&[
        phase("z", &[], &[]),
        phase("join", &["left", "right"], &[]),
        phase("right", &["a"], &[]),
        phase("a", &[], &[]),
        phase("left", &["a", "z", "a"], &[]),
        phase("late", &["z"], &["join"]),
    ])
    .unwrap();
    let levels: Vec<Vec<&str>> = graph.levels().into_iter().map(names).collect();
    assert_eq!(
        levels,
        [
            vec!["z", "a"],
            vec!["right", "left"],
            vec!["join"],
            vec!["late"]
        ]
    );
    assert_eq!(graph.dag().level_numbers(), [0, 2, 1, 0, 1, 3]);
}

#[test]
fn completion_releases_and_failure_blocks() {
    let mut graph = DependencyGraph::new(&[
        phase("a", &[], &[]),
        phase("b", &[], &[]),
        phase("c", &["a", "b"], &[]),
        phase("d", &["c"], &[]),
        phase("e", &["a"], &[]),
    ])
    .unwrap();
    assert_eq!(names(graph.ready()), ["a", "b"]);
    assert_eq!(
        names(&graph.mark_complete(&id("a"), vec![]).unwrap()),
        ["e"]
    );
    assert_eq!(names(graph.ready()), ["b", "e"]);
    assert_eq!(names(&graph.mark_failed(&id("b")).unwrap()), ["c", "d"]);
    assert_eq!(names(graph.ready()), ["e"]);
    for (phase, message) in [
        ("a", "phase `a` cannot end: it is complete"),
        ("b", "phase `b` cannot end: it is failed"),
        ("d", "phase `d` cannot end: it is blocked"),
        ("x", "the plan has no phase `x`"),
    ] {
        let error = graph.mark_complete(&id(phase), vec![]).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn artifacts_go_to_those_who_ask_in_their_order() {
    let mut graph = DependencyGraph::new(&[
        phase("a", &[], &[]),
        phase("b", &[], &[]),
        phase("c", &[], &[]),
        phase("d", &["c"], &["b", "a", "b"]),
    ])
    .unwrap();
    for (phase, notes) in [("a", &["a1", "a2"][..]), ("b", &["b1"]), ("c", &["c1"])] {
        let artifacts = notes.iter().map(|text| note(text)).collect();
        graph.mark_complete(&id(phase), artifacts).unwrap();
    }
    let passed: Vec<(String, String)> = graph
        .artifacts_for(&id("d"))
        .into_iter()
        .map(|artifact| {
            let source = artifact.metadata.unwrap()["sourcePhase"]
                .as_str()
                .unwrap()
                .to_owned();
            (source, artifact.content.unwrap())
        })
        .collect();
    let expected = [("b", "b1"), ("a", "a1"), ("a", "a2")];
    assert_eq!(passed, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(graph.artifacts_for(&id("c")), []);
    assert_eq!(graph.artifacts_for(&id("x")), []);
}

#[test]
fn phases_that_form_no_graph_are_refused() {
    for (phases, expected) in [
        (
            vec![phase("A", &[], &[])],
            "phase 0 of the plan has a malformed id",
        ),
        (
            vec![phase("a", &[], &[]), phase("a", &[], &[])],
            "phase id `a` is used twice, at 0 and 1",
        ),
        (
            vec![phase("a", &[], &["b"])],
            "phase `a` waits for `b`, which is not in the plan",
        ),
        (
            vec![phase("a", &["a"], &[])],
            "phases wait for each other: a -> a",
        ),
        (
            vec![phase("a", &["b"], &[]), phase("b", &[], &["a"])],
            "phases wait for each other: a -> b -> a",
        ),
    ] {
        let error: GraphError = Dag::new(&phases).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert!(Dag::new(&[]).unwrap().is_empty());
}
