//! What git's errors mean for a look at a forge, and what is put aside after a fault.

use symphony_core::Timestamp;
use symphony_store::{Context, ForgeRecord, Store, TrackerHold};
use symphony_tracker::fault::{Fault, GitFault};
use symphony_workspace::{NoAnswer, WorkspaceError};

use crate::error::RunnerError;
use crate::outreach::stop::Stop;
use crate::tracker::hold_after;

/// A remote that does not answer a push or a fetch is a fault of the forge; anything else is git's.
impl From<WorkspaceError> for Stop {
    fn from(error: WorkspaceError) -> Self {
        match &error {
            WorkspaceError::RemoteSilent { why, .. } => Self::Fault(fault_of(*why, &error)),
            WorkspaceError::NoRemote { .. } => Self::Fault(no_remote(&error)),
            _ => Self::Error(error.into()),
        }
    }
}

fn fault_of(why: NoAnswer, error: &WorkspaceError) -> Fault {
    let detail = error.to_string();
    let why = match why {
        NoAnswer::Credentials => GitFault::Login,
        NoAnswer::Trust => GitFault::Trust,
        NoAnswer::Missing => GitFault::Missing,
        NoAnswer::Unreachable => return Fault::Unreachable { detail },
    };
    Fault::Git { why, detail }
}

/// A remote that the repository does not have: the configuration names another one, or `git remote add` makes it.
pub(super) fn no_remote(error: &WorkspaceError) -> Fault {
    Fault::Misconfigured {
        detail: format!("{error}; run `symphony config set forge.remote NAME` to use one of them"),
    }
}

/// Returns who writes what came from a forge, now.
pub(super) fn as_forge() -> Context {
    Context::tracker(None, Timestamp::now())
}

/// Puts a forge aside.
pub(super) fn hold_forge(
    store: &mut Store,
    record: &ForgeRecord,
    fault: Fault,
) -> Result<TrackerHold, RunnerError> {
    let now = Timestamp::now();
    let tries = record.tries.saturating_add(1);
    let hold = hold_after(fault, record.hold.as_ref(), tries, &record.place, now);
    store.hold_forge(&Context::tracker(None, now), &record.project, &hold, tries)?;
    Ok(hold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_git_from_a_remote_is_not_the_token() {
        for (why, begin) in [
            (NoAnswer::Credentials, "git cannot sign in at the remote: "),
            (NoAnswer::Trust, "git does not trust the server"),
            (NoAnswer::Missing, "git does not find the repository"),
            (NoAnswer::Unreachable, "there is no answer: "),
        ] {
            let error = WorkspaceError::RemoteSilent {
                name: "origin".to_owned(),
                call: "git push".to_owned(),
                why,
                detail: "fatal: no".to_owned(),
            };
            let Stop::Fault(fault) = Stop::from(error) else {
                panic!("a remote that is silent is a fault of the forge");
            };
            let said = fault.to_string();
            assert!(said.starts_with(begin), "{said}");
            assert!(
                said.contains("`git push` with the remote `origin`"),
                "{said}"
            );
            assert!(!said.contains("token"), "{said}");
        }
    }
}
