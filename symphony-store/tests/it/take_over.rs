//! Taking an issue over, and giving it back.

use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::IssueId;
use symphony_core::issue::{BlockedBy, IssueStatus};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_core::take_over::TakeOverRefusal;
use symphony_store::{ClaimLimits, Store};

use crate::support::{add, finish, human, request, store, system, worker};

fn take_over(store: &mut Store, run: &str, issue: &IssueId) -> Result<Run, TakeOverRefusal> {
    let target = RunTarget::Issue(issue.clone());
    let request = request(run, target, AgentType::Worker);
    store.take_over(&human(2), issue, &request).unwrap()
}

#[test]
fn two_people_take_an_issue_over_one_after_the_other() {
    let mut store = store();
    let (issue, other) = (add(&mut store, "a").id, add(&mut store, "b").id);
    let first = take_over(&mut store, "r1", &issue).unwrap();
    assert!(first.is_interactive());
    assert_eq!(
        store.issue(&issue).unwrap().state.status(),
        IssueStatus::InProgress
    );
    let open = TakeOverRefusal::Open {
        issue: issue.clone(),
        run: first.id.clone(),
    };
    assert_eq!(take_over(&mut store, "r2", &issue), Err(open.clone()));
    assert_eq!(store.release_refusal(&issue).unwrap(), Some(open.clone()));
    assert_eq!(store.release(&human(2), &issue).unwrap(), Err(open));
    // it takes no slot
    let start = request("r3", RunTarget::Issue(other), AgentType::Worker);
    let limits = ClaimLimits::total(1);
    let claimed = store.claim(&system(3), &[start], &limits).unwrap();
    assert!(claimed[0].is_ok(), "{claimed:?}");

    store
        .finish_run(&system(3), &finish(&first, RunStatus::Succeeded, None))
        .unwrap();
    let kept = store.issue(&issue).unwrap();
    let by = kept.state.block().map(|block| block.by);
    assert_eq!(by, Some(BlockedBy::TakenOver));
    assert_eq!(kept.counts.total_runs, 0, "no attempt is used");
    // someone else goes on, and ends without a word
    let second = take_over(&mut store, "r4", &issue).unwrap();
    store
        .finish_run(
            &system(3),
            &finish(&second, RunStatus::Crashed, Some(ErrorClass::Crashed)),
        )
        .unwrap();
    let released = store.release(&human(2), &issue).unwrap().unwrap();
    assert_eq!(released.state.status(), IssueStatus::Todo);
    assert_eq!(released.counts.total_runs, 0);
    assert_eq!(
        store.release(&human(2), &issue).unwrap(),
        Err(TakeOverRefusal::NotTakenOver {
            issue: issue.clone(),
            status: IssueStatus::Todo,
        })
    );
    let run = worker(&mut store, "r5", &issue);
    assert_eq!(
        take_over(&mut store, "r6", &issue),
        Err(TakeOverRefusal::AtWork { issue, run: run.id })
    );
}
