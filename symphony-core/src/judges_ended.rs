//! Judges that ended without a verdict: when the next one is left to a person (`docs/design/0023`).

use crate::failure::ErrorClass;

/// How many judges of one pull request or delivery may end without a verdict on their own before a person is asked for
/// it: nothing changes between two of them.
pub const JUDGES_MAX: u32 = 3;

/// How the run of a judge ended that gave no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgeEnd {
    /// Why it did not succeed.
    pub class: Option<ErrorClass>,
    /// Whether its agent ended with an exit code: a signal leaves none.
    pub has_exit_code: bool,
}

impl JudgeEnd {
    /// Returns whether the run uses no attempt.
    fn uses_no_attempt(self) -> bool {
        self.class.is_some_and(ErrorClass::uses_no_attempt)
    }

    /// Returns whether a signal that Symphony did not send ended the supervisor or the agent: the machine ran out of
    /// memory, or someone killed it. Such an end says nothing about the review.
    fn was_killed(self) -> bool {
        match self.class {
            Some(ErrorClass::Crashed) => true,
            Some(ErrorClass::AgentFailed) => !self.has_exit_code,
            _ => false,
        }
    }
}

/// How many judges of one review ended without a verdict, in a row, since a person last cleared the attempts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JudgesEnded {
    /// Those that ended without a verdict on their own.
    pub by_themselves: u32,
    /// Those that were killed.
    pub killed: u32,
}

impl JudgesEnded {
    /// Counts the runs of judges, newest first. Each that used an attempt was a failure of its issue, so no more of
    /// them count than the issue has failures in a row: a person cleared the attempts after those before.
    pub fn count(ends: impl IntoIterator<Item = JudgeEnd>, failures_max: u32) -> Self {
        let failures_max = usize::try_from(failures_max).unwrap_or(usize::MAX);
        let counted = ends.into_iter().filter(|end| !end.uses_no_attempt());
        let mut ended = Self::default();
        for end in counted.take(failures_max) {
            if end.was_killed() {
                ended.killed = ended.killed.saturating_add(1);
            } else {
                ended.by_themselves = ended.by_themselves.saturating_add(1);
            }
        }
        ended
    }

    /// Returns the number of all of them.
    pub const fn total(self) -> u32 {
        self.by_themselves.saturating_add(self.killed)
    }

    /// Returns whether a person is asked instead of another judge. Killed ones have the limit of any other run: a
    /// review that ends every judge is not paid for for ever.
    pub fn are_spent(self, max_retries: u32) -> bool {
        self.by_themselves >= JUDGES_MAX.min(max_retries) || self.total() >= max_retries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(class: Option<ErrorClass>, exit_code: Option<i32>) -> JudgeEnd {
        JudgeEnd {
            class,
            has_exit_code: exit_code.is_some(),
        }
    }

    #[test]
    fn judges_that_were_killed_count_apart_from_those_that_gave_no_verdict() {
        use ErrorClass as C;
        // class, exit code, by themselves, killed
        let table = [
            (Some(C::NoOutcome), Some(0), 1, 0),
            (Some(C::PermissionDenied), Some(0), 1, 0),
            (Some(C::TimedOut), None, 1, 0),
            (Some(C::Stalled), None, 1, 0),
            (Some(C::MaxTurns), Some(1), 1, 0),
            (Some(C::AgentFailed), Some(1), 1, 0),
            (Some(C::McpUnavailable), None, 1, 0),
            (Some(C::Tampered), Some(0), 1, 0),
            (None, Some(0), 1, 0),
            (Some(C::Crashed), None, 0, 1),
            (Some(C::AgentFailed), None, 0, 1),
            (Some(C::RateLimited), Some(1), 0, 0),
            (Some(C::DiskFull), None, 0, 0),
            (Some(C::NotPrepared), None, 0, 0),
            (Some(C::Moved), None, 0, 0),
        ];
        for (class, exit_code, by_themselves, killed) in table {
            let ended = JudgesEnded::count([end(class, exit_code)], u32::MAX);
            let wanted = JudgesEnded {
                by_themselves,
                killed,
            };
            assert_eq!(ended, wanted, "{class:?}, {exit_code:?}");
        }
    }

    #[test]
    fn judges_from_before_a_person_cleared_the_attempts_do_not_count() {
        let silent = end(Some(ErrorClass::NoOutcome), Some(0));
        let killed = end(Some(ErrorClass::Crashed), None);
        let held = end(Some(ErrorClass::Network), Some(1));
        let newest_first = [killed, held, silent, silent, silent];
        let counted = |failures_max| {
            let ended = JudgesEnded::count(newest_first, failures_max);
            (ended.by_themselves, ended.killed)
        };
        assert_eq!([0, 1, 2, 9].map(counted), [(0, 0), (0, 1), (1, 1), (3, 1)]);
    }

    #[test]
    fn killed_judges_use_up_the_attempts_but_not_the_judges() {
        // by themselves, killed, max_retries, spent
        let table = [
            (0, 0, 15, false),
            (2, 0, 15, false),
            (3, 0, 15, true),
            (0, 3, 15, false),
            (2, 12, 15, false),
            (2, 13, 15, true),
            (0, 15, 15, true),
            (0, 1, 2, false),
            (1, 1, 2, true),
            (0, 1, 1, true),
        ];
        for (by_themselves, killed, max_retries, spent) in table {
            let ended = JudgesEnded {
                by_themselves,
                killed,
            };
            assert_eq!(
                ended.are_spent(max_retries),
                spent,
                "{ended:?} {max_retries}"
            );
        }
    }
}
