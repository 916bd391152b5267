//! What is spent is added up by run, issue, project and day, and a full cap holds the project.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::config::{Spending, SpendingCap};
use symphony_core::issue::{DependentsFate, IssueEvent};
use symphony_core::run::{Run, RunStatus, RunTarget, Usage};
use symphony_core::spending::{Spent, SpentSoFar, day_number};
use symphony_core::tick::HoldScope;
use symphony_core::unit::{Tokens, UsdMicros};
use symphony_store::{Context, IssueEnd, Links, RunProgress, Store};

use crate::queries::snapshot_request;
use crate::support::{add, by, finish, human, new_pr, project, store, try_claim, worker};

fn usage(tokens: u64, usd: Option<u64>) -> Usage {
    Usage {
        input_tokens: Tokens::new(tokens - 3),
        output_tokens: Tokens::new(1),
        cache_read_tokens: Tokens::new(1),
        cache_creation_tokens: Tokens::new(1),
        cost: usd.map(UsdMicros::new),
        turns: 1,
    }
}

fn spent(tokens: u64, usd: u64) -> Spent {
    Spent {
        tokens: Tokens::new(tokens),
        usd: UsdMicros::new(usd),
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn record(store: &mut Store, run: &Run, at: &str, usage: Usage) {
    let context = Context {
        now: time(at),
        ..by(run, 0)
    };
    let progress = RunProgress {
        last_event: "[text] at work".into(),
        usage,
    };
    store.record_progress(&context, &run.id, &progress).unwrap();
}

#[test]
fn usage_is_added_up_as_it_grows() {
    let mut store = store();
    let (a, b) = (add(&mut store, "a"), add(&mut store, "b"));
    let first = worker(&mut store, "r1", &a.id);
    record(&mut store, &first, "2026-03-04T23:58:00Z", usage(100, None));
    record(
        &mut store,
        &first,
        "2026-03-04T23:59:00Z",
        usage(300, Some(5)),
    );
    record(
        &mut store,
        &first,
        "2026-03-05T00:01:00Z",
        usage(350, Some(7)),
    );
    let pr = store
        .create_pr(&by(&first, 3), &new_pr(&a.id, "c1"))
        .unwrap();
    let mut end = finish(&first, RunStatus::Succeeded, None);
    end.usage = Some(usage(400, Some(8)));
    let context = Context::system(time("2026-03-05T00:02:00Z"));
    store.finish_run(&context, &end).unwrap();

    let target = RunTarget::PullRequest(a.id.into(), pr.id);
    let judge = try_claim(&mut store, "r2", target, AgentType::Judge).unwrap();
    record(
        &mut store,
        &judge,
        "2026-03-05T08:00:00Z",
        usage(50, Some(1)),
    );
    let other = worker(&mut store, "r3", &b.id);
    record(&mut store, &other, "2026-03-05T08:00:00Z", usage(10, None));

    let now = time("2026-03-05T09:00:00Z");
    assert_eq!(
        store.spent_so_far(&judge.id, now).unwrap(),
        SpentSoFar {
            run: spent(50, 1),
            issue: Some(spent(450, 9)),
            project: spent(460, 9),
            day: spent(160, 4),
        }
    );
    let tomorrow = time("2026-03-06T00:00:00Z");
    let later = store.spent_so_far(&other.id, tomorrow).unwrap();
    assert_eq!((later.project, later.day), (spent(460, 9), spent(0, 0)));
}

#[test]
fn what_ended_runs_spent_stays_their_projects() {
    let mut store = store();
    let at = "2026-03-04T12:00:00Z";
    let in_all = |store: &Store| store.spent_in_all(&project(), time(at)).unwrap();
    let run_of = |store: &mut Store, name: &str| {
        let issue = add(store, name);
        let run = worker(store, name, &issue.id);
        record(store, &run, at, usage(100, Some(5)));
        (issue, run)
    };
    let (deleted, first) = run_of(&mut store, "r1");
    let (_, second) = run_of(&mut store, "r2");
    let (_, live) = run_of(&mut store, "r3");
    let (_, other) = run_of(&mut store, "r4");
    for run in [&first, &second] {
        let end = finish(run, RunStatus::Failed, None);
        store.finish_run(&by(run, 9), &end).unwrap();
    }
    assert_eq!(in_all(&store), spent(400, 20));
    // before a tick has added it, and after
    let cancelled = IssueEnd {
        event: IssueEvent::Cancelled,
        comment: None,
        dependents: DependentsFate::Keep,
    };
    store
        .end_issue(&human(10), &deleted.id, &cancelled)
        .unwrap();
    store
        .delete_issue(&human(10), &deleted.id, Links::Refuse)
        .unwrap();
    assert_eq!(in_all(&store), spent(400, 20));
    for _ in 0..2 {
        store.settle_spending(time(at)).unwrap();
        assert_eq!(in_all(&store), spent(400, 20));
    }
    // two runs at once, on two days
    record(&mut store, &live, at, usage(150, Some(6)));
    record(
        &mut store,
        &other,
        "2026-03-05T01:00:00Z",
        usage(170, Some(9)),
    );
    for run in [&live, &other] {
        let end = finish(run, RunStatus::Failed, None);
        store.finish_run(&by(run, 11), &end).unwrap();
    }
    store.settle_spending(time(at)).unwrap();
    assert_eq!(in_all(&store), spent(520, 25));
    let day = day_number(time(at));
    let by_day = [(day, spent(450, 21)), (day + 1, spent(70, 4))];
    assert_eq!(store.spent_by_day(&project(), day).unwrap(), by_day);
}

#[test]
fn a_full_day_holds_the_project_until_midnight() {
    let mut store = store();
    let issue = add(&mut store, "a");
    let run = worker(&mut store, "r1", &issue.id);
    record(&mut store, &run, "2026-03-04T10:00:00Z", usage(100, None));
    let mut holds = |limit: u64, at: &str| {
        let mut request = snapshot_request();
        let day = SpendingCap {
            tokens: Some(Tokens::new(limit)),
            usd: None,
        };
        let caps = Spending {
            day,
            ..Spending::default()
        };
        request.caps = [(project(), caps)].into();
        let holds = store.load_snapshot(request, time(at)).unwrap().holds;
        holds
            .into_iter()
            .map(|hold| (hold.scope, hold.until.to_string()))
            .collect::<Vec<_>>()
    };
    let held = (
        HoldScope::Project(project()),
        "2026-03-05T00:00:00.000Z".to_owned(),
    );
    assert_eq!(holds(101, "2026-03-04T10:00:01Z"), []);
    assert_eq!(holds(100, "2026-03-04T10:00:01Z"), [held]);
    assert_eq!(holds(100, "2026-03-05T00:00:00Z"), []);
}
