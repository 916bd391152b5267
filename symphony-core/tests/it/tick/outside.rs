//! What follows from a base branch that moved without Symphony.

use symphony_core::agent::AgentType;
use symphony_core::issue::IssueStatus;
use symphony_core::outside::{
    BaseLook, BaseView, BranchCommits, Evidence, FoundMerge, Missing, OutsideMerge,
};
use symphony_core::tick::Snapshot;

use super::support::{issue, live, plan, project, review, snapshot};

fn merge(number: u64) -> FoundMerge {
    FoundMerge {
        project: project("a"),
        issue: issue(number),
        pr: symphony_core::id::PrId::new(1),
        base: "main".to_owned(),
        head: "head".to_owned(),
        merge: OutsideMerge {
            commit: "commit".to_owned(),
            evidence: Evidence::History,
            by: None,
        },
        missing: vec![Missing::Approval],
        interrupted: None,
    }
}

fn moved(merges: Vec<FoundMerge>) -> Snapshot {
    Snapshot {
        base: BaseView {
            merges,
            commits: Vec::new(),
            looks: vec![BaseLook {
                project: project("a"),
                branch: "main".to_owned(),
                head: "h2".to_owned(),
                since: Some("h1".to_owned()),
                prs: Vec::new(),
            }],
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
    // a merge by Symphony that was cut off ended the run before it began
    let mut snapshot = moved(vec![FoundMerge {
        interrupted: Some("commit".to_owned()),
        ..merge(1)
    }]);
    snapshot.live = vec![live("r1", Some(1), AgentType::Worker)];
    assert_eq!(plan(&snapshot)[0], "record merge of SYM-1");
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
        issue: issue(3),
        status: IssueStatus::Todo,
        base: "main".to_owned(),
        commits: vec!["c".repeat(40)],
        review: None,
    }];
    assert_eq!(
        plan(&snapshot),
        ["note no_pull_request on SYM-3", "remember main at h2"]
    );
}
