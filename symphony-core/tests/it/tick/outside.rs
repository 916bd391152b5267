//! What follows from a base branch that moved without Symphony.

use symphony_core::agent::AgentType;
use symphony_core::id::PlanId;
use symphony_core::issue::IssueStatus;
use symphony_core::outside::{
    BaseLook, BaseView, BranchCommits, Evidence, FoundMerge, Missing, OutsideMerge,
};
use symphony_core::pull_request::PullRequestOf;
use symphony_core::tick::{Action, LiveRun, Reason, ReviewCandidate, Snapshot, plan_tick};

use super::support::{at, issue, live, plan, project, review, snapshot};

fn merge(number: u64) -> FoundMerge {
    FoundMerge {
        project: project("a"),
        of: issue(number).into(),
        pr: symphony_core::id::PrId::new(1),
        base: "main".to_owned(),
        head: "head".to_owned(),
        merge: OutsideMerge {
            commit: "commit".to_owned(),
            evidence: Evidence::History,
            by: None,
        },
        missing: vec![Missing::Approval],
    }
}

fn moved(merges: Vec<FoundMerge>) -> Snapshot {
    Snapshot {
        base: BaseView {
            merges,
            looks: vec![BaseLook {
                project: project("a"),
                branch: "main".to_owned(),
                head: "h2".to_owned(),
                since: Some("h1".to_owned()),
                prs: Vec::new(),
            }],
            ..BaseView::default()
        },
        ..snapshot()
    }
}

#[test]
fn no_judge_is_paid_for_what_the_base_has() {
    let mut snapshot = moved(vec![merge(1)]);
    snapshot.reviews = vec![review(1), review(2)];
    insta::assert_snapshot!(plan(&snapshot).join("\n"), @r"
    record merge of SYM-1
    remember main at h2
    start judge SYM-2 #1
    wait SYM-1: main has its change: the next tick records that it was merged outside Symphony
    ");
}

#[test]
fn no_judge_is_paid_for_the_work_of_a_plan_that_the_base_has() {
    let of = PullRequestOf::from(PlanId::parse("ship").unwrap());
    let of_plan = |number| ReviewCandidate {
        of: of.clone(),
        ..review(number)
    };
    let found = FoundMerge {
        of: of.clone(),
        ..merge(1)
    };
    // readers at work are ended by what is recorded
    for agent in [None, Some(AgentType::Judge), Some(AgentType::Gates)] {
        let mut snapshot = moved(vec![found.clone()]);
        snapshot.reviews = vec![of_plan(1), review(2)];
        snapshot.live = agent
            .map(|agent| LiveRun {
                plan: of.plan().cloned(),
                ..live("r1", None, agent)
            })
            .into_iter()
            .collect();
        let planned = plan_tick(&snapshot, at(1000));
        assert_eq!(planned.actions[0], Action::RecordMerge(found.clone()));
        let starts = planned.actions.iter().filter_map(|action| match action {
            Action::StartRun(start) => Some(start.target.issue().cloned()),
            _ => None,
        });
        assert_eq!(starts.collect::<Vec<_>>(), [Some(issue(2))]);
        let base = "main".to_owned();
        assert_eq!(
            planned.plan_decisions[0].reasons,
            [Reason::MergedOutside { base }]
        );
    }
}

#[test]
fn a_merge_is_recorded_while_readers_live_and_not_while_its_own_agent_does() {
    for (agent, expected) in [
        (AgentType::Judge, "record merge of SYM-1"),
        (AgentType::Gates, "record merge of SYM-1"),
        (AgentType::Worker, "note agent_at_work on SYM-1"),
        (AgentType::Planner, "note agent_at_work on SYM-1"),
    ] {
        let mut snapshot = moved(vec![merge(1)]);
        snapshot.live = vec![live("r1", Some(1), agent.clone())];
        let actions = plan(&snapshot);
        assert_eq!(actions[0], expected, "{agent}");
        assert_eq!(actions[1], "remember main at h2", "{agent}");
    }
}

#[test]
fn a_pause_keeps_no_merge_from_being_recorded() {
    let mut snapshot = moved(vec![merge(1)]);
    snapshot.paused = true;
    assert_eq!(plan(&snapshot)[0], "record merge of SYM-1");
}

#[test]
fn a_person_is_told_of_what_nothing_explains_before_the_look_is_remembered() {
    let mut snapshot = moved(Vec::new());
    snapshot.base.commits = vec![BranchCommits {
        project: project("a"),
        of: issue(3).into(),
        standing: IssueStatus::Todo.into(),
        base: "main".to_owned(),
        commits: vec!["c".repeat(40)],
        review: None,
    }];
    assert_eq!(
        plan(&snapshot),
        ["note no_pull_request on SYM-3", "remember main at h2"]
    );
}
