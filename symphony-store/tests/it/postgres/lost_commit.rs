//! The connection breaks between a commit and its answer: what the server stored counts, and nothing is stored twice.

use std::time::{Duration, Instant};

use symphony_core::agent::AgentType;
use symphony_core::id::{InstallationId, IssueId, RunId};
use symphony_core::run::{Run, RunStatus, RunTarget, Usage};
use symphony_core::unit::Tokens;
use symphony_store::{
    AuditRequest, ClaimLimits, ClaimRefusal, ClaimRequest, EventFilter, IssueFilter, RunProgress,
    Store, StoreError, TextPlace,
};

use super::proxy::{Cut, Proxy};
use super::{address, new_store};
use crate::support::{
    add, by, finish, human, new_issue, new_pr, request, system, try_claim, worker,
};

fn run_of(store: &Store) -> Run {
    store.live_runs().unwrap().remove(0)
}

fn issue_of(store: &Store) -> IssueId {
    let page = store.list_issues(&IssueFilter::default());
    page.unwrap().items.remove(0).id
}

/// A kind of write, by its name.
type Kind = (&'static str, fn(&mut Store));

/// One after the other: writes that would show if they were done twice, and those that are the same however often.
const KINDS: &[Kind] = &[
    ("an installation", |store| {
        let id = InstallationId::parse("0198c0de000070008000000000000001").unwrap();
        store.adopt_installation(&id).unwrap();
    }),
    ("an issue", |store| {
        add(store, "an issue");
    }),
    ("a claim", |store| {
        let issue = issue_of(store);
        worker(store, "r1", &issue);
    }),
    ("progress", |store| {
        let run = run_of(store);
        let progress = RunProgress {
            last_event: "reading".into(),
            usage: Usage {
                output_tokens: Tokens::new(7),
                ..Usage::default()
            },
        };
        let noted = store.record_progress(&by(&run, 5), &run.id, &progress);
        noted.unwrap();
    }),
    ("a comment", |store| {
        let (issue, run) = (issue_of(store), run_of(store));
        store.add_comment(&by(&run, 6), &issue, "once").unwrap();
    }),
    ("a pull request", |store| {
        let (new, run) = (new_pr(&issue_of(store), "head"), run_of(store));
        store.create_pr(&by(&run, 7), &new).unwrap();
    }),
    ("a cancellation", |store| {
        let run = run_of(store);
        store.request_cancel(&human(8), &run.id).unwrap();
    }),
    ("a finish", |store| {
        let run = run_of(store);
        let ended = finish(&run, RunStatus::Succeeded, None);
        store.finish_run(&system(9), &ended).unwrap();
    }),
    ("a refusal", |store| {
        let run = store.run(&RunId::parse("r1").unwrap()).unwrap();
        let issue = issue_of(store);
        let late = store.add_comment(&by(&run, 10), &issue, "late");
        assert!(
            matches!(late, Err(StoreError::Superseded { .. })),
            "{late:?}"
        );
    }),
    ("a setting", |store| {
        store.set_paused(&human(11), true).unwrap();
    }),
];

/// Everything that is in a database, but for numbers that the server counts up: what it undoes takes some, too.
fn contents(store: &mut Store) -> Vec<String> {
    let mut rows = Vec::new();
    let look = &mut |place: &TextPlace<'_>, text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        rows.push(format!("{}.{}: {text}", place.table, place.column));
    };
    store.for_each_text(look).unwrap();
    let events = store.events(&EventFilter::default()).unwrap();
    rows.extend(
        events
            .iter()
            .map(|record| format!("{} {:?}", record.at, record.event())),
    );
    let mut rows: Vec<String> = rows
        .iter()
        .map(|row| row.replace(|c: char| c.is_ascii_digit(), "#"))
        .collect();
    rows.sort();
    rows
}

/// The audit finds nothing, with the limits of the claims here.
fn assert_sound(store: &mut Store) {
    let request = AuditRequest {
        slots: ClaimLimits::total(8).slots,
        ..AuditRequest::default()
    };
    let found = store.audit(&request).unwrap();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn each_kind_of_write_is_stored_once_wherever_its_connection_breaks() {
    let Some(server) = address() else { return };
    let proxy = Proxy::open(&server);
    let mut expected = None;
    // a tick connects for many writes, a command for one, whose session nothing is stored of before
    for (cut, is_first) in [
        (None, false),
        (Some(Cut::Before), false),
        (Some(Cut::After), false),
        (Some(Cut::Late), false),
        (Some(Cut::Late), true),
    ] {
        let (mut store, schema) = new_store(&proxy.address());
        for (name, write) in KINDS {
            if is_first {
                store = Store::connect(&proxy.address(), &schema).unwrap();
            }
            let before = proxy.made();
            if let Some(cut) = cut {
                proxy.cut(cut);
            }
            write(&mut store);
            let cuts = proxy.made() - before;
            assert_eq!(cuts, usize::from(cut.is_some()), "{name}, {cut:?}");
        }
        let found = contents(&mut store);
        let expected = expected.get_or_insert_with(|| found.clone());
        assert_eq!(&found, expected, "{cut:?} {is_first}");
        assert_sound(&mut store);
    }
}

fn claim(
    store: &mut Store,
    wanted: &ClaimRequest,
) -> Result<Result<Run, ClaimRefusal>, StoreError> {
    let wanted = std::slice::from_ref(wanted);
    let granted = store.claim(&system(2), wanted, &ClaimLimits::total(8))?;
    Ok(granted.into_iter().next().unwrap())
}

#[test]
fn without_the_server_it_is_not_known_whether_a_write_was_stored() {
    let Some(server) = address() else { return };
    let proxy = Proxy::open(&server);
    let (mut store, _) = new_store(&proxy.address());
    for (cut, run, claims) in [(Cut::After, "r1", 1), (Cut::Before, "r2", 2)] {
        let issue = add(&mut store, "an issue").id;
        let target = RunTarget::Issue(issue.clone());
        let wanted = request(run, target.clone(), AgentType::Worker);
        let begun = Instant::now();
        proxy.cut_and_close(cut);
        let error = claim(&mut store, &wanted).unwrap_err();
        let waited = begun.elapsed();
        assert!(
            waited > Duration::from_secs(9) && waited < Duration::from_secs(20),
            "{waited:?}"
        );
        assert!(matches!(error, StoreError::Unknown(_)), "{error:?}");
        let text = error.to_string();
        assert!(
            text.starts_with("it is not known whether this was stored"),
            "{text}"
        );
        proxy.let_in();
        // the same claim again is granted, whether it was stored or not, and once
        for _ in 0..2 {
            let granted = claim(&mut store, &wanted).unwrap();
            assert_eq!(granted.unwrap().id.as_str(), run);
        }
        let events = store.events(&EventFilter::default()).unwrap();
        let claimed = events.iter().filter(|record| record.kind == "run_claimed");
        assert_eq!(claimed.count(), claims);
        // another run does not get it
        try_claim(&mut store, "r9", target, AgentType::Worker).unwrap_err();
    }
    assert_sound(&mut store);
    // what begins while the server is away says so, and has stored nothing
    proxy.cut_and_close(Cut::Before);
    store.set_paused(&human(6), true).unwrap_err();
    let error = store.add_issue(&human(6), &new_issue("later")).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable(_)), "{error:?}");
    assert!(
        error.to_string().contains("no PostgreSQL server answers"),
        "{error}"
    );
}
