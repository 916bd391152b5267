//! Which hubs do not answer a tick.
//!
//! All projects wait for a tick. One whose hub is cut off may hold it up once and not once for each of its results, so a hub is asked before the
//! first call of a tick, which shows soon whether it is there, and is left alone until the next tick when it is not.
//!
//! A server that is cut off would keep a call of each of its hubs waiting. But a single repository may hang as well while the others on its server
//! answer. So a server counts as silent once two of its hubs have waited in vain and none has answered since: then those are left alone, too, that
//! have not answered this tick.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::OtherHub;
use super::fetches::LOST_AFTER;
use crate::error::WorkspaceError;
use crate::remote::{NoAnswer, Remote, server_of};
use crate::repository::Repository;

/// How many hubs of a server have to wait in vain before the others are left alone. One may hang by itself.
const IN_VAIN_MIN: usize = 2;

/// The hubs that a tick has called, and those that did not answer it.
#[derive(Debug, Default)]
pub struct SilentHubs {
    /// The addresses of those that answered, and were not silent later.
    answered: BTreeSet<String>,
    /// The addresses of those that did not answer.
    silent: BTreeSet<String>,
    /// The addresses of the hubs that kept a call waiting in vain since a hub of their server answered last, by server.
    in_vain: BTreeMap<String, BTreeSet<String>>,
}

impl SilentHubs {
    /// Returns whether a hub is left alone: it did not answer, or two others on its server did not while it has not answered this tick.
    pub fn has(&self, address: &str) -> bool {
        self.did_not_answer(address)
            || !self.answered.contains(address) && self.is_server_silent(address)
    }

    /// Returns whether a hub did not answer itself.
    pub fn did_not_answer(&self, address: &str) -> bool {
        self.silent.contains(address)
    }

    fn is_server_silent(&self, address: &str) -> bool {
        let in_vain = self.in_vain.get(server_of(address));
        in_vain.is_some_and(|hubs| hubs.len() >= IN_VAIN_MIN)
    }

    /// Makes a call of a hub that is another repository, unless it is left alone. Without a hub, only makes the call.
    ///
    /// # Errors
    /// When the hub does not answer or is left alone, and those of the call.
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

    /// Does the same for what the next tick would not ask again: a hub is left alone only if it did not answer itself, and not for others on its
    /// server.
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
        let is_left_alone = self.did_not_answer(address);
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
            Ok(_) => self.note_answer_of_server(address),
            // It counts against its server only if the question waits in vain, too: a large result may be refused after a while.
            Err(error) if has_waited(error, begun.elapsed()) => {
                self.note_silence(address);
                drop(self.noted(address, &ask));
            }
            // A single ref or a damaged object fails at once as well. The hub says so by answering.
            Err(error) if is_silence(error) => drop(self.noted(address, &ask)),
            // It may be no matter of the hub.
            Err(_) => {}
        }
        called
    }

    /// Asks a hub, and notes whether it answers.
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
            self.note_silence(address);
            if has_waited(error, begun.elapsed()) {
                let server = server_of(address).to_owned();
                let in_vain = self.in_vain.entry(server).or_default();
                in_vain.insert(address.to_owned());
            }
        } else {
            self.note_answer_of_server(address);
        }
        asked
    }

    fn note_silence(&mut self, address: &str) {
        self.answered.remove(address);
        self.silent.insert(address.to_owned());
    }

    fn note_answer_of_server(&mut self, address: &str) {
        self.in_vain.remove(server_of(address));
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
        detail: "not called, because this hub or two others on its server did not answer earlier in this tick; the next tick tries again"
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
    const DOCS: &str = "ssh://git@hub.example/srv/docs.git";
    const TOOLS: &str = "ssh://git@hub.example/srv/tools.git";
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

    /// Has a hub hang when it is asked.
    fn hang(hubs: &mut SilentHubs, address: &str) {
        call_of(hubs, address, waited, || -> Result<(), _> {
            panic!("{address} was called")
        })
        .unwrap_err();
    }

    #[test]
    fn two_results_of_a_hub_that_never_answers_cost_one_wait() {
        let mut hubs = SilentHubs::default();
        let waits = Cell::new(0);
        let wait = || {
            waits.set(waits.get() + 1);
            waited()
        };
        // a second hub of the server costs one more, and a third one none
        for (address, expected) in [(API, 1), (API, 1), (WEB, 2), (WEB, 2), (DOCS, 2)] {
            call_of(&mut hubs, address, wait, || -> Result<(), _> {
                panic!("{address} was called")
            })
            .unwrap_err();
            assert_eq!(waits.get(), expected, "{address}");
        }
        for address in [API, WEB, DOCS] {
            assert!(hubs.has(address), "{address}");
        }
        assert!(!hubs.has(OTHER));
        assert!(
            hubs.did_not_answer(API) && hubs.did_not_answer(WEB) && !hubs.did_not_answer(DOCS),
            "it was not asked itself"
        );
        call_of(&mut hubs, OTHER, answers, answers).unwrap();
    }

    #[test]
    fn a_hub_that_hangs_keeps_no_other_one_of_its_server_waiting() {
        let mut hubs = SilentHubs::default();
        hang(&mut hubs, API);
        assert!(hubs.has(API) && !hubs.has(WEB));
        for _ in 0..2 {
            call_of(&mut hubs, WEB, answers, answers).unwrap();
        }
        // that one answered: the server is there, and it takes two again
        hang(&mut hubs, DOCS);
        assert!(!hubs.has(WEB) && !hubs.has(TOOLS));
        call_of(&mut hubs, TOOLS, answers, answers).unwrap();
        assert!(hubs.has(API) && hubs.has(DOCS));
    }

    #[test]
    fn a_hub_is_left_alone_after_two_others_of_its_server_have_hung() {
        let mut hubs = SilentHubs::default();
        hang(&mut hubs, API);
        hang(&mut hubs, DOCS);
        assert!(hubs.has(WEB) && !hubs.did_not_answer(WEB));
        let ask = || -> Result<(), _> { panic!("it was asked") };
        let error = call_of(&mut hubs, WEB, ask, answers).unwrap_err();
        assert!(
            error.to_string().contains("earlier in this tick"),
            "{error}"
        );
        // what no later tick asks for is asked all the same, and an answer is one of the server
        let is_left_alone = hubs.did_not_answer(WEB);
        hubs.call_of(WEB, is_left_alone, answers, answers).unwrap();
        assert!(!hubs.has(WEB) && !hubs.has(TOOLS));
        assert!(hubs.has(API) && hubs.has(DOCS));
    }

    #[test]
    fn a_hub_that_answered_is_called_also_after_two_others_have_hung() {
        let mut hubs = SilentHubs::default();
        call_of(&mut hubs, WEB, answers, answers).unwrap();
        hang(&mut hubs, API);
        hang(&mut hubs, DOCS);
        assert!(hubs.has(TOOLS) && !hubs.has(WEB));
        let ask = || -> Result<(), _> { panic!("it was asked again") };
        call_of(&mut hubs, WEB, ask, answers).unwrap();
        assert!(!hubs.has(TOOLS), "its server has answered since");
        // unless it hangs, too
        call_of(&mut hubs, WEB, waited, waited).unwrap_err();
        assert!(hubs.has(WEB) && hubs.did_not_answer(WEB));
        assert!(!hubs.answered.contains(WEB), "{hubs:?}");
    }

    #[test]
    fn an_error_that_is_no_silence_is_an_answer_of_the_server() {
        let mut hubs = SilentHubs::default();
        hang(&mut hubs, API);
        let other_format =
            || -> Result<(), _> { Err(WorkspaceError::OtherObjectFormat(WEB.to_owned())) };
        call_of(&mut hubs, WEB, other_format, answers).unwrap_err();
        hang(&mut hubs, DOCS);
        assert!(!hubs.has(WEB) && !hubs.has(TOOLS));
    }

    #[test]
    fn folders_of_this_machine_have_no_server_in_common() {
        let mut hubs = SilentHubs::default();
        for address in ["/srv/api.git", "/srv/web.git", "file:///srv/docs.git"] {
            hang(&mut hubs, address);
            assert!(hubs.has(address), "{address}");
        }
        for address in ["/srv/tools.git", "file:///srv/tools.git"] {
            assert!(!hubs.has(address), "{address}");
        }
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
