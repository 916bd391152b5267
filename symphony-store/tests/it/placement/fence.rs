//! After a run was taken back, nothing that its old host writes is kept.

use serde_json::json;
use symphony_core::exit_handling::PutOff;
use symphony_core::run::Run;
use symphony_store::{Context, GatePass, RunKey, RunStart};

use super::*;

/// A write in the name of a run: what it is called, and how it is done.
type Write = (
    &'static str,
    fn(&mut Store, &Context, &Run) -> Result<(), StoreError>,
);

/// What a run's supervisor, its agent and its gates write.
const WRITES: &[Write] = &[
    ("start", |store, context, run| {
        let start = RunStart {
            metadata: json!({ "late": true }),
            ..RunStart::default()
        };
        store.record_start(context, &run.id, &start).map(drop)
    }),
    ("progress", |store, context, run| {
        let progress = RunProgress {
            last_event: "late".into(),
            usage: Usage {
                input_tokens: Tokens::new(9),
                ..Usage::default()
            },
        };
        store.record_progress(context, &run.id, &progress)
    }),
    ("worktree", |store, context, run| {
        let issue = run.target.issue().unwrap();
        store.record_worktree(context, issue, true)
    }),
    ("exit", |store, context, run| {
        store.begin_exit(context, &run.id, &json!({ "late": true }))
    }),
    ("put off", |store, context, run| {
        let put_off = PutOff {
            tries: 1,
            due_at: at(9),
            problem: "late".into(),
        };
        store.put_exit_off(context, &run.id, &put_off)
    }),
    ("gates", |store, context, _run| {
        let pass = GatePass {
            key: "late".into(),
            gate: "test".into(),
            tree: "t".into(),
        };
        store.record_gate_passes(context, &project(), &[pass])
    }),
    ("tried gates", |store, context, _run| {
        store.record_tried_gates(context, &project(), &["late".into()])
    }),
    ("start commit", |store, _context, run| {
        store.record_start_commit(&run.id, run.fence, "c1")
    }),
    ("result", |store, _context, run| {
        store.record_result_commit(&run.id, run.fence, "c2")
    }),
    ("end", |store, _context, run| {
        let end = finish(run, RunStatus::Succeeded, None);
        store.finish_run(&system(9), &end).map(drop)
    }),
];

#[test]
fn no_write_of_an_old_host_is_kept() {
    let (shared, mut store, run) = with_one();
    let control = host("control");
    store.take(&pool(), &host("h1")).unwrap().unwrap();
    shared.age(210_000);
    let raised = store.take_back(&run.id, run.fence, &control, Lease::default());
    let raised = raised.unwrap().unwrap();
    let before = store.run(&run.id).unwrap();
    for author in [by(&run, 5), Context::supervisor(RunKey::of(&run), at(5))] {
        for (name, write) in WRITES {
            let refused = write(&mut store, &author, &run);
            assert!(
                matches!(refused, Err(StoreError::Superseded { .. })),
                "{name}: {refused:?}"
            );
            assert_eq!(store.run(&run.id).unwrap(), before, "{name}");
            assert_eq!(store.exit_handling(&run.id).unwrap(), None, "{name}");
        }
    }
    assert!(store.tried_gates(&project()).unwrap().is_empty());
    // whoever has the run now writes as ever
    let run = Run {
        fence: raised,
        ..run
    };
    let author = Context::supervisor(RunKey::of(&run), at(6));
    for (name, write) in WRITES {
        let written = write(&mut store, &author, &run);
        assert!(written.is_ok(), "{name}: {written:?}");
    }
    assert_sound(&mut store);
}
