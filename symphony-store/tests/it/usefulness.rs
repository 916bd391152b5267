//! How useful a learning was: what each way of ending leaves as a case, and which cases are compared.

use symphony_core::failure::ErrorClass;
use symphony_core::id::{IssueId, LearningId, PrId};
use symphony_core::issue::{DependentsFate, IssueEvent, Resolution};
use symphony_core::run::{Run, RunStatus, Usage};
use symphony_core::unit::Tokens;
use symphony_learning::{Comparison, Options, Subject};
use symphony_store::{IssueEnd, NewLearning, RunProgress, Store};

use crate::support::{add, at, by, finish, human, new_pr, project, store, system, worker};

/// What a worker does on an issue.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Story {
    /// Its first pull request is merged.
    Merged,
    /// Its first pull request is rejected, the second merged.
    SecondTry,
    /// A person closes it as done, without a merge.
    Closed,
    /// A person gives it up.
    Cancelled,
}

struct World {
    store: Store,
    second: i64,
    runs: u32,
}

impl World {
    fn new() -> Self {
        Self {
            store: store(),
            second: 10,
            runs: 0,
        }
    }

    fn tick(&mut self) -> i64 {
        self.second += 1;
        self.second
    }

    fn learn(&mut self, name: &str, text: &str) -> LearningId {
        let id = LearningId::parse(name).unwrap();
        let new = NewLearning {
            id: id.clone(),
            project: project(),
            issue: None,
            commit: None,
            pattern: text.into(),
            learning_type: None,
            applies_to: vec![],
        };
        let second = self.tick();
        self.store.add_learning(&human(second), &new).unwrap();
        id
    }

    fn start(&mut self, issue: &IssueId, given: &[&LearningId]) -> Run {
        self.runs += 1;
        let run = worker(&mut self.store, &format!("run-{}", self.runs), issue);
        let given: Vec<LearningId> = given.iter().map(|id| (*id).clone()).collect();
        let context = system(self.second);
        self.store.record_given(&context, &run.id, &given).unwrap();
        let progress = RunProgress {
            last_event: String::new(),
            usage: Usage {
                input_tokens: Tokens::new(1_000),
                ..Usage::default()
            },
        };
        self.store
            .record_progress(&context, &run.id, &progress)
            .unwrap();
        run
    }

    fn end(&mut self, run: &Run, status: RunStatus, class: Option<ErrorClass>) {
        let second = self.tick();
        self.store
            .finish_run(&system(second), &finish(run, status, class))
            .unwrap();
    }

    fn open_pr(&mut self, issue: &IssueId, given: &[&LearningId]) -> PrId {
        let run = self.start(issue, given);
        self.hand_in(issue, &run)
    }

    fn hand_in(&mut self, issue: &IssueId, run: &Run) -> PrId {
        let context = by(run, self.second);
        let pr = self
            .store
            .create_pr(&context, &new_pr(issue, "c1"))
            .unwrap();
        self.end(run, RunStatus::Succeeded, None);
        pr.id
    }

    fn merge(&mut self, pr: PrId) {
        let second = self.tick();
        self.store.record_merge(&human(second), pr, "m1").unwrap();
    }

    fn close(&mut self, issue: &IssueId, resolution: Resolution) {
        let end = IssueEnd {
            event: IssueEvent::Closed {
                resolution,
                reason: "r".into(),
            },
            comment: None,
            dependents: DependentsFate::Keep,
        };
        let second = self.tick();
        self.store.end_issue(&human(second), issue, &end).unwrap();
    }

    /// Plays an issue to its end.
    fn play(&mut self, title: &str, story: Story, given: &[&LearningId]) -> IssueId {
        let issue = add(&mut self.store, title).id;
        let pr = self.open_pr(&issue, given);
        match story {
            Story::Closed => self.close(&issue, Resolution::Done),
            Story::Cancelled => self.close(&issue, Resolution::Cancelled),
            Story::Merged => self.merge(pr),
            Story::SecondTry => {
                let second = self.tick();
                self.store.close_pr(&human(second), pr).unwrap();
                let again = self.open_pr(&issue, &[]);
                self.merge(again);
            }
        }
        issue
    }

    fn compared(&self, id: &LearningId) -> Option<Comparison> {
        let compared = self.store.learning_comparisons(&project()).unwrap();
        compared.get(id).copied()
    }
}

/// Counts, merged first time, and means of attempts and tokens, with it and without.
fn numbers(found: &Comparison) -> [(u64, u64, f64, f64); 2] {
    [found.with, found.without].map(|group| {
        (
            group.count,
            group.merged_first_time,
            group.attempts.mean,
            group.tokens.mean,
        )
    })
}

#[test]
fn every_way_to_done_is_a_case_and_what_is_cancelled_is_none() {
    let mut world = World::new();
    let id = world.learn("l", "Run the parser's tests from the root.");
    world.play("One", Story::Merged, &[&id]);
    world.play("Two", Story::SecondTry, &[&id]);
    world.play("Three", Story::Closed, &[]);
    world.play("Four", Story::Cancelled, &[&id]);
    let untouched = add(&mut world.store, "Five").id;
    world.close(&untouched, Resolution::Done);
    let found = world.compared(&id).unwrap();
    let expected = [(2, 1, 1.5, 1_500.0), (1, 0, 1.0, 1_000.0)];
    assert_eq!(numbers(&found), expected);
}

#[test]
fn the_first_attempt_decides_what_an_issue_had_and_outages_are_no_attempts() {
    let mut world = World::new();
    let early = world.learn("early", "Run the parser's tests from the root.");
    let late = world.learn("late", "Generated files are in gen.");
    let issue = add(&mut world.store, "One").id;
    let outage = world.start(&issue, &[]);
    world.end(&outage, RunStatus::Failed, Some(ErrorClass::NotPrepared));
    let failed = world.start(&issue, &[&early]);
    world.end(&failed, RunStatus::Failed, Some(ErrorClass::AgentFailed));
    let pr = world.open_pr(&issue, &[&early, &late]);
    world.merge(pr);
    let found = world.compared(&early).unwrap();
    assert_eq!(
        numbers(&found),
        [(1, 1, 2.0, 3_000.0), (0, 0, 0.0, 0.0)],
        "the outage cost tokens and no attempt"
    );
    assert_eq!(world.compared(&late), None);
}

#[test]
fn compared_is_what_ended_after_the_acceptance_and_did_not_teach_it() {
    let mut world = World::new();
    let other = world.learn("other", "Generated files are in gen.");
    world.play("Before", Story::Merged, &[&other]);
    let source = add(&mut world.store, "Source").id;
    let run = world.start(&source, &[&other]);
    let new = NewLearning {
        id: LearningId::parse("l").unwrap(),
        project: project(),
        issue: Some(source.clone()),
        commit: None,
        pattern: "Run the parser's tests from the root.".into(),
        learning_type: None,
        applies_to: vec![],
    };
    world.store.add_learning(&by(&run, 20), &new).unwrap();
    let pr = world.hand_in(&source, &run);
    world.merge(pr);
    world.play("After", Story::Merged, &[&new.id]);
    let plain = world.play("Without", Story::SecondTry, &[]);
    let counts = |found: &Comparison| (found.with.count, found.without.count);
    assert_eq!(counts(&world.compared(&new.id).unwrap()), (1, 1));
    assert_eq!(counts(&world.compared(&other).unwrap()), (2, 2));

    // a reopened issue has not ended, and counts again when it ends again; a deleted one is forgotten
    let second = world.tick();
    world
        .store
        .move_issue(&human(second), &plain, &IssueEvent::Reopened)
        .unwrap();
    assert_eq!(counts(&world.compared(&new.id).unwrap()), (1, 0));
    world.close(&plain, Resolution::Done);
    assert_eq!(counts(&world.compared(&new.id).unwrap()), (1, 1));
}

#[test]
fn use_counts_in_the_ranking_from_ten_cases_in_each_group_on() {
    let mut world = World::new();
    let good = world.learn("good", "Parser: run the tests from the root.");
    let newer = world.learn("newer", "Parser: the grammar is in gen.");
    let order = |world: &mut World| {
        let best = world
            .store
            .best_learnings(
                &project(),
                None,
                &Subject::query("nothing in common"),
                at(900),
                Options::default(),
            )
            .unwrap();
        let ids: Vec<String> = best.ids().iter().map(ToString::to_string).collect();
        (ids, best.tactical[0].hit.parts.usefulness)
    };
    for number in 0..10 {
        assert_eq!(
            order(&mut world),
            (vec!["newer".into(), "good".into()], 0.0)
        );
        world.play(&format!("With {number}"), Story::Merged, &[&good]);
        world.play(&format!("Without {number}"), Story::SecondTry, &[]);
    }
    let (ids, usefulness) = order(&mut world);
    assert_eq!(ids, ["good", "newer"]);
    let found = world.compared(&good).unwrap();
    assert_eq!(
        numbers(&found).map(|group| (group.0, group.1)),
        [(10, 10), (10, 0)]
    );
    assert!(
        (usefulness - found.score).abs() < 1e-12 && found.score > 0.6,
        "{found:?}"
    );
    assert_eq!(world.compared(&newer), None);
}
