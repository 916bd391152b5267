//! Lock files of git: which ones a dead git left, and which ones someone still needs.
//!
//! Git creates `NAME.lock` before it changes `NAME`, and a git that is killed leaves it: every later change of `NAME`
//! fails until someone removes it. The finder of such a file only collects facts; [`judge_lock`] decides on them.

use std::fmt;
use std::time::Duration;

use crate::Timestamp;

/// How long a lock that a person's git may hold is left alone. Git itself needs seconds at most; a person's
/// `git commit -a` holds the lock of the index while its editor is open.
pub const SHARED_LOCK_AGE_MIN: Duration = Duration::from_mins(10);

/// Who takes a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockOwner {
    /// Only the runs of one issue or phase, and Symphony's work on them: locks in their worktree's git folder, of their
    /// branch, of rescue refs.
    Run,
    /// A person's git as well: the packed refs, the configuration, the base branch, the index of the main checkout.
    Shared,
}

/// What is known of a lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockFacts {
    /// Who takes it.
    pub owner: LockOwner,
    /// When the file was made.
    pub created: Timestamp,
    /// When it was last written.
    pub written: Timestamp,
    /// The time.
    pub now: Timestamp,
    /// How many processes have it open.
    pub open_by: usize,
    /// How many git processes work in the checkout: one that waits for an editor or a hook has closed its lock.
    pub git_processes: usize,
    /// When the run, or the merge, began during which the lock appeared; `None` if no one noticed that.
    pub run_started: Option<Timestamp>,
}

/// What is done about a lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockVerdict {
    /// A dead git left it: it is removed.
    Remove,
    /// It stays.
    Keep(KeepReason),
}

/// Why a lock file stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepReason {
    /// Processes have it open.
    Open,
    /// Git is running in the checkout.
    GitAtWork,
    /// It is a person's: no run of Symphony was active when it appeared.
    NotOfARun,
    /// It may still be needed for this long.
    Young(Duration),
}

/// Decides whether a lock file is removed.
pub fn judge_lock(facts: &LockFacts) -> LockVerdict {
    if facts.open_by > 0 {
        return LockVerdict::Keep(KeepReason::Open);
    }
    if facts.git_processes > 0 {
        return LockVerdict::Keep(KeepReason::GitAtWork);
    }
    if facts.owner == LockOwner::Run {
        return LockVerdict::Remove;
    }
    if facts.run_started.is_none_or(|begun| facts.created < begun) {
        return LockVerdict::Keep(KeepReason::NotOfARun);
    }
    let left = SHARED_LOCK_AGE_MIN.saturating_sub(facts.age());
    if left.is_zero() {
        LockVerdict::Remove
    } else {
        LockVerdict::Keep(KeepReason::Young(left))
    }
}

impl LockFacts {
    /// Returns how long ago the lock was last written; zero if the clock went back since.
    pub fn age(&self) -> Duration {
        Duration::try_from(self.now.duration_since(self.written)).unwrap_or_default()
    }
}

impl fmt::Display for KeepReason {
    /// Writes what to do about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open | Self::GitAtWork => f.write_str("wait until that git command has ended"),
            Self::NotOfARun => f.write_str(
                "it did not appear during a run of Symphony: end the git command that holds it, or remove it if there \
                 is none",
            ),
            Self::Young(left) => write!(
                f,
                "Symphony removes it in {} min unless git uses it: wait, or remove it if no git command is running",
                left.as_secs().div_ceil(60)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    /// A lock that appeared 60 s into a run, looked at this many seconds later.
    fn facts(owner: LockOwner, later: i64) -> LockFacts {
        LockFacts {
            owner,
            created: at(60),
            written: at(60),
            now: at(60 + later),
            open_by: 0,
            git_processes: 0,
            run_started: Some(at(0)),
        }
    }

    #[test]
    fn only_what_a_dead_git_left_is_removed() {
        use KeepReason::{GitAtWork, NotOfARun, Open, Young};
        use LockOwner::{Run, Shared};
        use LockVerdict::{Keep, Remove};
        let young = |seconds| Keep(Young(Duration::from_secs(seconds)));
        let table = [
            (facts(Run, 0), Remove),
            (facts(Run, 9_999), Remove),
            // one that an earlier run left
            (
                LockFacts {
                    run_started: None,
                    ..facts(Run, 0)
                },
                Remove,
            ),
            (
                LockFacts {
                    open_by: 1,
                    ..facts(Run, 9_999)
                },
                Keep(Open),
            ),
            (
                LockFacts {
                    git_processes: 1,
                    ..facts(Run, 9_999)
                },
                Keep(GitAtWork),
            ),
            (facts(Shared, 0), young(600)),
            (facts(Shared, 599), young(1)),
            (facts(Shared, 600), Remove),
            (
                LockFacts {
                    open_by: 1,
                    ..facts(Shared, 9_999)
                },
                Keep(Open),
            ),
            (
                LockFacts {
                    git_processes: 2,
                    ..facts(Shared, 9_999)
                },
                Keep(GitAtWork),
            ),
            (
                LockFacts {
                    run_started: None,
                    ..facts(Shared, 9_999)
                },
                Keep(NotOfARun),
            ),
            (
                LockFacts {
                    run_started: Some(at(61)),
                    ..facts(Shared, 9_999)
                },
                Keep(NotOfARun),
            ),
            (
                LockFacts {
                    run_started: Some(at(60)),
                    ..facts(Shared, 9_999)
                },
                Remove,
            ),
            // still written to, though no one was seen with it
            (
                LockFacts {
                    written: at(9_000),
                    ..facts(Shared, 9_000)
                },
                young(540),
            ),
            // the clock went back
            (facts(Shared, -9_999), young(600)),
        ];
        for (facts, expected) in table {
            assert_eq!(judge_lock(&facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn what_stays_says_what_to_do() {
        assert_eq!(
            KeepReason::Young(Duration::from_secs(61)).to_string(),
            "Symphony removes it in 2 min unless git uses it: wait, or remove it if no git command is running"
        );
    }

    proptest! {
        /// Nothing that is in use is removed, a person's lock only when all three conditions hold, and what may be
        /// removed now may be removed later.
        #[test]
        fn no_lock_in_use_is_removed(
            is_shared in any::<bool>(),
            (created, written, now, later) in (0_i64..5_000, 0_i64..5_000, 0_i64..9_000, 0_i64..9_000),
            open_by in 0_usize..2,
            git_processes in 0_usize..2,
            run_started in proptest::option::of(0_i64..5_000),
        ) {
            let owner = if is_shared { LockOwner::Shared } else { LockOwner::Run };
            let facts = LockFacts {
                owner,
                created: at(created),
                written: at(written),
                now: at(now),
                open_by,
                git_processes,
                run_started: run_started.map(at),
            };
            if judge_lock(&facts) == LockVerdict::Remove {
                prop_assert_eq!(open_by + git_processes, 0);
                if is_shared {
                    prop_assert!(run_started.is_some_and(|begun| begun <= created));
                    prop_assert!(now - written >= 600);
                }
                let then = LockFacts { now: at(now + later), ..facts };
                prop_assert_eq!(judge_lock(&then), LockVerdict::Remove);
            }
        }
    }
}
