//! Whether a worker rests: what it took could not be prepared on its host, so the next run would most likely fail as well.
//!
//! A host that cannot reach its hub ends a run within seconds, and would so go through a whole queue. It takes nothing for a while instead,
//! then asks the hub, and once that answers it tries one run alone.

use super::{BootMs, Host};
use crate::backoff::Backoff;

/// The first rest, in milliseconds: a link that flaps is back by then.
pub const REST_MS_FIRST: u64 = 10_000;
/// The longest rest, in milliseconds: asking a hub is cheap, and a repaired host should not be idle for long.
pub const REST_MS_MAX: u64 = 5 * 60 * 1000;
/// How far a rest may stray, in percent: hosts that lost a hub together must not ask it together.
const JITTER_PERCENT: u8 = 20;

/// What a worker has found out about its host, and what it does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rest {
    /// It takes runs.
    #[default]
    None,
    /// It takes nothing until a moment.
    Until {
        /// How often in a row its host failed.
        failures: u32,
        /// The end of the rest.
        until: BootMs,
    },
    /// It takes nothing until the hub has answered.
    Asking {
        /// How often in a row its host failed.
        failures: u32,
    },
    /// The hub answers: it takes one run.
    MayTry {
        /// How often in a row its host failed.
        failures: u32,
    },
    /// It takes nothing until that run shows whether runs can be prepared again.
    Trying {
        /// How often in a row its host failed.
        failures: u32,
    },
}

/// What a worker finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestEvent {
    /// A run could not be prepared.
    Unprepared,
    /// A run was prepared: its agent started, or a command of its gates.
    Prepared,
    /// A run ended before it showed anything, such as one that a person ended.
    Inconclusive,
    /// A run was taken.
    Took,
    /// The hub answered, or its project is no matter of this worker any more.
    HubAnswered,
    /// The hub did not answer.
    HubSilent,
    /// Time has passed.
    Look,
}

/// How many runs a worker may take now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayTake {
    /// As many as it has slots.
    Any,
    /// One.
    One,
    /// None.
    Nothing,
}

impl Rest {
    /// Returns what a worker begins with that starts again on a host of which its predecessor had shown `failures`: one run is tried
    /// alone. The host may have been repaired meanwhile, so it does not rest first.
    pub const fn again(failures: u32) -> Self {
        match failures {
            0 => Self::None,
            failures => Self::MayTry { failures },
        }
    }

    /// Returns what follows from an event. `host` spreads the rests of several hosts, and `now` is the host's own clock.
    ///
    /// Runs that were taken before a rest began say nothing new when they fail as well: `Unprepared` and `Prepared` count only while runs are
    /// taken freely, and for the run of the trial.
    #[must_use]
    pub fn after(self, event: RestEvent, host: &Host, now: BootMs) -> Self {
        use RestEvent as E;
        match (self, event) {
            (Self::None, E::Unprepared) => Self::begun(1, host, now),
            (Self::Trying { failures }, E::Unprepared)
            | (Self::Asking { failures }, E::HubSilent) => {
                Self::begun(failures.saturating_add(1), host, now)
            }
            (Self::Until { failures, until }, E::Look) if now >= until => Self::Asking { failures },
            (Self::Asking { failures }, E::HubAnswered)
            | (Self::Trying { failures }, E::Inconclusive) => Self::MayTry { failures },
            (Self::MayTry { failures }, E::Took) => Self::Trying { failures },
            (Self::Trying { .. }, E::Prepared) => Self::None,
            (same, _) => same,
        }
    }

    fn begun(failures: u32, host: &Host, now: BootMs) -> Self {
        let backoff = Backoff {
            first_ms: REST_MS_FIRST,
            max_ms: REST_MS_MAX,
            jitter_percent: JITTER_PERCENT,
        };
        let rest = backoff.delay_ms(host.as_str(), failures);
        Self::Until {
            failures,
            until: BootMs::new(now.get().saturating_add(rest)),
        }
    }

    /// Returns how many runs may be taken.
    pub const fn may_take(self) -> MayTake {
        match self {
            Self::None => MayTake::Any,
            Self::MayTry { .. } => MayTake::One,
            Self::Until { .. } | Self::Asking { .. } | Self::Trying { .. } => MayTake::Nothing,
        }
    }

    /// Returns how often in a row the host failed, as long as it takes nothing for that; 0 when it takes runs, or tries one.
    ///
    /// A worker that tries counts as one that takes: if it did not, the control would have nothing wait for it, and it would have nothing to try.
    pub const fn failures(self) -> u32 {
        match self {
            Self::Until { failures, .. } | Self::Asking { failures } => failures,
            Self::None | Self::MayTry { .. } | Self::Trying { .. } => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        Host::parse("build-7").unwrap()
    }

    #[test]
    fn a_worker_that_starts_again_on_a_host_that_failed_tries_one_run() {
        assert_eq!(Rest::again(0).may_take(), MayTake::Any);
        let rest = Rest::again(3);
        assert_eq!((rest.may_take(), rest.failures()), (MayTake::One, 0));
        let now = BootMs::new(0);
        let rest = rest.after(RestEvent::Took, &host(), now);
        assert_eq!(rest.may_take(), MayTake::Nothing);
        let rest = rest.after(RestEvent::Unprepared, &host(), now);
        assert_eq!(rest.failures(), 4);
    }

    #[test]
    fn each_event_leads_to_what_follows_from_it() {
        use RestEvent::{HubAnswered, HubSilent, Inconclusive, Look, Prepared, Took, Unprepared};
        let (host, now) = (host(), BootMs::new(1_000_000));
        let rests = |failures| Rest::begun(failures, &host, now);
        let over = Rest::Until {
            failures: 2,
            until: now,
        };
        let asking = Rest::Asking { failures: 2 };
        let may_try = Rest::MayTry { failures: 2 };
        let trying = Rest::Trying { failures: 2 };
        let all = [
            Unprepared,
            Prepared,
            Inconclusive,
            Took,
            HubAnswered,
            HubSilent,
            Look,
        ];
        for (state, changes) in [
            (Rest::None, vec![(Unprepared, rests(1))]),
            (rests(2), vec![]),
            (over, vec![(Look, asking)]),
            (asking, vec![(HubAnswered, may_try), (HubSilent, rests(3))]),
            (may_try, vec![(Took, trying)]),
            (
                trying,
                vec![
                    (Unprepared, rests(3)),
                    (Prepared, Rest::None),
                    (Inconclusive, may_try),
                ],
            ),
        ] {
            for event in all {
                let change = changes.iter().find(|(on, _)| *on == event);
                let expected = change.map_or(state, |(_, next)| *next);
                assert_eq!(
                    state.after(event, &host, now),
                    expected,
                    "{state:?} {event:?}"
                );
            }
        }
    }

    #[test]
    fn a_cut_host_takes_one_batch_and_then_no_run_at_all() {
        let host = host();
        let (mut rest, mut now, mut rests) = (Rest::None, 0_u64, Vec::new());
        // sixteen runs that were taken together fail together
        for _ in 0..16 {
            rest = rest.after(RestEvent::Unprepared, &host, BootMs::new(now));
        }
        for failures in 1..=40 {
            assert_eq!(rest.failures(), failures);
            let Rest::Until { until, .. } = rest else {
                panic!("{rest:?}");
            };
            rests.push(until.get() - now);
            assert_eq!(rest.may_take(), MayTake::Nothing);
            now = until.get();
            rest = rest.after(RestEvent::Look, &host, BootMs::new(now));
            assert_eq!(rest.may_take(), MayTake::Nothing);
            rest = rest.after(RestEvent::HubSilent, &host, BootMs::new(now));
        }
        assert!(rests[0] >= REST_MS_FIRST * 8 / 10, "{rests:?}");
        assert!(rests[2] > rests[0], "{rests:?}");
        assert!(rests.iter().all(|rest| *rest <= REST_MS_MAX), "{rests:?}");
        assert!(rests[30] >= REST_MS_MAX * 8 / 10, "{rests:?}");
    }

    #[test]
    fn a_hub_that_answers_gives_one_run_and_then_all() {
        let (host, now) = (host(), BootMs::new(5));
        let mut rest = Rest::Asking { failures: 3 };
        for (event, may_take, failures) in [
            (RestEvent::HubAnswered, MayTake::One, 0),
            (RestEvent::Took, MayTake::Nothing, 0),
            (RestEvent::Inconclusive, MayTake::One, 0),
            (RestEvent::Took, MayTake::Nothing, 0),
            (RestEvent::Prepared, MayTake::Any, 0),
        ] {
            rest = rest.after(event, &host, now);
            assert_eq!(
                (rest.may_take(), rest.failures()),
                (may_take, failures),
                "{event:?}"
            );
        }
    }

    #[test]
    fn hosts_that_fail_together_do_not_ask_together() {
        let rest = |name| Rest::begun(4, &Host::parse(name).unwrap(), BootMs::new(0));
        assert_ne!(rest("build-7"), rest("build-8"));
    }
}
