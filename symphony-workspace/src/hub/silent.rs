//! Which hubs do not answer a tick.
//!
//! All projects wait for a tick. One whose hub is cut off may hold it up once and not once for each of its results, so a hub is asked before the
//! first call of a tick, which shows soon whether it is there, and is left alone until the next tick when it is not.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::OtherHub;
use super::fetches::LOST_AFTER;
use crate::error::WorkspaceError;
use crate::remote::{NoAnswer, Remote, server_of};
use crate::repository::Repository;

/// The hubs that a tick has called, and those that did not answer it.
#[derive(Debug, Default)]
pub struct SilentHubs {
    /// The addresses of those that answered.
    answered: BTreeSet<String>,
    /// The addresses of those that did not, and the servers that kept a call waiting: one that is cut off would do so for each of its hubs.
    silent: BTreeSet<String>,
}

impl SilentHubs {
    /// Returns whether a hub did not answer.
    pub fn has(&self, address: &str) -> bool {
        self.silent.contains(address) || self.silent.contains(server_of(address))
    }

    /// Makes a call of a hub that is another repository, unless it did not answer an earlier one. Without a hub, only makes the call.
    ///
    /// # Errors
    /// When the hub does not answer or did not before, and those of the call.
    pub fn call<T>(
        &mut self,
        repository: &Repository,
        hub: Option<OtherHub<'_>>,
        call: impl FnOnce() -> Result<T, WorkspaceError>,
    ) -> Result<T, WorkspaceError> {
        let Some((address, environment)) = hub else {
            return call();
        };
        let ask = || Remote::of_tick(repository, address, environment).ask();
        let is_left_alone = self.has(address);
        self.call_of(address, is_left_alone, ask, call)
    }

    /// Does the same for what the next tick would not ask again: a hub is left alone only if it did not answer itself, and not for another one on
    /// its server.
    ///
    /// # Errors
    /// As [`SilentHubs::call`].
    pub fn call_once<T>(
        &mut self,
        repository: &Repository,
        hub: OtherHub<'_>,
        call: impl FnOnce() -> Result<T, WorkspaceError>,
    ) -> Result<T, WorkspaceError> {
        let (address, environment) = hub;
        let ask = || Remote::of_tick(repository, address, environment).ask();
        let is_left_alone = self.silent.contains(address);
        self.call_of(address, is_left_alone, ask, call)
    }

    fn call_of<T>(
        &mut self,
        address: &str,
        is_left_alone: bool,
        ask: impl Fn() -> Result<(), WorkspaceError>,
        call: impl FnOnce() -> Result<T, WorkspaceError>,
    ) -> Result<T, WorkspaceError> {
        if is_left_alone {
            return Err(left_alone(address));
        }
        if !self.answered.contains(address) {
            self.noted(address, &ask)?;
            self.answered.insert(address.to_owned());
        }
        let begun = Instant::now();
        let called = call();
        match &called {
            // Its other hubs are left alone only if the question waits in vain, too: a large result may be refused after a while.
            Err(error) if has_waited(error, begun.elapsed()) => {
                self.silent.insert(address.to_owned());
                drop(self.noted(address, &ask));
            }
            // A single ref or a damaged object fails at once as well. The hub says so by answering.
            Err(error) if is_silence(error) => drop(self.noted(address, &ask)),
            _ => {}
        }
        called
    }

    /// Asks a hub, and notes when it does not answer.
    fn noted(
        &mut self,
        address: &str,
        ask: impl Fn() -> Result<(), WorkspaceError>,
    ) -> Result<(), WorkspaceError> {
        let begun = Instant::now();
        let asked = ask();
        if let Err(error) = &asked
            && is_silence(error)
        {
            self.silent.insert(address.to_owned());
            if has_waited(error, begun.elapsed()) {
                self.silent.insert(server_of(address).to_owned());
            }
        }
        asked
    }
}

/// Returns whether an error may mean that a hub does not answer.
const fn is_silence(error: &WorkspaceError) -> bool {
    matches!(
        error,
        WorkspaceError::RemoteSilent { .. } | WorkspaceError::GitTimedOut { .. }
    )
}

/// Returns whether a call that failed after a time had waited in vain.
fn has_waited(error: &WorkspaceError, took: Duration) -> bool {
    matches!(error, WorkspaceError::GitTimedOut { .. }) || is_silence(error) && took >= LOST_AFTER
}

fn left_alone(address: &str) -> WorkspaceError {
    WorkspaceError::RemoteSilent {
        name: address.to_owned(),
        call: "git ls-remote".to_owned(),
        why: NoAnswer::Unreachable,
        detail: "not called, because this hub or another one on its server did not answer earlier in this tick; the next tick tries again"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::PathBuf;

    use super::*;

    const API: &str = "ssh://git@hub.example/srv/api.git";
    const WEB: &str = "ssh://git@hub.example/srv/web.git";
    const OTHER: &str = "ssh://git@other.example/srv/api.git";

    fn waited() -> Result<(), WorkspaceError> {
        Err(WorkspaceError::GitTimedOut {
            command: "git fetch".to_owned(),
            place: PathBuf::new(),
            seconds: 60,
        })
    }

    fn refused() -> Result<(), WorkspaceError> {
        Err(WorkspaceError::RemoteSilent {
            name: API.to_owned(),
            call: "git fetch".to_owned(),
            why: NoAnswer::Unreachable,
            detail: String::new(),
        })
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "it stands for a call that can fail"
    )]
    fn answers() -> Result<(), WorkspaceError> {
        Ok(())
    }

    fn call_of<T>(
        hubs: &mut SilentHubs,
        address: &str,
        ask: impl Fn() -> Result<(), WorkspaceError>,
        call: impl FnOnce() -> Result<T, WorkspaceError>,
    ) -> Result<T, WorkspaceError> {
        let is_left_alone = hubs.has(address);
        hubs.call_of(address, is_left_alone, ask, call)
    }

    #[test]
    fn two_results_of_a_hub_that_never_answers_cost_one_wait() {
        let mut hubs = SilentHubs::default();
        let waits = Cell::new(0);
        let wait = || {
            waits.set(waits.get() + 1);
            waited()
        };
        for address in [API, API, WEB] {
            call_of(&mut hubs, address, wait, || -> Result<(), _> {
                panic!("{address} was called")
            })
            .unwrap_err();
        }
        assert_eq!(waits.get(), 1);
        assert!(hubs.has(API) && hubs.has(WEB) && !hubs.has(OTHER));
        assert!(
            hubs.silent.contains(API) && !hubs.silent.contains(WEB),
            "it was not asked itself"
        );
        call_of(&mut hubs, OTHER, answers, answers).unwrap();
    }

    #[test]
    fn a_hub_that_hangs_after_it_answered_is_not_called_again() {
        let mut hubs = SilentHubs::default();
        call_of(&mut hubs, API, answers, answers).unwrap();
        call_of(&mut hubs, API, answers, waited).unwrap_err();
        assert!(hubs.has(API) && !hubs.has(WEB), "its server answers");
        let error = call_of(&mut hubs, API, answers, || -> Result<(), _> {
            panic!("it was called")
        })
        .unwrap_err();
        assert!(
            error.to_string().contains("earlier in this tick"),
            "{error}"
        );
    }

    #[test]
    fn a_call_that_fails_at_once_says_nothing_of_a_hub_that_answers() {
        let mut hubs = SilentHubs::default();
        call_of(&mut hubs, API, answers, refused).unwrap_err();
        assert!(!hubs.has(API));
        call_of(&mut hubs, API, answers, answers).unwrap();
        // it is away now; its server may have other hubs that are not
        call_of(&mut hubs, API, refused, refused).unwrap_err();
        assert!(hubs.has(API) && !hubs.has(WEB));
        // what is no matter of the hub
        call_of(&mut hubs, WEB, answers, || -> Result<(), _> {
            Err(WorkspaceError::OtherObjectFormat(WEB.to_owned()))
        })
        .unwrap_err();
        assert!(!hubs.has(WEB));
    }
}
