//! What holds for every plan and every text.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use symphony_core::id::{PlanPhaseId, RunId};
use symphony_core::plan::artifacts::{merge_artifacts, parse_markers, parse_output_lines};
use symphony_core::plan::failure::{
    Confidence, FailureClass, FailureEvidence, RetryPolicy, classify_failure, retry_delay_ms,
};
use symphony_core::plan::state::{
    Completion, Confirmation, FailurePolicy, FailureReport, OnFailure, PhaseEvent, PhaseStatus,
    PlanAction, PlanEvent, PlanLimits, PlanSnapshot, PlanState, apply, apply_all, plan_failure,
    plan_step,
};
use symphony_core::plan::state_file::StateFile;
use symphony_core::plan::view::{Colour, render_statusline};
use symphony_core::plan::{
    Dag, DependencyGraph, Phase, PlanError, check_pattern, find_block, normalise_path, parse_plan,
};

use super::{at, id, phase};

/// Plans without cycles: every phase waits for some of those before it, and the file's order is shuffled.
fn acyclic() -> impl Strategy<Value = Vec<Phase>> {
    (1_usize..14)
        .prop_flat_map(|count| {
            let sources = prop::collection::vec(
                prop::collection::vec(any::<prop::sample::Index>(), 0..4),
                count,
            );
            (sources, Just((0..count).collect::<Vec<_>>()).prop_shuffle())
        })
        .prop_map(|(sources, order)| {
            let mut phases: Vec<(usize, Phase)> = sources
                .iter()
                .enumerate()
                .map(|(n, picks)| {
                    let named: Vec<String> = picks
                        .iter()
                        .filter(|_| n > 0)
                        .map(|pick| format!("p{}", pick.index(n)))
                        .collect();
                    let named: Vec<&str> = named.iter().map(String::as_str).collect();
                    let (dependencies, artifacts) = named.split_at(named.len() / 2);
                    (order[n], phase(&format!("p{n}"), dependencies, artifacts))
                })
                .collect();
            phases.sort_by_key(|(place, _)| *place);
            phases.into_iter().map(|(_, phase)| phase).collect()
        })
}

fn sources(phases: &[Phase]) -> BTreeMap<String, BTreeSet<String>> {
    let pair = |phase: &Phase| (phase.id.clone(), phase.sources().cloned().collect());
    phases.iter().map(pair).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn levels_respect_dependencies(phases in acyclic()) {
        let dag = Dag::new(&phases).unwrap();
        let sources = sources(&phases);
        let mut earlier: BTreeSet<String> = BTreeSet::new();
        for level in dag.levels() {
            for phase in &level {
                let needs = &sources[phase.as_str()];
                prop_assert!(needs.is_subset(&earlier));
            }
            earlier.extend(level.iter().map(ToString::to_string));
        }
        prop_assert_eq!(earlier.len(), phases.len());
        let order: BTreeSet<usize> = dag.order().iter().copied().collect();
        prop_assert_eq!(order.len(), phases.len());
    }

    #[test]
    fn ready_phases_have_all_they_wait_for_and_end_once(
        phases in acyclic(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), prop::bool::weighted(0.2)), 20),
    ) {
        let sources = sources(&phases);
        let mut graph = DependencyGraph::new(&phases).unwrap();
        let mut complete: BTreeSet<String> = BTreeSet::new();
        let mut ended: BTreeSet<PlanPhaseId> = BTreeSet::new();
        for (pick, fails) in picks {
            let ready: Vec<PlanPhaseId> = graph.ready().into_iter().cloned().collect();
            for phase in &ready {
                prop_assert!(sources[phase.as_str()].is_subset(&complete));
                prop_assert!(!ended.contains(phase));
            }
            if ready.is_empty() {
                break;
            }
            let phase = pick.get(&ready).clone();
            if fails {
                let blocked = graph.mark_failed(&phase).unwrap();
                prop_assert!(blocked.iter().all(|other| !ended.contains(other)));
                ended.extend(blocked);
            } else {
                graph.mark_complete(&phase, vec![]).unwrap();
                complete.insert(phase.to_string());
            }
            prop_assert!(graph.mark_complete(&phase, vec![]).is_err());
            ended.insert(phase);
        }
        if graph.ready().is_empty() {
            prop_assert_eq!(ended.len(), phases.len());
        }
    }

    /// Phases that begin, end well or badly, and crash in any order, under any mode: invariants hold after each step,
    /// and without a person's part the plan ends.
    #[test]
    fn a_plan_keeps_its_invariants_and_ends(
        phases in acyclic(),
        outcomes in prop::collection::vec(0_u8..6, 200),
        max_parallel in 1_usize..5,
        mode in prop::sample::select(vec![OnFailure::Fail, OnFailure::Skip, OnFailure::AbortBranch, OnFailure::AbortAll]),
    ) {
        let dag = Dag::new(&phases).unwrap();
        let needs = sources(&phases);
        let mut state = PlanState::new(dag.ids(), at(0));
        let mut live: BTreeMap<RunId, PlanPhaseId> = BTreeMap::new();
        let mut completions: BTreeMap<PlanPhaseId, u32> = BTreeMap::new();
        let limits = PlanLimits { max_parallel, slots_free: 3, on_failure: mode };
        let mut outcomes = outcomes.into_iter();
        let mut clock = 0;
        for round in 0..2_000 {
            clock += 20;
            let snapshot = PlanSnapshot { completion: Completion::Ends, dag: &dag, state: &state, live_runs: &live, held: &BTreeMap::new() };
            let step = plan_step(&snapshot, at(clock), &limits);
            prop_assert_eq!(&step, &plan_step(&snapshot, at(clock), &limits));
            apply_all(&mut state, &step.events).unwrap();
            if state.status.is_ended() {
                break;
            }
            prop_assert!(!step.events.is_empty() || !step.actions.is_empty() || step.wake_at.is_some() || !live.is_empty());
            for action in step.actions {
                match action {
                    PlanAction::StartPhase { phase } => {
                        for source in &needs[phase.as_str()] {
                            prop_assert_eq!(state.phase_status(&id(source)), PhaseStatus::Complete);
                        }
                        let run = RunId::parse(format!("r{round}-{phase}")).unwrap();
                        live.insert(run.clone(), phase.clone());
                        let event = PhaseEvent::Started { run: Some(run), at: at(clock) };
                        apply(&mut state, &PlanEvent::of(phase, event)).unwrap();
                    }
                    PlanAction::EndRun { run, .. } => {
                        live.remove(&run);
                    }
                    PlanAction::FinishRun { phase, run } => {
                        let cause = symphony_core::plan::state::ReleaseCause::Crashed;
                        let event = PhaseEvent::Released { run: Some(run), cause };
                        apply(&mut state, &PlanEvent::of(phase, event)).unwrap();
                    }
                    PlanAction::AskDecision { .. } => prop_assert!(false, "nobody is there"),
                }
            }
            prop_assert!(live.len() <= max_parallel);
            let Some((run, phase)) = live.pop_first() else { continue };
            if !matches!(state.phase_status(&phase), PhaseStatus::Running) {
                continue;
            }
            let outcome = outcomes.next().unwrap_or(0);
            let event = match outcome {
                0..3 => {
                    *completions.entry(phase.clone()).or_default() += 1;
                    PhaseEvent::Completed { run: Some(run), artifacts: vec![], confirmation: Confirmation::Confirmed, at: at(clock) }
                }
                // the lock goes free without an outcome
                3 => continue,
                other => {
                    let class = if other == 4 { FailureClass::Logic } else { FailureClass::Transient };
                    let report = FailureReport { run: Some(&run), error: "e", class, seed: ("plan", phase.as_str()) };
                    plan_failure(&state.phases[&phase], &report, &FailurePolicy::default(), at(clock))
                }
            };
            apply(&mut state, &PlanEvent::of(phase, event)).unwrap();
        }
        prop_assert!(state.status.is_ended(), "{:?}", state);
        prop_assert!(state.phases.values().all(|progress| progress.status().is_terminal()));
        prop_assert!(completions.values().all(|times| *times == 1));
        for (phase, progress) in &state.phases {
            let is_behind = needs[phase.as_str()].iter().any(|source| state.phase_status(&id(source)).blocks());
            if progress.status() == PhaseStatus::Blocked {
                prop_assert!(is_behind);
            }
        }
    }

    #[test]
    fn a_plan_survives_its_own_json(phases in acyclic()) {
        let json = serde_json::to_string_pretty(&phases).unwrap();
        let (plan, warnings) = parse_plan(&format!("```symphony-phases\r\n{json}\r\n```")).unwrap();
        prop_assert_eq!(plan.phases, phases);
        prop_assert_eq!(warnings, vec![]);
    }

    #[test]
    fn classification_is_total(text in ".{0,200}|([a-zA-Z0-9 /:._-]|503|expected|but got|timed out){0,40}", status in any::<Option<u16>>()) {
        let evidence = FailureEvidence { text: &text, ..FailureEvidence::default() };
        let found = classify_failure(&evidence);
        prop_assert_eq!(found.confidence == Confidence::Low, found.class == FailureClass::Unknown);
        if let Some(matched) = found.matched.as_ref().filter(|_| !text.contains('\u{1b}')) {
            prop_assert!(text.contains(matched.as_str()));
        }
        classify_failure(&FailureEvidence { http_status: status, ..evidence });
    }

    #[test]
    fn retries_are_never_later_than_the_cap(plan in ".{0,20}", phase in ".{0,20}", retry in any::<u32>()) {
        let policy = RetryPolicy::default();
        let delay = retry_delay_ms(&policy, &plan, &phase, retry);
        prop_assert!((4_000..=60_000).contains(&delay));
        prop_assert_eq!(delay, retry_delay_ms(&policy, &plan, &phase, retry));
    }

    #[test]
    fn no_text_panics(text in "(.|\n|> |- |\n  |<!--|-->|```symphony-phases\n|```\n|[{]|[}]|\"id\":|\"phases\":|,|\\[|\\]){0,60}") {
        if let Ok(block) = find_block(&text) {
            // prefixes of quotes and list items become spaces, the rest is as written
            let is_there = |line: &str| text.contains(line.trim_start_matches([' ', '\t']));
            prop_assert!(block.text.lines().all(is_there));
        }
        if let Err(error) = parse_plan(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
        let fenced = format!("```symphony-phases\n{text}\n```");
        if let Err(PlanError::BrokenJson { line, column, .. }) = parse_plan(&fenced) {
            prop_assert!(line >= 2 && line <= fenced.lines().count() + 1);
            prop_assert!(column >= 1);
        }
        render_statusline(&text, Colour::On);
        let parsed = StateFile::parse(&text);
        prop_assert!(parsed.is_err());
        let claims = parse_markers(&text, Some("/w"));
        let lines = parse_output_lines(&text, None);
        merge_artifacts(claims.artifacts, lines.artifacts);
    }

    #[test]
    fn paths_that_pass_stay_inside(path in "(/|\\.|\\.\\.|[a-c]|[ :]|\\*\\*|[{},~]){0,12}") {
        if let Ok(normal) = normalise_path(&path, None) {
            let is_plain = |part: &str| !matches!(part, "" | "." | "..");
            prop_assert!(normal.split('/').all(is_plain));
            prop_assert_eq!(normalise_path(&normal, None), Ok(normal.clone()));
        }
        if check_pattern(&path).is_ok() && !path.contains(['{', '*']) {
            prop_assert!(!path.trim().starts_with('/'));
        }
    }

    #[test]
    fn merging_twice_changes_nothing(texts in prop::collection::vec(("[ab]", 0_usize..5), 0..12)) {
        let kinds = ["file_created", "file_modified", "file_deleted", "export", "note"];
        let artifacts: Vec<_> = texts
            .iter()
            .map(|(path, kind)| serde_json::from_value(serde_json::json!({"type": kinds[*kind], "path": path})).unwrap())
            .collect();
        let once = merge_artifacts(vec![], artifacts);
        prop_assert_eq!(merge_artifacts(vec![], once.clone()), once.clone());
        prop_assert_eq!(merge_artifacts(once.clone(), once.clone()), once);
    }
}
