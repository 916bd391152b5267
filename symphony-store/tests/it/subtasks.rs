//! Sub-tasks: the parent waits for them, and goes on when they have ended.

use symphony_core::agent::AgentType;
use symphony_core::id::IssueId;
use symphony_core::issue::{BlockedBy, IssueEvent, IssueStatus, Priority, Size};
use symphony_core::run::{Run, RunStatus, RunTarget};
use symphony_core::tick::{ProjectView, SplitIssue, SubtasksOutcome};
use symphony_store::{
    IssueEdit, NewIssue, NewProject, NewSubtask, SnapshotRequest, Store, Subtask, fold_issue,
};

use crate::support::{
    add, at, by, finish, human, new_issue, project, store, system, try_claim, worker,
};

fn subtask(parent: &IssueId, title: &str) -> NewSubtask {
    NewSubtask {
        parent: parent.clone(),
        title: title.into(),
        description: "a part of it".into(),
        priority: Some(Priority::High),
        size: Some(Size::Small),
        depends_on: vec![],
    }
}

fn planner(store: &mut Store, run: &str, issue: &IssueId) -> Run {
    let target = RunTarget::Issue(issue.clone());
    try_claim(store, run, target, AgentType::Planner).unwrap()
}

fn split(store: &mut Store) -> Vec<SplitIssue> {
    let request = SnapshotRequest {
        projects: [(project(), ProjectView::broken("unread".into()))].into(),
        ..SnapshotRequest::default()
    };
    store.load_snapshot(request, at(100)).unwrap().split
}

fn status(store: &Store, id: &IssueId) -> IssueStatus {
    store.issue(id).unwrap().state.status()
}

/// Brings an issue in `todo` to its end.
fn end(store: &mut Store, id: &IssueId, event: &IssueEvent) {
    if *event == IssueEvent::Cancelled {
        store.move_issue(&human(50), id, event).unwrap();
        return;
    }
    for step in [IssueEvent::Dispatched, IssueEvent::PrCreated, event.clone()] {
        store.move_issue(&human(50), id, &step).unwrap();
    }
}

/// A parent with two sub-tasks, made by a planner's run that has ended.
fn family(store: &mut Store) -> (IssueId, [IssueId; 2]) {
    let parent = add(store, "Large").id;
    let run = planner(store, "p1", &parent);
    let mut child = |title: &str| {
        let made: Subtask = store
            .add_subtask(&by(&run, 5), &subtask(&parent, title))
            .unwrap();
        made.issue.id
    };
    let children = [child("One"), child("Two")];
    store
        .finish_run(&system(6), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    (parent, children)
}

#[test]
fn the_first_subtask_blocks_its_parent_and_the_run_is_a_success() {
    let mut store = store();
    let parent = add(&mut store, "Large");
    let run = planner(&mut store, "p1", &parent.id);
    let first = store
        .add_subtask(&by(&run, 5), &subtask(&parent.id, "One"))
        .unwrap();
    let issue = &first.issue;
    assert_eq!(
        (
            issue.state.status(),
            issue.labels.as_slice(),
            issue.parent.as_ref(),
            issue.priority,
            issue.size
        ),
        (
            IssueStatus::Todo,
            ["phase:ready".to_owned()].as_slice(),
            Some(&parent.id),
            Priority::High,
            Some(Size::Small)
        )
    );
    assert_eq!(
        first.parent.state.block().map(|block| block.by),
        Some(BlockedBy::Subtasks)
    );
    let events = store.events_of_issue(&parent.id).unwrap().len();
    let mut second = subtask(&parent.id, "Two");
    second.depends_on = vec![issue.id.clone()];
    let second = store.add_subtask(&by(&run, 6), &second).unwrap();
    assert_eq!(second.issue.depends_on, std::slice::from_ref(&issue.id));
    // the parent moves once
    let log = store.events_of_issue(&parent.id).unwrap();
    assert_eq!(log.len(), events);
    assert_eq!(fold_issue(&log).unwrap(), second.parent.state);

    let ended = store
        .finish_run(&system(7), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    let counts = ended.issue.unwrap().counts;
    assert_eq!(
        (
            ended.run.status,
            counts.consecutive_failures,
            counts.total_runs
        ),
        (RunStatus::Succeeded, 0, 1)
    );
    assert_eq!(status(&store, &parent.id), IssueStatus::Blocked);
}

#[test]
fn a_planner_without_subtasks_has_failed() {
    let mut store = store();
    let parent = add(&mut store, "Large");
    let run = planner(&mut store, "p1", &parent.id);
    let ended = store
        .finish_run(&system(7), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    let error = ended.run.error.unwrap();
    assert_eq!(
        (ended.run.status, error.message.as_str()),
        (
            RunStatus::Failed,
            "planner-no-subtasks: the planner ended without a sub-task"
        )
    );
    assert_eq!(status(&store, &parent.id), IssueStatus::Todo);
}

#[test]
fn a_parent_goes_on_when_all_have_ended_and_one_is_done() {
    let (done, cancelled) = (IssueEvent::Finished, IssueEvent::Cancelled);
    for (first, second, outcome) in [
        (&done, &done, SubtasksOutcome::SomeDone),
        (&done, &cancelled, SubtasksOutcome::SomeDone),
        (&cancelled, &done, SubtasksOutcome::SomeDone),
        (&cancelled, &cancelled, SubtasksOutcome::AllCancelled),
    ] {
        let mut store = store();
        let (parent, [one, two]) = family(&mut store);
        assert_eq!(split(&mut store), []);
        end(&mut store, &one, first);
        assert_eq!(split(&mut store), []);
        let early = store.close_subtasks(&system(60), &parent).unwrap_err();
        assert!(early.to_string().contains("1 open"), "{early}");
        end(&mut store, &two, second);
        let issue = parent.clone();
        assert_eq!(
            split(&mut store),
            [SplitIssue {
                issue,
                project: project(),
                outcome
            }]
        );
        let closed = store.close_subtasks(&system(61), &parent);
        if outcome == SubtasksOutcome::SomeDone {
            let issue = closed.unwrap();
            // not an advance: what counts towards the breaker stays
            assert_eq!(
                (issue.state.status(), issue.counts.total_runs),
                (IssueStatus::Todo, 1)
            );
            assert_eq!(split(&mut store), []);
            assert!(store.candidate(&parent).unwrap().unwrap().has_subtasks);
        } else {
            assert_eq!(
                closed.unwrap_err().to_string(),
                "DEM-1 waits for its sub-tasks: 0 open, 0 done"
            );
            assert_eq!(status(&store, &parent), IssueStatus::Blocked);
        }
    }
}

#[test]
fn a_subtask_that_is_taken_up_again_is_open_again() {
    let mut store = store();
    let (parent, [one, two]) = family(&mut store);
    end(&mut store, &one, &IssueEvent::Finished);
    end(&mut store, &two, &IssueEvent::Finished);
    store
        .move_issue(&human(70), &one, &IssueEvent::Reopened)
        .unwrap();
    assert_eq!(split(&mut store), []);
    let early = store.close_subtasks(&system(71), &parent).unwrap_err();
    assert_eq!(
        early.to_string(),
        "DEM-1 waits for its sub-tasks: 1 open, 1 done"
    );
    store
        .move_issue(&human(72), &one, &IssueEvent::Cancelled)
        .unwrap();
    store.close_subtasks(&system(73), &parent).unwrap();
    assert_eq!(status(&store, &parent), IssueStatus::Todo);
}

#[test]
fn only_what_waits_for_subtasks_is_closed() {
    let mut store = store();
    let (parent, [one, two]) = family(&mut store);
    end(&mut store, &one, &IssueEvent::Finished);
    end(&mut store, &two, &IssueEvent::Finished);
    store
        .move_issue(&human(60), &parent, &IssueEvent::Shelved)
        .unwrap();
    assert_eq!(split(&mut store), []);
    store.close_subtasks(&system(61), &parent).unwrap_err();
    assert_eq!(status(&store, &parent), IssueStatus::Backlog);
}

#[test]
fn a_dependency_that_would_never_be_done_is_refused() {
    let mut store = store();
    let (parent, [one, _]) = family(&mut store);
    let waits = store
        .add_issue(
            &human(8),
            &NewIssue {
                depends_on: vec![parent.clone()],
                ..new_issue("Afterwards")
            },
        )
        .unwrap();
    let outer = store.add_issue(&human(8), &new_issue("Outer")).unwrap();
    let inner = NewSubtask {
        depends_on: vec![waits.id.clone()],
        ..subtask(&outer.id, "Inner")
    };
    store.add_subtask(&human(9), &inner).unwrap();
    let gone = add(&mut store, "Gone");
    store
        .move_issue(&human(9), &gone.id, &IssueEvent::Cancelled)
        .unwrap();
    let other = NewProject {
        id: "other".parse().unwrap(),
        name: "Other".into(),
        root: "/other".into(),
        prefix: "OTH".into(),
    };
    store.add_project(&human(9), &other).unwrap();
    let foreign = NewIssue {
        project: other.id,
        ..new_issue("Foreign")
    };
    let foreign = store.add_issue(&human(9), &foreign).unwrap();
    let missing = IssueId::parse("DEM-99").unwrap();
    let itself = |id: &IssueId| {
        format!("a sub-task of DEM-1 cannot depend on {id}: it would wait for itself")
    };
    let before = store.events_of_issue(&parent).unwrap().len();
    for (dependency, message) in [
        (&parent, itself(&parent)),
        // by a dependency, and by a sub-task's dependency
        (&waits.id, itself(&waits.id)),
        (&outer.id, itself(&outer.id)),
        (
            &gone.id,
            format!(
                "a sub-task cannot depend on {}: it is cancelled and will never be done",
                gone.id
            ),
        ),
        (&foreign.id, "OTH-1 belongs to another project".into()),
        (&missing, "there is no issue `DEM-99`".into()),
    ] {
        let new = NewSubtask {
            depends_on: vec![dependency.clone()],
            ..subtask(&parent, "Three")
        };
        let error = store.add_subtask(&human(10), &new).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(store.events_of_issue(&parent).unwrap().len(), before);
    // a sibling is what dependencies are for; making it wait for this one in turn is refused as ever
    let new = NewSubtask {
        depends_on: vec![one.clone()],
        ..subtask(&parent, "Three")
    };
    let three = store.add_subtask(&human(11), &new).unwrap().issue;
    let edit = IssueEdit {
        depends_on: Some(vec![three.id]),
        ..IssueEdit::default()
    };
    store.edit_issue(&human(12), &one, &edit).unwrap_err();
}

#[test]
fn a_run_makes_twenty_issues_of_either_kind_and_no_title_twice() {
    let mut store = store();
    let parent = add(&mut store, "Large");
    let run = planner(&mut store, "p1", &parent.id);
    for i in 0..20 {
        store
            .add_subtask(&by(&run, 5), &subtask(&parent.id, &format!("Part {i}")))
            .unwrap();
    }
    let error = store
        .add_subtask(&by(&run, 5), &subtask(&parent.id, "part  3"))
        .unwrap_err();
    assert!(error.to_string().contains("has the same title"), "{error}");
    let error = store
        .add_subtask(&by(&run, 5), &subtask(&parent.id, "One more"))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "a run may add at most 20 issues; put the rest into a finding"
    );
}

#[test]
fn a_title_may_be_open_under_another_parent_but_not_twice_under_one() {
    let mut store = store();
    let one = add(&mut store, "One thing");
    let two = add(&mut store, "Two things");
    let of_one = planner(&mut store, "p1", &one.id);
    let of_two = planner(&mut store, "p2", &two.id);
    for (run, parent) in [(&of_one, &one), (&of_two, &two)] {
        store
            .add_subtask(&by(run, 5), &subtask(&parent.id, "Write the tests"))
            .unwrap();
    }
    for (title, told) in [
        ("write the  tests", "is open and has the same title"),
        (
            "Write tests",
            "is open and has nearly the same title (\"Write the tests\")",
        ),
        // the parent itself, and what is filed without a parent
        ("Two thigns", "DEM-2 is open and has nearly the same title"),
        ("One thing", "DEM-1 is open and has the same title"),
    ] {
        let error = store
            .add_subtask(&by(&of_two, 5), &subtask(&two.id, title))
            .unwrap_err()
            .to_string();
        assert!(error.contains(told), "{title}: {error}");
    }
    // a person may do as they like
    store
        .add_subtask(&human(6), &subtask(&two.id, "Write tests"))
        .unwrap();
}

#[test]
fn a_subtask_is_as_urgent_as_its_parent_unless_told_otherwise() {
    let mut store = store();
    let mut parent = new_issue("Large");
    parent.priority = Priority::Urgent;
    let parent = store.add_issue(&human(1), &parent).unwrap();
    for (given, expected) in [
        (None, Priority::Urgent),
        (Some(Priority::Low), Priority::Low),
    ] {
        let new = NewSubtask {
            priority: given,
            ..subtask(&parent.id, "Part")
        };
        let made = store.add_subtask(&human(2), &new).unwrap();
        assert_eq!(made.issue.priority, expected);
    }
}

#[test]
fn splitting_ends_three_levels_down() {
    let mut store = store();
    let mut parent = add(&mut store, "Large").id;
    for level in 1..=3 {
        let new = subtask(&parent, &format!("Level {level}"));
        parent = store.add_subtask(&human(5), &new).unwrap().issue.id;
    }
    let error = store
        .add_subtask(&human(6), &subtask(&parent, "Level 4"))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "DEM-4 is itself a sub-task, 3 levels deep, and cannot be split further"
    );
    assert_eq!(status(&store, &parent), IssueStatus::Todo);
}

#[test]
fn sub_tasks_are_made_where_the_parent_can_wait_for_them() {
    let mut store = store();
    let parent = add(&mut store, "Large");
    let run = worker(&mut store, "w1", &parent.id);
    for (event, allowed) in [
        (IssueEvent::PrCreated, Some("review")),
        (IssueEvent::Finished, Some("done")),
        (IssueEvent::Reopened, None),
    ] {
        store.move_issue(&system(8), &parent.id, &event).unwrap();
        let new = subtask(&parent.id, event.name());
        let made = store.add_subtask(&human(9), &new);
        match allowed {
            None => assert_eq!(made.unwrap().parent.state.status(), IssueStatus::Blocked),
            Some(name) => assert_eq!(
                made.unwrap_err().to_string(),
                format!(
                    "DEM-1 is `{name}`: sub-tasks can be added while it is `todo`, `in_progress` or waits for its sub-tasks"
                )
            ),
        }
    }
    // the run did not move the issue itself
    assert!(!store.run(&run.id).unwrap().moved_issue);
}

#[test]
fn the_parent_of_a_persons_sub_task_waits_too() {
    let mut store = store();
    let child_of = |store: &mut Store, parent: &IssueId, status: IssueStatus| {
        let new = NewIssue {
            parent: Some(parent.clone()),
            status,
            ..new_issue("Child")
        };
        store.add_issue(&human(9), &new).unwrap().id
    };
    let parent = add(&mut store, "Large").id;
    let first = child_of(&mut store, &parent, IssueStatus::Todo);
    let second = child_of(&mut store, &parent, IssueStatus::Backlog);
    let waits = store.issue(&parent).unwrap().state;
    assert_eq!(waits.block().unwrap().by, BlockedBy::Subtasks);
    end(&mut store, &first, &IssueEvent::Finished);
    store
        .move_issue(&human(20), &second, &IssueEvent::Cancelled)
        .unwrap();
    assert_eq!(split(&mut store)[0].outcome, SubtasksOutcome::SomeDone);
    store.close_subtasks(&system(21), &parent).unwrap();
    assert_eq!(status(&store, &parent), IssueStatus::Todo);
    // at work it is blocked as well, and its run's end leaves it so
    let run = worker(&mut store, "r1", &parent);
    child_of(&mut store, &parent, IssueStatus::Todo);
    store
        .finish_run(&system(30), &finish(&run, RunStatus::Succeeded, None))
        .unwrap();
    assert_eq!(status(&store, &parent), IssueStatus::Blocked);
    // one that is not asked for yet stays where it is
    let shelved = NewIssue {
        status: IssueStatus::Backlog,
        ..new_issue("Later")
    };
    let shelved = store.add_issue(&human(31), &shelved).unwrap().id;
    child_of(&mut store, &shelved, IssueStatus::Todo);
    assert_eq!(status(&store, &shelved), IssueStatus::Backlog);
}

#[test]
fn a_persons_sub_task_that_could_never_start_is_refused() {
    let mut store = store();
    let other = symphony_core::id::ProjectId::parse("other").unwrap();
    let new = NewProject {
        id: other.clone(),
        name: "Other".into(),
        root: "/other".into(),
        prefix: "OTH".into(),
    };
    store.add_project(&human(0), &new).unwrap();
    let parent = add(&mut store, "Large").id;
    let child = NewIssue {
        parent: Some(parent.clone()),
        ..new_issue("Child")
    };
    let waiting = NewIssue {
        depends_on: vec![parent.clone()],
        ..child.clone()
    };
    let abroad = NewIssue {
        project: other,
        ..child
    };
    for (new, expected) in [
        (
            waiting,
            "a sub-task of DEM-1 cannot depend on DEM-1: it would wait for itself",
        ),
        (
            abroad,
            "DEM-1 belongs to another project: it cannot be the parent",
        ),
    ] {
        let error = store.add_issue(&human(3), &new).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(status(&store, &parent), IssueStatus::Todo);
}

#[test]
fn a_sub_task_cannot_be_made_to_wait_for_its_parent() {
    let mut store = store();
    let (parent, [first, second]) = family(&mut store);
    let other = add(&mut store, "Waits for the parent").id;
    let mut depend = |issue: &IssueId, on: &IssueId| {
        let edit = IssueEdit {
            depends_on: Some(vec![on.clone()]),
            ..IssueEdit::default()
        };
        store.edit_issue(&human(60), issue, &edit).map(drop)
    };
    depend(&other, &parent).unwrap();
    depend(&second, &first).unwrap();
    for on in [&parent, &other] {
        let error = depend(&first, on).unwrap_err().to_string();
        assert!(
            error.contains("by its dependencies or its sub-tasks"),
            "{error}"
        );
    }
}
