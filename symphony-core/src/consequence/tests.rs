//! The consequences of moves and ends as tables, and what holds for all of them.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::agent::AgentType;
use crate::contract::{Delivery, DeliveryState};
use crate::id::{DeliveryId, PrId, RunId};
use crate::issue::{AttemptCounts, IssueEvent, IssueState, IssueStatus, apply, samples};
use crate::log::LogEvent;
use crate::run::RunStatus;

fn delivery(state: DeliveryState, next: Option<&str>) -> OpenDelivery {
    Delivery {
        id: DeliveryId::new(4),
        project: "demo".parse().unwrap(),
        issue: "DEM-1".parse().unwrap(),
        phase: "research".parse().unwrap(),
        artifact_path: None,
        summary: "done".to_owned(),
        skip_to: None,
        next_phase: next.map(|next| next.parse().unwrap()),
        run: Some("r1".parse().unwrap()),
        author: crate::issue::CommentAuthor::Agent(AgentType::Researcher),
        state,
        reasons: Vec::new(),
        verdict: None,
        head_commit: None,
        open: true,
        created_at: crate::Timestamp::UNIX_EPOCH,
    }
}

fn facts(state: IssueState) -> IssueFacts {
    IssueFacts {
        state,
        counts: AttemptCounts {
            consecutive_failures: 1,
            total_runs: 2,
        },
        pull_request: Some(PrId::new(7)),
        delivery: None,
        live_run: LiveRun::No,
    }
}

fn words(effects: &[Effect]) -> String {
    let mut text = String::new();
    for effect in effects {
        let word = match effect {
            Effect::SetState(state) => format!("-> {}", state.status()),
            Effect::SetCounts(counts) => format!(
                "counts {}/{}",
                counts.consecutive_failures, counts.total_runs
            ),
            Effect::ClosePullRequest(pr) => format!("close pull request {pr}"),
            Effect::RejectDelivery { delivery, reason } => {
                format!("reject delivery {delivery}: {reason}")
            }
            Effect::EnterPhase(phase) => format!("enter {phase}"),
            Effect::CloseDelivery(delivery) => format!("close delivery {delivery}"),
            Effect::Log(event) => format!("log {}", event.kind()),
            other => format!("{other:?}"),
        };
        writeln!(text, "    {word}").unwrap();
    }
    text
}

#[test]
fn moves_by_their_consequences() {
    let accepted = delivery(DeliveryState::Accepted, Some("architecture"));
    let waiting = delivery(DeliveryState::AwaitingJudge, None);
    let base = facts;
    let table = [
        (
            "a run starts",
            base(IssueState::Todo),
            IssueEvent::Dispatched,
            Mover::Other,
        ),
        (
            "an agent opens a pull request",
            IssueFacts {
                live_run: LiveRun::Yes,
                ..base(IssueState::InProgress)
            },
            IssueEvent::PrCreated,
            Mover::Run,
        ),
        (
            "a merge settles its pull request itself",
            IssueFacts {
                delivery: Some(waiting.clone()),
                ..base(IssueState::Review)
            },
            IssueEvent::Merged,
            Mover::Other,
        ),
        (
            "a cancelled issue leaves nothing open",
            IssueFacts {
                delivery: Some(waiting),
                live_run: LiveRun::Yes,
                ..base(IssueState::InProgress)
            },
            IssueEvent::Cancelled,
            Mover::Other,
        ),
        (
            "a reopened one is no longer done",
            base(IssueState::Done),
            IssueEvent::Reopened,
            Mover::Other,
        ),
        (
            "an accepted phase is not worked on again",
            IssueFacts {
                delivery: Some(accepted.clone()),
                ..base(IssueState::InProgress)
            },
            IssueEvent::RunReturned,
            Mover::Other,
        ),
        (
            "while a run is live its end takes the step",
            IssueFacts {
                delivery: Some(accepted),
                live_run: LiveRun::Yes,
                ..base(IssueState::InProgress)
            },
            IssueEvent::HandedBack,
            Mover::Run,
        ),
    ];
    let mut text = String::new();
    for (name, facts, event, mover) in table {
        let effects = consequences_of_move(&facts, &event, mover).unwrap();
        writeln!(text, "{name}\n{}", words(&effects)).unwrap();
    }
    insta::assert_snapshot!("moves_by_their_consequences", text);
}

#[test]
fn a_step_of_an_accepted_delivery() {
    let with = |state, delivery| IssueFacts {
        delivery,
        ..facts(state)
    };
    let accepted = delivery(DeliveryState::Accepted, Some("architecture"));
    let last = delivery(DeliveryState::Accepted, None);
    let waiting = delivery(DeliveryState::AwaitingJudge, None);
    let step = |facts: &IssueFacts| words(&consequences_of_step(facts, Mover::Other).unwrap());
    let mut text = String::new();
    for (name, facts) in [
        (
            "from review",
            with(IssueState::Review, Some(accepted.clone())),
        ),
        (
            "in todo only the label is missing",
            with(IssueState::Todo, Some(accepted)),
        ),
        ("the last phase", with(IssueState::InProgress, Some(last))),
        ("no verdict yet", with(IssueState::Review, Some(waiting))),
        ("no delivery", with(IssueState::Review, None)),
    ] {
        writeln!(text, "{name}\n{}", step(&facts)).unwrap();
    }
    insta::assert_snapshot!("a_step_of_an_accepted_claim", text);
}

#[test]
fn the_delivery_of_a_run_that_ends() {
    let (own, other) = (RunId::parse("r1").unwrap(), RunId::parse("r2").unwrap());
    let end = |state, run: &RunId, status| {
        let delivery = Some(delivery(state, None));
        let facts = IssueFacts {
            delivery,
            ..facts(IssueState::InProgress)
        };
        delivery_at_end(&facts, run, status).map(|effect| words(&[effect]).trim().to_owned())
    };
    let unsettled = "reject delivery 4: its run ended before the delivery was settled";
    let tampered = "reject delivery 4: its run changed configuration that runs programs";
    for (state, run, status, expected) in [
        (
            DeliveryState::Submitted,
            &own,
            RunStatus::Succeeded,
            Some(unsettled),
        ),
        (DeliveryState::Submitted, &other, RunStatus::Succeeded, None),
        (DeliveryState::AwaitingJudge, &own, RunStatus::Failed, None),
        (DeliveryState::Accepted, &own, RunStatus::Succeeded, None),
        (
            DeliveryState::Accepted,
            &own,
            RunStatus::Tampered,
            Some(tampered),
        ),
        (DeliveryState::Accepted, &other, RunStatus::Tampered, None),
    ] {
        assert_eq!(
            end(state, run, status).as_deref(),
            expected,
            "{state} {run} {status}"
        );
    }
    assert_eq!(
        delivery_at_end(&facts(IssueState::Todo), &own, RunStatus::Failed),
        None
    );
}

fn any_facts() -> impl Strategy<Value = IssueFacts> {
    let deliveries = vec![
        None,
        Some(delivery(DeliveryState::Submitted, Some("architecture"))),
        Some(delivery(DeliveryState::AwaitingJudge, None)),
        Some(delivery(DeliveryState::Accepted, Some("architecture"))),
        Some(delivery(DeliveryState::Accepted, None)),
    ];
    let pulls = vec![None, Some(PrId::new(7))];
    let runs = vec![LiveRun::Yes, LiveRun::No];
    (
        select(samples::states()),
        select(pulls),
        select(deliveries),
        select(runs),
    )
        .prop_map(|(state, pull_request, delivery, live_run)| IssueFacts {
            pull_request,
            delivery,
            live_run,
            ..facts(state)
        })
}

fn after(facts: &IssueFacts, effects: &[Effect]) -> IssueFacts {
    let mut facts = facts.clone();
    for effect in effects {
        facts.take(effect);
    }
    facts
}

/// Returns whether an effect ends something that was open.
fn closes(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::ClosePullRequest(_) | Effect::RejectDelivery { .. } | Effect::CloseDelivery(_)
    )
}

proptest! {
    #[test]
    fn every_allowed_move_has_consistent_consequences(
        facts in any_facts(),
        event in select(samples::events()),
        mover in select(vec![Mover::Other, Mover::Run]),
    ) {
        let expected = apply(&facts.state, &event);
        let found = consequences_of_move(&facts, &event, mover);
        let (Ok(state), Ok(effects)) = (&expected, &found) else {
            prop_assert_eq!(expected.err(), found.err());
            return Ok(());
        };
        let later = after(&facts, effects);
        prop_assert_eq!(&later.state, state);
        prop_assert_eq!(effects.first(), Some(&Effect::SetState(state.clone())));
        let moves = effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Log(LogEvent::IssueMoved { .. })));
        prop_assert_eq!(moves.count(), 1);
        let terminal = state.status().is_terminal();
        if terminal {
            // nothing stays open, and what is live is asked to end, but only then
            prop_assert!(later.pull_request.is_none() || matches!(event, IssueEvent::Merged | IssueEvent::MergedOutside));
            prop_assert_eq!(&later.delivery, &None);
            prop_assert_eq!(effects.contains(&Effect::EndRuns), facts.live_run == LiveRun::Yes);
        } else {
            prop_assert!(!effects.contains(&Effect::EndRuns));
            prop_assert_eq!(later.pull_request, facts.pull_request);
        }
        prop_assert_eq!(effects.contains(&Effect::RemoveRetry), state.status() != IssueStatus::Todo);
        prop_assert_eq!(
            effects.contains(&Effect::DependencyMet),
            state.status() == IssueStatus::Done && facts.state.status() != IssueStatus::Done
        );
        // what was closed is not closed again, whatever follows
        for next in samples::events() {
            let Ok(second) = consequences_of_move(&later, &next, mover) else { continue };
            let again = second.iter().filter(|effect| closes(effect));
            for effect in again {
                prop_assert!(!effects.contains(effect), "{:?} twice", effect);
            }
        }
    }

    #[test]
    fn a_step_is_taken_once(facts in any_facts()) {
        let Ok(effects) = consequences_of_step(&facts, Mover::Other) else { return Ok(()) };
        let again = consequences_of_step(&after(&facts, &effects), Mover::Other);
        prop_assert_eq!(again, Ok(Vec::new()));
    }
}
