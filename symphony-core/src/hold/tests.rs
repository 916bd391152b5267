//! Tables of turns and faults, and a naive reference.

use proptest::prelude::*;

use super::*;

fn issue(number: u32) -> ProbeItem {
    ProbeItem::Issue(IssueId::parse(format!("SYM-{number}")).unwrap())
}

fn run(number: i64) -> RunId {
    RunId::parse(format!("r{number}")).unwrap()
}

/// Plays a sequence: `a!` is a run of the issue `a` that hits the condition, `a` one that reaches the provider. Each
/// run begins when the one before it has ended. Returns for each failure whose fault it is.
fn faults(course: &str) -> String {
    let mut trials = Trials::default();
    let mut told = Vec::new();
    for (at, step) in (1..).zip(course.split_whitespace()) {
        let number = u32::from(step.as_bytes()[0] - b'a') + 1;
        if step.ends_with('!') {
            told.push(match trials.fail(&issue(number), at) {
                Fault::Condition => "hold".to_owned(),
                Fault::Item { witness } => format!("own:{witness}"),
            });
        } else {
            trials.reach(&issue(number), &run(at), at);
        }
    }
    told.join(" ")
}

#[test]
fn an_item_that_fails_alone_again_after_another_succeeded_is_at_fault() {
    for (course, expected) in [
        ("a!", "hold"),
        // a lone item: nothing to compare it with
        ("a! a! a!", "hold hold hold"),
        ("b a!", "hold"),
        // b succeeds in between: a fails alone
        ("a! b a!", "hold own:r2"),
        ("a! b a! a! a!", "hold own:r2 own:r2 own:r2"),
        // its own success ends the matter
        ("a! b a a!", "hold hold"),
        // an outage: another one fails after the success
        ("a! b b! a!", "hold hold hold"),
        ("a! b c! a!", "hold hold hold"),
        ("a! b! c a! b!", "hold hold own:r3 own:r3"),
        // two poisonous items: the fault of one does not speak for the other
        (
            "a! b! c a! b! a! b!",
            "hold hold own:r3 own:r3 own:r3 own:r3",
        ),
        ("a! b! a! b!", "hold hold hold hold"),
    ] {
        assert_eq!(faults(course), expected, "{course}");
    }
}

#[test]
fn a_run_that_began_before_the_failure_is_no_witness() {
    let mut trials = Trials::default();
    assert_eq!(trials.fail(&issue(1), 7), Fault::Condition);
    // It was running already.
    trials.reach(&issue(2), &run(7), 7);
    assert_eq!(trials.fail(&issue(1), 8), Fault::Condition);
    trials.reach(&issue(2), &run(9), 9);
    assert_eq!(trials.fail(&issue(1), 10), Fault::Item { witness: run(9) });
}

#[test]
fn what_was_known_before_an_outage_is_known_again_after_it() {
    let mut trials = Trials::default();
    assert_eq!(trials.fail(&issue(1), 1), Fault::Condition);
    trials.reach(&issue(2), &run(2), 2);
    trials.lift();
    // another one fails, and the probe that lifts its hold has begun when the first one fails once more
    assert_eq!(trials.fail(&issue(3), 3), Fault::Condition);
    trials.begin(&issue(4), 4);
    assert_eq!(trials.fail(&issue(1), 4), Fault::Condition);
    trials.reach(&issue(4), &run(4), 4);
    assert_eq!(
        trials.fail(&issue(1), 5),
        Fault::Condition,
        "it is not lifted yet"
    );
    trials.lift();
    assert_eq!(trials.fail(&issue(1), 6), Fault::Item { witness: run(2) });
    // this one failed only while the provider may have been out
    assert_eq!(trials.fail(&issue(3), 7), Fault::Item { witness: run(4) });
}

#[test]
fn an_item_that_only_probed_has_failed_nothing() {
    let mut trials = Trials::default();
    trials.begin(&issue(1), 3);
    trials.reach(&issue(2), &run(4), 4);
    assert_eq!(trials.fail(&issue(1), 5), Fault::Condition);
}

/// A hold that items have met: each with its number, how often under this hold, and how often in a row.
fn hold(scope: HoldScope, probes: u32, held: &[(u32, u32, u32)]) -> Hold {
    let trial = |(number, held, alone): &(u32, u32, u32)| Trial {
        item: issue(*number),
        turn: 1,
        failures: *held,
        held: *held,
        alone: *alone,
        witness: None,
        doubted: false,
    };
    Hold {
        tried: None,
        scope,
        until: Timestamp::UNIX_EPOCH,
        placed_at: Timestamp::UNIX_EPOCH,
        class: ErrorClass::ProviderError,
        reason: "500".into(),
        probes,
        canary: None,
        trials: held.iter().map(trial).collect(),
    }
}

#[test]
fn an_item_is_alone_after_five_failed_probes_that_nothing_else_shared() {
    let provider = || HoldScope::Provider("claude-cli".into());
    for (scope, probes, held, expected) in [
        (provider(), 4, vec![(1, 5, 5)], None),
        (provider(), 5, vec![(1, 6, 6)], Some("SYM-1")),
        (provider(), 9, vec![(1, 10, 10)], Some("SYM-1")),
        // another one met it meanwhile, too: it looks like an outage
        (provider(), 9, vec![(1, 9, 4), (2, 1, 0)], None),
        // that was long ago: it no longer waits, or it would have had its turn
        (provider(), 9, vec![(1, 9, 5), (2, 1, 0)], Some("SYM-1")),
        // it met an earlier hold only
        (provider(), 9, vec![(1, 10, 10), (2, 0, 0)], Some("SYM-1")),
        // most of the probes were of one that is gone
        (provider(), 9, vec![(1, 2, 2)], None),
        (provider(), 9, vec![], None),
        (HoldScope::Everything, 9, vec![(1, 10, 10)], None),
    ] {
        let hold = hold(scope.clone(), probes, &held);
        let found = lone_item(&hold).map(|trial| trial.item.to_string());
        assert_eq!(found.as_deref(), expected, "{scope} {probes} {held:?}");
    }
}

#[test]
fn a_probe_is_left_to_what_was_tried_less_recently_but_not_for_ever() {
    let at = |ms: u64| after(Timestamp::UNIX_EPOCH, ms);
    let hold = hold(HoldScope::Everything, 0, &[]);
    for (own, others, now, expected) in [
        (0, None, 0, None),
        (5, None, 0, None),
        (5, Some(5), 0, None),
        (5, Some(6), 0, None),
        (5, Some(4), 0, Some(YIELD_MS)),
        (5, Some(0), YIELD_MS - 1, Some(YIELD_MS)),
        // no one came
        (5, Some(0), YIELD_MS, None),
    ] {
        let found = yields_until(&hold, own, others, at(now));
        assert_eq!(found, expected.map(at), "{own} {others:?} {now}");
    }
    // it counts as over because the clock was set back: its end says nothing
    let mut ahead = hold;
    ahead.until = at(500);
    assert_eq!(yields_until(&ahead, 5, Some(0), at(0)), None);
}

#[test]
fn a_condition_covers_the_machine_an_account_or_a_model() {
    use ErrorClass as C;
    for (class, expected) in [
        (C::DiskFull, "everything"),
        (C::AuthFailed, "provider claude-cli"),
        (C::CreditExhausted, "provider claude-cli"),
        (C::ProviderMissing, "provider claude-cli"),
        (C::SandboxUnavailable, "provider claude-cli"),
        (C::ProviderError, "model opus of provider claude-cli"),
        (C::RateLimited, "model opus of provider claude-cli"),
        (C::UsageLimit, "model opus of provider claude-cli"),
        (C::Overloaded, "model opus of provider claude-cli"),
        (C::Network, "model opus of provider claude-cli"),
    ] {
        let scope = condition_scope(class, "claude-cli", Some("opus"));
        assert_eq!(scope.to_string(), expected, "{class}");
    }
    let model = condition_scope(C::ProviderError, "claude-cli", Some("opus"));
    let default = condition_scope(C::ProviderError, "claude-cli", None);
    let account = condition_scope(C::AuthFailed, "claude-cli", Some("opus"));
    for (scope, provider, asked, expected) in [
        (&model, "claude-cli", Some("opus"), true),
        (&model, "claude-cli", Some("haiku"), false),
        (&model, "claude-cli", None, false),
        (&model, "codex-cli", Some("opus"), false),
        (&default, "claude-cli", None, true),
        (&default, "claude-cli", Some("opus"), false),
        (&account, "claude-cli", Some("haiku"), true),
        (&account, "claude-cli", None, true),
        (&account, "codex-cli", None, false),
        (&HoldScope::Everything, "claude-cli", None, false),
    ] {
        assert_eq!(
            scope.covers_model(provider, asked),
            expected,
            "{scope}: {provider} {asked:?}"
        );
    }
}

#[test]
fn a_condition_of_an_account_says_what_to_type() {
    use ErrorClass as C;
    let login = Some("codex login");
    for (class, provider, login, expected) in [
        (
            C::AuthFailed,
            "claude-cli",
            Some("claude auth login"),
            Some(
                "log in with `claude auth login`, then run `symphony resume` to try again at once",
            ),
        ),
        (
            C::AuthFailed,
            "codex-cli",
            login,
            Some("log in with `codex login`, then run `symphony resume` to try again at once"),
        ),
        (
            C::AuthFailed,
            "command",
            None,
            Some(
                "renew the credentials of provider command, then run `symphony resume` to try again at once",
            ),
        ),
        (
            C::CreditExhausted,
            "codex-cli",
            login,
            Some(
                "add credit to the account, or log in to another one with `codex login`; then run `symphony resume` \
                 to try again at once",
            ),
        ),
        (C::ProviderError, "codex-cli", login, None),
        (C::UsageLimit, "codex-cli", login, None),
    ] {
        let found = account_advice(class, provider, login);
        assert_eq!(found.as_deref(), expected, "{class} {provider}");
        assert_eq!(class.is_of_account(), expected.is_some(), "{class}");
    }
}

#[derive(Debug, Clone)]
enum Turn {
    Fails(u32),
    Reaches(u32),
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = (1_u32..5, any::<bool>()).prop_map(|(item, fails)| {
        if fails {
            Turn::Fails(item)
        } else {
            Turn::Reaches(item)
        }
    });
    proptest::collection::vec(turn, 0..60)
}

proptest! {
    /// Its naive reference: an item is at fault when it failed before, since it last reached the provider, and the last
    /// word on the condition that another item had was a success after the first of those failures.
    #[test]
    fn fault_is_what_the_whole_course_says(turns in turns()) {
        let mut trials = Trials::default();
        let mut holds: Vec<(i64, u32)> = Vec::new();
        let mut reached: Vec<(i64, u32)> = Vec::new();
        let mut failed: Vec<(i64, u32)> = Vec::new();
        for (at, turn) in (1..).zip(turns) {
            match turn {
                Turn::Reaches(item) => {
                    trials.reach(&issue(item), &run(at), at);
                    reached.push((at, item));
                }
                Turn::Fails(item) => {
                    let own_success = reached.iter().rev().find(|(_, i)| *i == item).map_or(0, |(at, _)| *at);
                    let first = failed.iter().find(|(at, i)| *i == item && *at > own_success).map(|(at, _)| *at);
                    let others_hold = holds.iter().rev().find(|(_, i)| *i != item).map_or(0, |(at, _)| *at);
                    let witnessed = first.is_some_and(|first| {
                        reached.iter().any(|(at, i)| *i != item && *at > first && *at > others_hold)
                    });
                    let fault = trials.fail(&issue(item), at);
                    prop_assert_eq!(matches!(fault, Fault::Item { .. }), witnessed, "{} at {}", item, at);
                    failed.push((at, item));
                    if fault == Fault::Condition {
                        holds.push((at, item));
                    }
                }
            }
        }
    }
}
