//! What a host knows of its run, as a value.

use std::time::Duration;

use symphony_core::failure::ErrorClass;
use symphony_core::placement::{BootMs, Held, Lease};
use symphony_core::spending::SpentSoFar;
use symphony_store::Beat;

/// Why the agent of a run must end although nothing is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    /// No beat was answered for this long, so the run may soon be given up.
    Unanswered(Duration),
    /// The run has ended in the database, or was given to another host.
    Lost,
}

impl Release {
    /// The class of the run's error.
    pub(crate) const CLASS: ErrorClass = ErrorClass::HostLost;

    /// Describes what happened.
    pub(crate) fn message(self) -> String {
        match self {
            Self::Unanswered(limit) => format!(
                "ended: the database did not answer for {} s (lease.fence_ms), so the run could have been given to another host",
                limit.as_secs()
            ),
            Self::Lost => {
                "ended: the run was given up, and no longer belongs to this host".to_owned()
            }
        }
    }
}

/// The state of a hold.
#[derive(Debug)]
pub(crate) struct View {
    pub(super) held: Held,
    pub(super) is_lost: bool,
    pub(super) is_cancelled: bool,
    pub(super) spent: SpentSoFar,
    /// Whether the supervisor is done with the run.
    pub(super) is_over: bool,
}

impl View {
    /// Begins with the answer to a first beat; `None` if the run is not this host's.
    pub(super) fn begun(sent: BootMs, beat: Beat) -> Option<Self> {
        let Beat::Live { cancel, spent } = beat else {
            return None;
        };
        Some(Self {
            held: Held::begun(sent),
            is_lost: false,
            is_cancelled: cancel,
            spent,
            is_over: false,
        })
    }

    /// Takes in the answer to a beat that was sent at a reading of the clock.
    pub(super) fn take_in(&mut self, sent: BootMs, beat: Beat) {
        match beat {
            Beat::Live { cancel, spent } => {
                self.held.answer(sent);
                // An answer that was overtaken takes no request back.
                self.is_cancelled |= cancel;
                self.spent = spent;
            }
            Beat::Lost => self.is_lost = true,
        }
    }

    /// Returns why the agent must end; `None` while it may go on.
    pub(super) fn release(&self, lease: Lease, now: BootMs) -> Option<Release> {
        if self.is_lost {
            Some(Release::Lost)
        } else if self.held.must_end(lease, now) {
            Some(Release::Unanswered(Duration::from_millis(lease.fence_ms())))
        } else {
            None
        }
    }

    /// Returns how long to wait until something may be due.
    pub(super) fn next_in(&self, lease: Lease, now: BootMs) -> Duration {
        // Never zero: a beat that is due is the business of another thread.
        Duration::from_millis(self.held.next_in_ms(lease, now).max(10))
    }
}

#[cfg(test)]
mod tests {
    use symphony_core::spending::Spent;
    use symphony_core::unit::Tokens;

    use super::*;

    fn live(cancel: bool, tokens: u64) -> Beat {
        let run = Spent {
            tokens: Tokens::new(tokens),
            ..Spent::default()
        };
        Beat::Live {
            cancel,
            spent: SpentSoFar {
                run,
                ..SpentSoFar::default()
            },
        }
    }

    fn at(ms: u64) -> BootMs {
        BootMs::new(1_000_000 + ms)
    }

    #[test]
    fn a_hold_needs_answers_and_ends_at_once_when_the_run_is_lost() {
        let lease = Lease::default();
        let mut view = View::begun(at(0), live(false, 1)).unwrap();
        assert_eq!(view.release(lease, at(59_999)), None);
        view.take_in(at(40_000), live(false, 2));
        assert_eq!(view.release(lease, at(99_999)), None);
        let limit = Duration::from_mins(1);
        assert_eq!(
            view.release(lease, at(100_000)),
            Some(Release::Unanswered(limit))
        );
        // an answer that comes late is one
        view.take_in(at(90_000), live(false, 3));
        assert_eq!(view.release(lease, at(100_000)), None);
        assert_eq!(view.spent.run.tokens, Tokens::new(3));
        view.take_in(at(100_000), Beat::Lost);
        assert_eq!(view.release(lease, at(100_000)), Some(Release::Lost));
    }

    #[test]
    fn a_request_to_end_stays_whatever_arrives_after_it() {
        let mut view = View::begun(at(0), live(false, 0)).unwrap();
        view.take_in(at(40_000), live(true, 0));
        view.take_in(at(20_000), live(false, 0));
        assert!(view.is_cancelled);
    }

    #[test]
    fn an_ending_says_why() {
        let message = Release::Unanswered(Duration::from_mins(1)).message();
        assert_eq!(
            message,
            "ended: the database did not answer for 60 s (lease.fence_ms), so the run could have been given to another host"
        );
        assert!(Release::Lost.message().starts_with("ended: "));
    }
}
