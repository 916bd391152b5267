//! What follows from the end of a worker, as a function of values.

use symphony_store::{ServiceEnding, ServiceTask};

use super::order::WorkEnd;

/// What follows from the end of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Follow {
    /// The ticket is looked at like any other.
    Release,
    /// The ticket is looked at again shortly, because it may still be open.
    Continue,
    /// The ticket has another attempt, after a wait.
    Fail(String),
    /// First the hook after the attempt runs; the attempt has failed.
    AfterRun(String),
    /// The workspace is removed.
    Remove,
}

/// The end of a worker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended<'a> {
    /// What it did.
    pub(crate) task: ServiceTask,
    /// Why it was asked to end.
    pub(crate) ending: Option<ServiceEnding>,
    /// How it says that it ended; absent when it died.
    pub(crate) end: Option<&'a WorkEnd>,
    /// Why the attempt before it failed.
    pub(crate) error: Option<&'a str>,
    /// Whether there is a hook after attempts.
    pub(crate) has_after_run: bool,
}

/// Decides what follows.
pub(crate) fn follow(ended: Ended<'_>) -> Follow {
    match ended.task {
        ServiceTask::Remove => Follow::Release,
        ServiceTask::AfterRun => Follow::Fail(ended.error.unwrap_or(DIED).to_owned()),
        ServiceTask::Attempt => follow_attempt(ended),
    }
}

/// The error of an attempt whose worker died.
const DIED: &str = "the worker died";
/// The error of an attempt whose agent was silent for too long.
const STALLED: &str = "stalled: the agent was silent for too long";

fn follow_attempt(ended: Ended<'_>) -> Follow {
    match ended.ending {
        Some(ServiceEnding::Clean) => return Follow::Remove,
        Some(ServiceEnding::Stop | ServiceEnding::Quit) => return Follow::Release,
        Some(ServiceEnding::Stall) | None => {}
    }
    let is_stalled = ended.ending.is_some();
    match ended.end {
        // it was done when the order came
        Some(WorkEnd::Completed) => Follow::Continue,
        Some(WorkEnd::Failed { .. } | WorkEnd::Stopped) if is_stalled => {
            Follow::Fail(STALLED.to_owned())
        }
        Some(WorkEnd::Failed { class, error }) if error.starts_with(class.as_str()) => {
            Follow::Fail(error.clone())
        }
        Some(WorkEnd::Failed { class, error }) => Follow::Fail(format!("{class}: {error}")),
        Some(WorkEnd::Stopped) => Follow::Fail("the worker was stopped from outside".to_owned()),
        None => {
            let error = if is_stalled { STALLED } else { DIED }.to_owned();
            // a worker that died could not run its hook
            if ended.has_after_run {
                Follow::AfterRun(error)
            } else {
                Follow::Fail(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ServiceEnding::{Clean, Quit, Stall, Stop};

    #[test]
    fn every_end_of_an_attempt_has_one_consequence() {
        let failed = WorkEnd::failed("turn_failed", "no quota");
        let fail = |text: &str| Follow::Fail(text.to_owned());
        let table = [
            (None, Some(&WorkEnd::Completed), Follow::Continue),
            (None, Some(&failed), fail("turn_failed: no quota")),
            (
                None,
                Some(&WorkEnd::Stopped),
                fail("the worker was stopped from outside"),
            ),
            (None, None, Follow::AfterRun(DIED.to_owned())),
            (Some(Stall), Some(&WorkEnd::Completed), Follow::Continue),
            (Some(Stall), Some(&WorkEnd::Stopped), fail(STALLED)),
            (Some(Stall), Some(&failed), fail(STALLED)),
            (Some(Stall), None, Follow::AfterRun(STALLED.to_owned())),
            (Some(Stop), Some(&WorkEnd::Stopped), Follow::Release),
            (Some(Stop), Some(&WorkEnd::Completed), Follow::Release),
            (Some(Stop), None, Follow::Release),
            (Some(Quit), Some(&WorkEnd::Stopped), Follow::Release),
            (Some(Clean), Some(&WorkEnd::Stopped), Follow::Remove),
            (Some(Clean), Some(&failed), Follow::Remove),
            (Some(Clean), None, Follow::Remove),
        ];
        for (ending, end, expected) in table {
            let ended = Ended {
                task: ServiceTask::Attempt,
                ending,
                end,
                error: None,
                has_after_run: true,
            };
            assert_eq!(follow(ended), expected, "{ending:?} {end:?}");
        }
    }

    #[test]
    fn without_a_hook_a_dead_worker_is_a_failure_at_once() {
        let ended = Ended {
            task: ServiceTask::Attempt,
            ending: None,
            end: None,
            error: None,
            has_after_run: false,
        };
        assert_eq!(follow(ended), Follow::Fail(DIED.to_owned()));
    }

    #[test]
    fn the_hook_of_a_dead_worker_keeps_its_error_and_a_removal_releases() {
        for end in [None, Some(&WorkEnd::Completed)] {
            let ended = Ended {
                task: ServiceTask::AfterRun,
                ending: None,
                end,
                error: Some("x"),
                has_after_run: true,
            };
            assert_eq!(follow(ended), Follow::Fail("x".to_owned()));
            let task = ServiceTask::Remove;
            assert_eq!(follow(Ended { task, ..ended }), Follow::Release);
        }
    }
}
