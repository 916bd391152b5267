//! Tables of looks: what was recorded, what was seen before, when.

use super::*;

const LIMITS: WatchLimits = WatchLimits {
    grace_ms: 60,
    believed_max_ms: 5_000,
    unrecorded_ms: 300,
};

fn at(at_ms: u64) -> Moment {
    Moment {
        boot: "this".to_owned(),
        at_ms,
    }
}

fn of_another_boot(at_ms: u64) -> Moment {
    Moment {
        boot: "another".to_owned(),
        at_ms,
    }
}

/// A step that began at 1000 and may take 100.
fn record() -> StepRecord {
    StepRecord {
        pid: 42,
        start_time: 7,
        number: 3,
        step: Step::Agent,
        begun: at(1_000),
        limit_ms: 100,
    }
}

fn suspicion(record: Option<StepRecord>, since: Moment) -> Suspicion {
    Suspicion { record, since }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the tables read better with values"
)]
fn look(record: Option<StepRecord>, earlier: Option<Suspicion>, now: u64) -> Watch {
    watch(record.as_ref(), earlier.as_ref(), &at(now), &LIMITS)
}

fn suspected(record: Option<StepRecord>, since: u64) -> Watch {
    Watch::Suspect(suspicion(record, at(since)))
}

fn stuck(for_ms: u64) -> Watch {
    Watch::Stuck(Stuck {
        pid: Some(42),
        start_time: Some(7),
        step: Some(Step::Agent),
        for_ms,
    })
}

#[test]
fn one_look_past_the_limit_is_a_suspicion_and_two_some_time_apart_are_certain() {
    let seen_at = |since| Some(suspicion(Some(record()), at(since)));
    let table = [
        (None, 1_099, Watch::InTime),
        (None, 1_100, suspected(Some(record()), 1_100)),
        // eight ticks at once are one look
        (seen_at(1_100), 1_100, suspected(Some(record()), 1_100)),
        (seen_at(1_100), 1_159, suspected(Some(record()), 1_100)),
        (seen_at(1_100), 1_160, stuck(160)),
        (seen_at(1_100), 9_000, stuck(8_000)),
        // A suspicion of the future, or of another boot, does not count.
        (seen_at(1_300), 1_200, suspected(Some(record()), 1_200)),
        (
            Some(suspicion(Some(record()), of_another_boot(1_100))),
            1_160,
            suspected(Some(record()), 1_160),
        ),
    ];
    for (earlier, now, expected) in table {
        assert_eq!(
            look(Some(record()), earlier.clone(), now),
            expected,
            "{earlier:?} {now}"
        );
    }
}

#[test]
fn a_process_that_moves_is_left_alone() {
    let earlier = || Some(suspicion(Some(record()), at(1_100)));
    let next = StepRecord {
        number: 4,
        begun: at(1_150),
        ..record()
    };
    assert_eq!(look(Some(next.clone()), earlier(), 1_200), Watch::InTime);
    // the next step is late, too: that is another suspicion
    assert_eq!(
        look(Some(next.clone()), earlier(), 1_250),
        suspected(Some(next), 1_250)
    );
    // another process of the same run
    let other = StepRecord {
        start_time: 8,
        ..record()
    };
    assert_eq!(
        look(Some(other.clone()), earlier(), 1_500),
        suspected(Some(other), 1_500)
    );
}

#[test]
fn a_suspended_machine_leaves_every_step_where_it_was() {
    // asleep for a night: the clock of the record stood still, whatever the wall clock shows
    assert_eq!(look(Some(record()), None, 1_050), Watch::InTime);
    let earlier = Some(suspicion(Some(record()), at(1_100)));
    assert_eq!(
        look(Some(record()), earlier, 1_101),
        suspected(Some(record()), 1_100)
    );
}

#[test]
fn a_forged_record_gains_the_believed_maximum_at_most() {
    let forever = StepRecord {
        limit_ms: u64::MAX,
        ..record()
    };
    assert_eq!(look(Some(forever.clone()), None, 5_999), Watch::InTime);
    let earlier = Some(suspicion(Some(forever.clone()), at(6_000)));
    assert_eq!(
        look(Some(forever.clone()), None, 6_000),
        Watch::Suspect(earlier.clone().unwrap())
    );
    assert_eq!(look(Some(forever), earlier, 6_060), stuck(5_060));
}

#[test]
fn what_cannot_be_a_record_counts_from_the_first_look_that_found_it_so() {
    let future = StepRecord {
        begun: at(u64::MAX),
        ..record()
    };
    let rebooted = StepRecord {
        begun: of_another_boot(10),
        ..record()
    };
    for seen in [None, Some(future), Some(rebooted)] {
        let first = suspected(None, 1_000);
        assert_eq!(look(seen.clone(), None, 1_000), first, "{seen:?}");
        let earlier = || Some(suspicion(None, at(1_000)));
        assert_eq!(look(seen.clone(), earlier(), 1_359), first, "{seen:?}");
        let certain = Watch::Stuck(Stuck {
            pid: None,
            start_time: None,
            step: None,
            for_ms: 360,
        });
        assert_eq!(look(seen.clone(), earlier(), 1_360), certain, "{seen:?}");
    }
    // a record that appears is progress
    let earlier = Some(suspicion(None, at(1_000)));
    assert_eq!(look(Some(record()), earlier, 1_099), Watch::InTime);
}

#[test]
fn a_step_past_its_limit_can_be_shown_after_one_look() {
    assert_eq!(overdue(&record(), &at(1_099), &LIMITS), None);
    assert_eq!(overdue(&record(), &at(1_400), &LIMITS), Some(400));
    assert_eq!(overdue(&record(), &at(900), &LIMITS), None);
    assert_eq!(overdue(&record(), &of_another_boot(9_000), &LIMITS), None);
}

#[test]
fn what_was_found_stuck_is_looked_at_once_more_before_it_is_ended() {
    let Watch::Stuck(found) = stuck(160) else {
        unreachable!("made above")
    };
    let unrecorded = Stuck {
        pid: None,
        start_time: None,
        step: None,
        for_ms: 360,
    };
    let next = |change: fn(&mut StepRecord)| {
        let mut record = record();
        change(&mut record);
        Some(record)
    };
    let table = [
        (&found, Some(record()), true),
        (&found, None, false),
        (&found, next(|record| record.pid = 43), false),
        // a process number that was given out again
        (&found, next(|record| record.start_time = 8), false),
        (&found, next(|record| record.step = Step::Settle), false),
        // the same step, begun again
        (&found, next(|record| record.begun = at(1_159)), false),
        (&found, next(|record| record.begun = at(9_000)), false),
        (
            &found,
            next(|record| record.begun = of_another_boot(1_000)),
            false,
        ),
        (&unrecorded, None, true),
        (&unrecorded, next(|record| record.begun = at(9_000)), true),
        // it recorded something since
        (&unrecorded, Some(record()), false),
    ];
    for (stuck, record, expected) in table {
        assert_eq!(
            stuck.is_still(record.as_ref(), &at(1_160)),
            expected,
            "{stuck:?} {record:?}"
        );
    }
}

#[test]
fn words_name_the_step_and_the_time() {
    let Watch::Stuck(mut found) = stuck(77_900) else {
        unreachable!("made above")
    };
    assert_eq!(found.words(), "did not get past the agent's work for 77 s");
    found.step = None;
    assert_eq!(found.words(), "recorded no step for 77 s");
}

proptest::proptest! {
    /// Whatever is recorded, nothing is ended that two looks, the grace apart, did not both find past its limit.
    #[test]
    fn nothing_is_stuck_without_an_earlier_look(
        begun in 0..20_000_u64, limit_ms in 0..20_000_u64, earlier in proptest::option::of(0..20_000_u64), now in 0..20_000_u64,
    ) {
        let record = StepRecord { begun: at(begun), limit_ms, ..record() };
        let earlier = earlier.map(|since| suspicion(Some(record.clone()), at(since)));
        let seen = watch(Some(&record), earlier.as_ref(), &at(now), &LIMITS);
        if let Watch::Stuck(stuck) = seen {
            let since = earlier.unwrap().since.at_ms;
            proptest::prop_assert!(since + LIMITS.grace_ms <= now);
            if stuck.step.is_some() {
                proptest::prop_assert!(begun + limit_ms.min(LIMITS.believed_max_ms) <= now);
            }
        }
    }
}
