//! What a worker finds out about its host: which runs could not be prepared there, and whether the hub answers.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use serde_json::Value;
use symphony_core::agent::AgentType;
use symphony_core::failure::ErrorClass;
use symphony_core::id::{ProjectId, RunId};
use symphony_core::placement::{BootMs, Host, MayTake, Pool, Rest, RestEvent};
use symphony_core::run::Run;
use symphony_store::{Store, StoreError};
use symphony_workspace::HubClone;

use crate::error::RunnerError;
use crate::gates::running_now;
use crate::installation::Installation;
use crate::process::boot_clock;
use crate::repository::options;

/// A worker's view of its host.
#[derive(Debug, Default)]
pub(super) struct Resting {
    rest: Rest,
    /// Runs of this host of which nothing has shown yet that they could be prepared.
    early: BTreeMap<RunId, ProjectId>,
    /// The run that shows whether runs can be prepared again.
    trial: Option<RunId>,
    /// The last failure: the project whose hub is asked, and in words.
    failed: Option<(ProjectId, String)>,
    /// The answer of the hub, while it is waited for.
    answer: Option<Receiver<Result<(), String>>>,
}

impl Resting {
    /// Goes on with what the last worker on this host had found out.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn resume(
        &mut self,
        store: &Store,
        pool: &Pool,
        host: &Host,
    ) -> Result<(), RunnerError> {
        let mut workers = store.workers()?.into_iter().map(|seen| seen.worker);
        let last = workers.find(|worker| worker.pool == *pool && worker.host == *host);
        self.rest = Rest::again(last.map_or(0, |worker| worker.unprepared));
        Ok(())
    }

    /// Looks at the runs that this host has, at those that have ended since, and at what the hub answers.
    ///
    /// # Errors
    /// When the database cannot be read; the next round looks again.
    pub(super) fn look(
        &mut self,
        installation: &Installation,
        store: &Store,
        pool: &Pool,
        host: &Host,
        own: &[Run],
    ) -> Result<(), RunnerError> {
        let now = clock(installation);
        for run in own {
            if is_prepared(installation, run) {
                self.early.remove(&run.id);
                self.found(RestEvent::Prepared, &run.id, host, now);
            } else {
                self.early.insert(run.id.clone(), run.project.clone());
            }
        }
        let is_own = |id: &RunId| own.iter().any(|run| run.id == *id);
        let ended: Vec<RunId> = self
            .early
            .keys()
            .filter(|id| !is_own(id))
            .cloned()
            .collect();
        for id in ended {
            let event = match store.run(&id) {
                Ok(run) => self.judge(&run),
                Err(StoreError::NotFound { .. }) => RestEvent::Inconclusive,
                Err(error) => return Err(error.into()),
            };
            self.early.remove(&id);
            self.found(event, &id, host, now);
        }
        self.rest = self.rest.after(RestEvent::Look, host, now);
        self.ask(installation, store, pool, host);
        Ok(())
    }

    fn judge(&mut self, run: &Run) -> RestEvent {
        let class = run.error.as_ref().map(|error| error.class);
        let event = shown_by(run.worktree.as_deref(), class);
        if event == RestEvent::Unprepared {
            let words = run.error.as_ref().map(|error| error.message.clone());
            self.failed = Some((run.project.clone(), words.unwrap_or_default()));
        }
        event
    }

    /// Notes what a run has shown. During a rest only that of the trial counts.
    fn found(&mut self, event: RestEvent, run: &RunId, host: &Host, now: BootMs) {
        if let Some(trial) = &self.trial {
            if trial != run {
                return;
            }
            self.trial = None;
        }
        self.rest = self.rest.after(event, host, now);
    }

    /// Asks the hub, or looks whether it has answered. A hub that is cut off keeps git waiting for minutes, so a thread asks.
    /// A project that has left the pool says nothing about it any more, and may not be reachable from here.
    fn ask(&mut self, installation: &Installation, store: &Store, pool: &Pool, host: &Host) {
        if !matches!(self.rest, Rest::Asking { .. }) {
            return;
        }
        let Some((project, words)) = &mut self.failed else {
            return;
        };
        let answered = match &self.answer {
            None if has_left(store, project, pool) => Ok(()),
            None => match question(installation, store, project) {
                Ok(answer) => {
                    self.answer = Some(answer);
                    return;
                }
                Err(error) => Err(error.with_causes()),
            },
            Some(answer) => match answer.try_recv() {
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => Err("the hub could not be asked".to_owned()),
                Ok(answered) => answered,
            },
        };
        self.answer = None;
        let event = match answered {
            Ok(()) => RestEvent::HubAnswered,
            Err(error) => {
                tracing::info!(%error, "the hub does not answer yet");
                *words = error;
                RestEvent::HubSilent
            }
        };
        self.rest = self.rest.after(event, host, clock(installation));
    }

    /// Returns how many runs may be taken now.
    pub(super) fn may_take(&self) -> MayTake {
        self.rest.may_take()
    }

    /// Notes that a run was taken.
    pub(super) fn took(&mut self, host: &Host, run: &Run) {
        self.early.insert(run.id.clone(), run.project.clone());
        if self.rest.may_take() == MayTake::One {
            self.trial = Some(run.id.clone());
        }
        // It sets no moment.
        self.rest = self.rest.after(RestEvent::Took, host, BootMs::new(0));
    }

    /// Returns how often in a row the host failed, as long as it takes nothing for that.
    pub(super) fn failures(&self) -> u32 {
        self.rest.failures()
    }

    /// Returns the last failure in words.
    pub(super) fn why(&self) -> &str {
        self.failed.as_ref().map_or("", |(_, words)| words.as_str())
    }
}

/// Returns whether a live run has shown that runs can be prepared here: its agent has started, or a command of its gates. Gates record their
/// worktree before they check it out.
fn is_prepared(installation: &Installation, run: &Run) -> bool {
    if run.agent != AgentType::Gates {
        return run.worktree.is_some();
    }
    let root = installation.clone_of(&run.project);
    root.is_some_and(|root| running_now(&root, &run.id).is_some())
}

/// Returns whether a project is gone, or has been handed to another pool since.
fn has_left(store: &Store, project: &ProjectId, pool: &Pool) -> bool {
    match store.project(project) {
        Err(StoreError::NotFound { .. }) => true,
        Err(_) => false,
        Ok(_) => matches!(
            store.handed_project(project),
            Ok(Some(handed)) if !names_pool(&handed.layers, pool)
        ),
    }
}

/// Returns whether the configuration of a project, which is a list of documents, names a pool.
fn names_pool(layers: &Value, pool: &Pool) -> bool {
    let mut documents = layers.as_array().into_iter().flatten().rev();
    let named = documents.find_map(|document| document.get("pool"));
    named.and_then(Value::as_str) == Some(pool.as_str())
}

/// Begins to ask the hub of a project.
fn question(
    installation: &Installation,
    store: &Store,
    project: &ProjectId,
) -> Result<Receiver<Result<(), String>>, RunnerError> {
    let local = installation.localize(store, project)?;
    let config = local.installation.project_config(&local.project)?;
    let root = local.project.root;
    let address = local.hub.unwrap_or_default();
    let environment = installation.environment.clone();
    let (sender, answer) = channel();
    let asks = move || {
        let asked = HubClone::open(&root, options(&config), &address, &environment)
            .and_then(|clone| clone.ask())
            .map_err(|error| error.to_string());
        // The worker may have ended meanwhile.
        let _ended = sender.send(asked);
    };
    std::thread::Builder::new()
        .name("hub".to_owned())
        .spawn(asks)
        .map_err(|error| RunnerError::refused(format!("a thread cannot be started: {error}")))?;
    Ok(answer)
}

/// Returns what a run that has ended shows about its host. Its worktree is recorded right before its agent starts.
fn shown_by(worktree: Option<&str>, class: Option<ErrorClass>) -> RestEvent {
    use ErrorClass::{Cancelled, Crashed, HostLost, NotPrepared, SpawnFailed, WorktreeFailed};
    match class {
        Some(NotPrepared) => RestEvent::Unprepared,
        _ if worktree.is_some() => RestEvent::Prepared,
        Some(WorktreeFailed | SpawnFailed) => RestEvent::Unprepared,
        Some(Cancelled | Crashed | HostLost) => RestEvent::Inconclusive,
        _ => RestEvent::Prepared,
    }
}

/// Returns the clock of this host, which is faster in tests by as much as their lease is shorter.
fn clock(installation: &Installation) -> BootMs {
    let second = installation.shorter_in_tests(Duration::from_secs(1));
    let second = u64::try_from(second.as_millis()).unwrap_or(1_000).max(1);
    BootMs::new(boot_clock().get().saturating_mul(1_000) / second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_failed_before_its_agent_started_speaks_against_a_host() {
        use RestEvent::{Inconclusive, Prepared, Unprepared};
        let started = Some(".symphony-workspaces/DEM-1");
        for (worktree, class, expected) in [
            (None, Some(ErrorClass::NotPrepared), Unprepared),
            (None, Some(ErrorClass::WorktreeFailed), Unprepared),
            (None, Some(ErrorClass::SpawnFailed), Unprepared),
            (None, Some(ErrorClass::Cancelled), Inconclusive),
            (None, Some(ErrorClass::Crashed), Inconclusive),
            (None, Some(ErrorClass::SetupFailed), Prepared),
            (None, None, Prepared),
            (started, Some(ErrorClass::NotPrepared), Unprepared),
            (started, Some(ErrorClass::WorktreeFailed), Prepared),
            (started, Some(ErrorClass::Crashed), Prepared),
            (started, None, Prepared),
        ] {
            assert_eq!(
                shown_by(worktree, class),
                expected,
                "{worktree:?} {class:?}"
            );
        }
    }
}
