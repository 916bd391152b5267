//! When to ask a tracker again, and when not to.

use symphony_core::Timestamp;
use symphony_core::backoff::Backoff;
use symphony_core::config::Millis;

use crate::fault::{Fault, GitFault};

/// How long a tracker is held whose token or place is refused, before it is asked again: a person has to act, and may do so without
/// a word to Symphony.
const HOLD_MS: u64 = 15 * 60_000;
/// How long to wait for a rate limit that does not say until when: GitHub asks for at least a minute.
const RATE_LIMIT_MS: u64 = 60_000;
/// Longest wait for a rate limit: GitHub's and Linear's windows are an hour, and a wrong clock must not hold a tracker for days.
const RATE_LIMIT_MAX_MS: u64 = 65 * 60_000;
/// How long retries wait when a tracker fails or cannot be reached.
const BACKOFF: Backoff = Backoff {
    first_ms: 5_000,
    max_ms: 30 * 60_000,
    jitter_percent: 20,
};
/// Most tries of one change whose answer cannot be read: it may have been applied, and will not be read the next time either.
const UNREADABLE_TRIES_MAX: u32 = 8;

/// What a request was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// The tracker as a whole: a check, or a look at what changed.
    Look,
    /// One change, or one issue; it is not known whether the tracker's place is still there.
    Change,
    /// One change, or one issue, after the tracker's place has answered.
    ChangeInKnownPlace,
}

/// What to do after a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Ask the tracker nothing until then, or until a person asks for a check.
    HoldUntil {
        /// When to try again.
        until: Timestamp,
        /// Why, for `tracker status` and the inbox.
        reason: String,
    },
    /// Ask the tracker nothing until then. This is not a failure, and no try.
    WaitUntil {
        /// When its limit ends.
        until: Timestamp,
    },
    /// Try again then; it counts as a try.
    RetryAt {
        /// When.
        at: Timestamp,
    },
    /// Check whether the place answers, and decide again with that answer.
    CheckPlace,
    /// Give up this change only.
    GiveUp {
        /// Why, for `tracker status` and the inbox.
        reason: String,
    },
}

/// Decides what to do after a fault. `tries` counts the tries of this request, the failed one included; `key` keeps trackers that
/// fail together from coming back together.
pub fn after_fault(fault: &Fault, request: Request, tries: u32, key: &str, now: Timestamp) -> Next {
    let reason = fault.to_string();
    let hold = |reason| Next::HoldUntil {
        until: now.saturating_add_ms(HOLD_MS),
        reason,
    };
    let retry = || Next::RetryAt {
        at: now.saturating_add_ms(BACKOFF.delay_ms(key, tries.max(1))),
    };
    match (fault, request) {
        (
            Fault::NoToken { .. }
            | Fault::Misconfigured { .. }
            | Fault::Moved { .. }
            | Fault::Unauthorised { .. }
            | Fault::Forbidden { .. }
            | Fault::ReadOnly { .. }
            | Fault::Git {
                why: GitFault::Login | GitFault::Trust,
                ..
            },
            _,
        )
        // a look that is refused is a defect of ours, or a new API: asking again at once would not help
        | (Fault::NotFound { .. } | Fault::Git { .. } | Fault::Refused { .. }, Request::Look) => {
            hold(reason)
        }
        (Fault::NotFound { .. } | Fault::Git { .. }, Request::Change) => Next::CheckPlace,
        (Fault::NotFound { .. } | Fault::Git { .. }, Request::ChangeInKnownPlace)
        | (Fault::Refused { .. }, Request::Change | Request::ChangeInKnownPlace) => {
            Next::GiveUp { reason }
        }
        (Fault::RateLimited { until }, _) => Next::WaitUntil {
            until: until
                .filter(|until| *until > now)
                .unwrap_or_else(|| now.saturating_add_ms(RATE_LIMIT_MS))
                .min(now.saturating_add_ms(RATE_LIMIT_MAX_MS)),
        },
        (Fault::Unreadable { .. }, Request::Change | Request::ChangeInKnownPlace)
            if tries >= UNREADABLE_TRIES_MAX =>
        {
            Next::GiveUp { reason }
        }
        (
            Fault::Unreachable { .. }
            | Fault::Failed { .. }
            | Fault::Unreadable { .. }
            | Fault::Here { .. },
            _,
        ) => retry(),
    }
}

/// Returns when a tracker is looked at next: `poll` after the last look, and not during a hold. A last look in the future, after the
/// clock was set back, counts as one now.
pub fn next_look(
    last: Option<Timestamp>,
    poll: Millis,
    hold: Option<Timestamp>,
    now: Timestamp,
) -> Timestamp {
    let due = last.map_or(now, |last| last.min(now).saturating_add_ms(poll.get()));
    hold.map_or(due, |hold| due.max(hold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn detail() -> String {
        "detail".to_owned()
    }

    #[test]
    fn each_fault_has_its_consequence() {
        let unauthorised = Fault::Unauthorised { detail: detail() };
        let misconfigured = Fault::Misconfigured { detail: detail() };
        let git = |why| Fault::Git {
            why,
            detail: detail(),
        };
        let (login, no_branch) = (git(GitFault::Login), git(GitFault::Missing));
        let forbidden = Fault::Forbidden {
            action: "write comments".into(),
            detail: detail(),
        };
        let not_found = Fault::NotFound {
            what: "issue 1".into(),
        };
        let refused = Fault::Refused { detail: detail() };
        let unreadable = Fault::Unreadable { detail: detail() };
        let limited = |second: Option<i64>| Fault::RateLimited {
            until: second.map(at),
        };
        let failed = Fault::Failed {
            status: 502,
            detail: detail(),
        };
        let hold = |fault: &Fault| Next::HoldUntil {
            until: at(900),
            reason: fault.to_string(),
        };
        let wait = |second| Next::WaitUntil { until: at(second) };
        let give_up = |fault: &Fault| Next::GiveUp {
            reason: fault.to_string(),
        };
        for (fault, request, tries, expected) in [
            (&unauthorised, Request::Change, 1, hold(&unauthorised)),
            (&misconfigured, Request::Look, 1, hold(&misconfigured)),
            (&login, Request::ChangeInKnownPlace, 1, hold(&login)),
            (&no_branch, Request::Look, 1, hold(&no_branch)),
            (&no_branch, Request::Change, 1, Next::CheckPlace),
            (&forbidden, Request::ChangeInKnownPlace, 1, hold(&forbidden)),
            (&not_found, Request::Look, 1, hold(&not_found)),
            (&not_found, Request::Change, 1, Next::CheckPlace),
            (
                &not_found,
                Request::ChangeInKnownPlace,
                1,
                give_up(&not_found),
            ),
            (&refused, Request::Change, 1, give_up(&refused)),
            (&refused, Request::Look, 1, hold(&refused)),
            (&limited(Some(40)), Request::Look, 1, wait(40)),
            (&limited(Some(-40)), Request::Look, 1, wait(60)),
            (&limited(None), Request::Change, 9, wait(60)),
            (&limited(Some(1_000_000)), Request::Change, 9, wait(3_900)),
            (&unreadable, Request::Change, 8, give_up(&unreadable)),
        ] {
            assert_eq!(
                after_fault(fault, request, tries, "web", at(0)),
                expected,
                "{fault:?}"
            );
        }
        for (fault, request, tries, seconds) in [
            (&failed, Request::Change, 1, 4..=6),
            (&failed, Request::Look, 3, 16..=24),
            (&failed, Request::Change, 1_000, 1_440..=1_800),
            (&Fault::Here { detail: detail() }, Request::Look, 1, 4..=6),
            (&unreadable, Request::Look, 1_000, 1_440..=1_800),
            (&unreadable, Request::Change, 2, 8..=12),
            (&failed, Request::Change, 0, 4..=6),
        ] {
            let Next::RetryAt { at: then } = after_fault(fault, request, tries, "web", at(0))
            else {
                panic!("{fault:?} is tried again");
            };
            let waited = then.duration_since(at(0)).as_secs();
            assert!(seconds.contains(&waited), "{fault:?} {tries}: {waited}");
        }
    }

    #[test]
    fn a_tracker_is_looked_at_when_it_is_due_and_not_held() {
        let poll = Millis::new(60_000);
        for (last, hold, expected) in [
            (None, None, 100),
            (Some(50), None, 110),
            (Some(50), Some(105), 110),
            (Some(50), Some(500), 500),
            (None, Some(500), 500),
            (Some(9_999), None, 160),
        ] {
            let next = next_look(last.map(at), poll, hold.map(at), at(100));
            assert_eq!(next, at(expected), "{last:?} {hold:?}");
        }
    }
}
