//! The text, the exit code and the hint of each refusal.

use symphony_core::agent::AgentType;
use symphony_core::config::SandboxSetting;
use symphony_core::contract::DeliveryState;
use symphony_core::id::{
    CommentId, DeliveryId, IssueId, PhaseName, PlanId, PrId, ProjectId, RunId,
};
use symphony_core::issue::IssueStatus;
use symphony_core::log::PersonsChoice;
use symphony_core::message::Addressee;
use symphony_core::outside::{HeadFound, LostHead, MergeObstacle, ReturningCommits, RewoundBase};
use symphony_core::outside::{UnpublishedCommit, UnpublishedHead, UnpublishedIn};
use symphony_core::plan::Isolation;
use symphony_core::plan::state::PlanStatus;
use symphony_core::pull_request::{PrState, PullRequestOf};
use symphony_core::review_point::ReviewOf;
use symphony_runner::database::DatabaseRefusal;
use symphony_runner::merge::{MergeRefusal, NotMerged};
use symphony_runner::plan::PlanRunRefusal as Run;
use symphony_store::ClaimRefusal;
use symphony_store::{IssueRefusal, KeptFor, PlanRefusal, PrStep, ProjectRefusal, ReviewRefusal};

use super::*;

const PR: PrId = PrId::new(3);

fn issue() -> IssueId {
    IssueId::parse("SYM-1").unwrap()
}

fn plan() -> PlanId {
    PlanId::parse("ship").unwrap()
}

fn phase(name: &str) -> PhaseName {
    PhaseName::parse(name).unwrap()
}

fn text(text: &str) -> String {
    text.to_owned()
}

/// What a person reads of each error: its text, and the hint.
fn shown<E: Into<anyhow::Error>>(errors: impl IntoIterator<Item = E>) -> String {
    let lines = errors.into_iter().map(|error| {
        let error = error.into();
        let verdict = judge(&error);
        assert_eq!(verdict.exit, Exit::Refused, "{error}");
        let hint = verdict.hint.map(|hint| format!("\n  hint: {hint}"));
        format!("{}{}\n", sentence(&error), hint.unwrap_or_default())
    });
    lines.collect()
}

fn merges(of: impl Into<PullRequestOf>, whys: Vec<MergeRefusal>) -> Vec<RunnerError> {
    let of = of.into();
    let not_merged = |why| {
        RunnerError::from(NotMerged {
            pr: PR,
            of: of.clone(),
            is_proposal: false,
            why,
        })
    };
    whys.into_iter().map(not_merged).collect()
}

fn obstacle(obstacle: MergeObstacle) -> MergeRefusal {
    MergeRefusal::Obstacle(Box::new(obstacle))
}

fn conflict() -> MergeRefusal {
    obstacle(MergeObstacle::Conflict {
        base: text("main"),
        files: vec![text("a.rs")],
    })
}

fn lost(found: HeadFound) -> MergeRefusal {
    let (pr, of) = (PR, issue().into());
    obstacle(MergeObstacle::Head(LostHead { pr, of, found }))
}

fn red(logs: Option<&str>) -> MergeRefusal {
    MergeRefusal::RedGates {
        commit: text("aaaa"),
        gates: vec![text("lint"), text("test")],
        logs: logs.map(Into::into),
    }
}

fn changed() -> MergeRefusal {
    MergeRefusal::ChangedByGates(vec![text("user.name")])
}

fn points() -> MergeRefusal {
    MergeRefusal::OpenPoints(text("review points 1 and 2"))
}

#[test]
fn what_is_in_the_way_of_a_merge_comes_with_what_to_type() {
    let of_issue = vec![
        MergeRefusal::UnderWay,
        MergeRefusal::UnderWayAt {
            host: text("build-7"),
        },
        points(),
        conflict(),
        obstacle(MergeObstacle::NoBase {
            base: text("main"),
            commit: text("bbbb"),
        }),
        lost(HeadFound::Gone {
            commit: text("aaaa"),
            rescue: None,
        }),
        lost(HeadFound::Moved {
            branch: text("symphony/SYM-1"),
            now: text("bbbb"),
            back: text("git branch -f symphony/SYM-1 aaaa"),
        }),
        obstacle(MergeObstacle::Unpublished(UnpublishedHead {
            pr: PR,
            branch: text("symphony/SYM-1"),
            commits: vec![UnpublishedCommit {
                path: text("lib"),
                commit: text("cccc"),
                folder: text("/w/lib"),
                found: UnpublishedIn::Submodule,
            }],
        })),
        obstacle(MergeObstacle::Returning(ReturningCommits {
            pr: PR,
            base: RewoundBase {
                branch: text("main"),
                was: text("dddd"),
                now: text("bbbb"),
                lost: 2,
            },
        })),
        MergeRefusal::Filter {
            name: text("lfs"),
            patterns: vec![text("*.bin")],
        },
        red(None),
        red(Some("/logs")),
        changed(),
        MergeRefusal::Secrets(text("contain the value of API_KEY in a.rs")),
        MergeRefusal::Stopped,
    ];
    let of_plan = vec![points(), conflict(), MergeRefusal::Stopped];
    let proposals = [changed(), MergeRefusal::Stopped].map(|why| NotMerged {
        pr: PR,
        of: issue().into(),
        is_proposal: true,
        why,
    });
    let errors = merges(issue(), of_issue).into_iter();
    let errors = errors.chain(merges(plan(), of_plan));
    let errors = errors.chain(proposals.map(RunnerError::from));
    insta::assert_snapshot!(shown(errors));
}

#[test]
fn what_is_refused_of_a_review_says_what_to_do() {
    let ended = |of: PullRequestOf, state, step| ReviewRefusal::Ended {
        noun: "pull request",
        pr: PR,
        of,
        state,
        step,
    };
    let delivery = DeliveryId::new(7);
    let (state, status) = (DeliveryState::Accepted, IssueStatus::Blocked);
    let refusals = [
        ended(issue().into(), PrState::Rejected, PrStep::Merge),
        ended(issue().into(), PrState::Merged, PrStep::Merge),
        ended(issue().into(), PrState::Closed, PrStep::Close),
        ended(plan().into(), PrState::Rejected, PrStep::Approve),
        ended(plan().into(), PrState::Closed, PrStep::Judge),
        ended(plan().into(), PrState::Merged, PrStep::Gates),
        ended(issue().into(), PrState::Confirmed, PrStep::Publish),
        ReviewRefusal::Proposal {
            pr: PR,
            of: issue().into(),
        },
        ReviewRefusal::Change(PR),
        ReviewRefusal::ChangeIsOpen(PR),
        ReviewRefusal::IssueNotInReview {
            issue: issue(),
            status,
        },
        ReviewRefusal::PlanNotInReview {
            plan: plan(),
            status: PlanStatus::Running,
        },
        ReviewRefusal::OtherCommit {
            of: ReviewOf::PullRequest(PR),
            commit: text("aaaa"),
            head: text("bbbb"),
        },
        ReviewRefusal::NotItsJudge {
            of: ReviewOf::Delivery(delivery),
            agent: AgentType::Worker,
        },
        ReviewRefusal::NotConfirmed {
            pr: PR,
            obstacles: text("no judge has approved it"),
        },
        ReviewRefusal::PrSuperseded {
            issue: issue(),
            phase: Some(phase("research")),
        },
        ReviewRefusal::DeliverySuperseded {
            delivered: phase("research"),
            issue: issue(),
            phase: None,
        },
        ReviewRefusal::Delivered {
            phase: phase("research"),
            delivery,
            state,
        },
        ReviewRefusal::NotInProgress {
            issue: issue(),
            status,
        },
        ReviewRefusal::NothingToJudge { delivery, state },
        ReviewRefusal::Settled { delivery, state },
        ReviewRefusal::RunIsLive(issue()),
        ReviewRefusal::ChangedInMerge {
            pr: PR,
            change: text("it is rejected now"),
        },
    ];
    insta::assert_snapshot!(shown(refusals.map(StoreError::from)));
}

#[test]
fn what_is_refused_of_a_plan_says_what_to_do() {
    let under_way = |waiting| PlanRefusal::UnderWay {
        path: text("plan.md"),
        other: PlanId::parse("ship-2").unwrap(),
        waiting,
    };
    let record = [
        under_way(Some(plan())),
        under_way(None),
        PlanRefusal::NothingToReview {
            plan: plan(),
            status: PlanStatus::Running,
        },
        PlanRefusal::Replaced {
            pr: PR,
            plan: plan(),
            newest: PrId::new(4),
        },
        PlanRefusal::HasContinued {
            plan: plan(),
            pr: PR,
            state: PrState::Closed,
        },
        PlanRefusal::NoOpenPullRequest(plan()),
        PlanRefusal::NoPhase(RunId::parse("run-1").unwrap()),
    ];
    let changed = |has_ended| Run::FileChanged {
        path: text("plan.md"),
        plan: plan(),
        changes: text("added: c"),
        has_ended,
    };
    let run = [
        Run::WorkLeft {
            branch: text("main"),
            plan: plan(),
            reason: text("a.rs conflicts"),
            command: text("git merge symphony/plan-ship/base"),
        },
        Run::IsolationFixed {
            plan: plan(),
            isolation: Isolation::Worktree,
        },
        Run::NotConfined(SandboxSetting::Namespace),
        changed(true),
        changed(false),
        Run::OnPlanBranch(text("symphony/plan-ship/base")),
        Run::ForeignStateFile("/p/.symphony-state.json".into()),
        Run::TargetGone {
            plan: plan(),
            branch: text("main"),
            base_commit: text("aaaa"),
        },
        Run::BaseKeepsMoving {
            plan: plan(),
            tries: 100,
        },
        Run::NoIdLeft(text("plan.md")),
    ];
    let record = shown(record.map(StoreError::from));
    insta::assert_snapshot!(record + &shown(run.map(RunnerError::from)));
}

#[test]
fn what_is_refused_of_an_issue_says_what_to_do() {
    let (issue, other) = (issue(), IssueId::parse("SYM-2").unwrap());
    let (parent, dependency) = (issue.clone(), other.clone());
    let status = IssueStatus::Review;
    let refusals = vec![
        IssueRefusal::BeginsIn(status),
        IssueId::parse("x").unwrap_err().into(),
        IssueRefusal::TooManyOfRun,
        IssueRefusal::SameTitle(other.to_string()),
        IssueRefusal::NearTitle {
            issue: other.to_string(),
            title: text("Say hello"),
        },
        IssueRefusal::ParentElsewhere(other.clone()),
        IssueRefusal::NoSubtasksNow {
            parent: parent.clone(),
            status,
        },
        IssueRefusal::TooDeep(parent.clone()),
        IssueRefusal::SubtasksOpen {
            issue: issue.clone(),
            open: 1,
            done: 2,
        },
        IssueRefusal::NoReader {
            issue: issue.clone(),
            status: IssueStatus::Done,
        },
        IssueRefusal::TooMuchUnread {
            issue: issue.clone(),
            addressee: Addressee::Judge,
            waiting: 60_000,
        },
        IssueRefusal::NoMessage(CommentId::new(7)),
        IssueRefusal::MessageRead {
            message: CommentId::new(7),
            run: RunId::parse("run-1").unwrap(),
        },
        IssueRefusal::TooManyDependencies {
            issue: issue.clone(),
            count: 101,
        },
        IssueRefusal::DependsOnItself(issue.clone()),
        IssueRefusal::DependsInCircle {
            issue: issue.clone(),
            dependency: dependency.clone(),
        },
        IssueRefusal::SubtaskInCircle {
            parent,
            dependency: dependency.clone(),
        },
        IssueRefusal::DependencyElsewhere(dependency.clone()),
        IssueRefusal::DependencyCancelled(dependency),
        IssueRefusal::SetByPerson(PersonsChoice::Label(text("bug"))),
    ];
    let kept = [
        KeptFor::Merged(PR),
        KeptFor::Links,
        KeptFor::Run,
        KeptFor::Work,
        KeptFor::Worktree,
    ]
    .map(|why| IssueRefusal::Kept {
        issue: issue.clone(),
        why,
    });
    let refusals = refusals.into_iter().chain(kept).map(StoreError::from);
    insta::assert_snapshot!(shown(refusals));
}

#[test]
fn what_is_refused_of_a_project_says_what_to_do() {
    let project = ProjectId::parse("web").unwrap();
    let refusals = [
        ProjectRefusal::BadPrefix(text("web")),
        ProjectRefusal::PrefixUsed {
            project: text("api"),
            prefix: text("WEB"),
        },
        ProjectRefusal::Taken {
            what: text("prefix"),
            value: text("WEB"),
            root: text("/w/api"),
        },
        ProjectRefusal::NotUtf8("/w/x".into()),
        ProjectRefusal::Numbered(project.clone()),
        ProjectRefusal::RunIsLive {
            run: RunId::parse("run-1").unwrap(),
            project: project.clone(),
        },
        ProjectRefusal::PlanUnderWay {
            plan: plan(),
            project: project.clone(),
        },
        ProjectRefusal::WizardRuns(project),
    ];
    insta::assert_snapshot!(shown(refusals.map(StoreError::from)));
}

#[test]
fn what_is_refused_of_a_database_or_a_run_says_what_to_do() {
    let (database, root) = ("/w/web/.symphony/symphony.db", "/w/web");
    let project = ProjectId::parse("web").unwrap();
    let refusals = [
        DatabaseRefusal::Missing {
            database: database.into(),
            root: root.into(),
        },
        DatabaseRefusal::OnNetwork {
            database: database.into(),
            file_system: text("nfs"),
        },
        DatabaseRefusal::NoStateFolder,
        DatabaseRefusal::TickAtWork,
        DatabaseRefusal::IsOpen(vec![text("12"), text("34")]),
        DatabaseRefusal::RunsAreActive {
            root: root.into(),
            runs: vec![text("run-1")],
        },
        DatabaseRefusal::NothingToKeep(database.into()),
        DatabaseRefusal::NoSuchBackup("x.db".into()),
        DatabaseRefusal::NoBackup,
        DatabaseRefusal::OfOthers {
            backup: "/b/1.db".into(),
            root: root.into(),
        },
        DatabaseRefusal::StillThere {
            project: project.clone(),
            root: root.into(),
        },
        DatabaseRefusal::AnotherRepository {
            root: root.into(),
            project,
        },
    ];
    let others = [
        RunnerError::RunIsLive {
            run: RunId::parse("run-1").unwrap(),
            name: issue().to_string(),
        },
        RunnerError::Reopened {
            issue: issue(),
            status: IssueStatus::Todo,
        },
        RunnerError::GatesNotStarted {
            pr: PR,
            refusal: ClaimRefusal::IssueMoved(IssueStatus::Todo),
        },
        RunnerError::PublishNotConfigured,
    ];
    let refusals = refusals.map(RunnerError::from).into_iter();
    insta::assert_snapshot!(shown(refusals.chain(others)));
}
