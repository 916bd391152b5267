//! Any sequence of orders, claims and ends on a plan: the log folds to the rows (I12), complete phases stay complete (I8).

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{PlanPhaseId, RunId};
use symphony_core::plan::PlanOptions;
use symphony_core::plan::state::{
    Choice, OnFailure, PhaseOutcome, PhaseStatus, PhaseWork, PlanEvent, PlanLimits, PlanSnapshot,
    abort_all, decide, plan_step, retry_failed, skip_phase,
};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_store::{Store, fold_plan};

use crate::plans::{claim, create, diamond, document, end, id, plan_id, report};
use crate::support::{at, human, store, system};

#[derive(Debug, Clone)]
enum Step {
    Tick(OnFailure),
    Claim(usize),
    End(usize, RunStatus, Option<ErrorClass>, bool),
    Answer(usize, Choice),
    Skip(usize),
    RetryFailed,
    Pause,
    Resume,
    AbortAll,
    Change,
}

fn steps() -> impl Strategy<Value = Step> {
    let class = select(vec![
        (RunStatus::Succeeded, None),
        (RunStatus::Succeeded, None),
        (RunStatus::Failed, Some(ErrorClass::AgentFailed)),
        (RunStatus::Failed, Some(ErrorClass::Overloaded)),
        (RunStatus::Crashed, Some(ErrorClass::Crashed)),
        (RunStatus::Cancelled, Some(ErrorClass::Cancelled)),
    ]);
    prop_oneof![
        3 => select(OnFailure::ALL.to_vec()).prop_map(Step::Tick),
        6 => (0..4_usize).prop_map(Step::Claim),
        6 => (0..4_usize, class, any::<bool>()).prop_map(|(at, (status, class), ok)| Step::End(at, status, class, ok)),
        2 => (0..4_usize, select(Choice::ALL.to_vec())).prop_map(|(at, choice)| Step::Answer(at, choice)),
        1 => (0..4_usize).prop_map(Step::Skip),
        1 => Just(Step::RetryFailed),
        1 => Just(Step::Pause),
        1 => Just(Step::Resume),
        1 => Just(Step::AbortAll),
        1 => Just(Step::Change),
    ]
}

const PHASES: [&str; 4] = ["a", "b", "c", "d"];

fn take(store: &mut Store, step: &Step, second: i64, live: &mut Vec<Run>) {
    let now = at(second);
    let plan = plan_id();
    // refusals are fine: what must hold is that nothing happens then
    let _refused = match step {
        Step::Tick(mode) => {
            let runs: BTreeMap<RunId, PlanPhaseId> = live
                .iter()
                .filter_map(|run| match &run.target {
                    RunTarget::PlanPhase(_, phase) => Some((run.id.clone(), phase.clone())),
                    _ => None,
                })
                .collect();
            let limits = PlanLimits {
                max_parallel: 4,
                slots_free: 4,
                on_failure: *mode,
            };
            let held = BTreeMap::new();
            store.change_plan(&system(second), &plan, |record, dag| {
                let snapshot = PlanSnapshot {
                    dag,
                    state: &record.state,
                    live_runs: &runs,
                    held: &held,
                    completion: record.completion(),
                };
                Ok((plan_step(&snapshot, now, &limits).events, ()))
            })
        }
        Step::Claim(at) => {
            let run = format!("run-{second}");
            live.extend(claim(store, &run, PHASES[*at]).ok());
            return;
        }
        Step::End(at, status, class, is_merged) => {
            if *at < live.len() {
                let run = live.remove(*at);
                let work = if *is_merged {
                    PhaseWork::InPlace
                } else {
                    PhaseWork::Conflict(vec!["f".into()])
                };
                if *status == RunStatus::Succeeded {
                    report(store, &run, PhaseOutcome::Complete);
                }
                let end = end(&run, *status, *class, work);
                store.finish_run(&system(second), &end).unwrap();
            }
            return;
        }
        Step::Answer(at, choice) => store.change_plan(&human(second), &plan, |record, dag| {
            decide(dag, &record.state, &id(PHASES[*at]), *choice, now).map(|d| (d.events, ()))
        }),
        Step::Skip(at) => store.change_plan(&human(second), &plan, |record, dag| {
            skip_phase(dag, &record.state, &id(PHASES[*at]), now).map(|d| (d.events, ()))
        }),
        Step::RetryFailed => store.change_plan(&human(second), &plan, |record, _| {
            Ok((retry_failed(&record.state).events, ()))
        }),
        Step::Pause => store.change_plan(&human(second), &plan, |_, _| {
            Ok((vec![PlanEvent::Paused], ()))
        }),
        Step::Resume => store.change_plan(&human(second), &plan, |_, _| {
            Ok((vec![PlanEvent::Resumed], ()))
        }),
        Step::AbortAll => store.change_plan(&human(second), &plan, |record, _| {
            Ok((abort_all(&record.state, now).events, ()))
        }),
        Step::Change => {
            let smaller = document(&[("a", &[]), ("b", &["a"]), ("d", &["b"])]);
            let changed = store.accept_plan_changes(&human(second), &plan, &smaller);
            changed.map(|record| (record, ()))
        }
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_log_folds_to_the_rows(steps in proptest::collection::vec(steps(), 1..40)) {
        let mut store = store();
        create(&mut store, diamond(), PlanOptions::default());
        let mut live = Vec::new();
        let mut complete = Vec::new();
        for (second, step) in (10..).zip(&steps) {
            take(&mut store, step, second, &mut live);
            let record = store.plan(&plan_id()).unwrap();
            let folded = fold_plan(&store.events_of_plan(&plan_id()).unwrap()).unwrap();
            prop_assert_eq!(&folded, &record.state);
            // complete stays complete, as long as the phase is in the plan
            for phase in &complete {
                if let Some(progress) = record.state.phases.get(phase) {
                    prop_assert_eq!(progress.status(), PhaseStatus::Complete);
                }
            }
            let done = record.state.phases.iter().filter(|(_, p)| p.status() == PhaseStatus::Complete);
            complete = done.map(|(id, _)| id.clone()).collect();
        }
    }
}
