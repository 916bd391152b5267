//! One round of a worker, at least once a second: what its runs need, and what it takes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use symphony_core::id::RunId;
use symphony_core::placement::{BootMs, Fit, Host, MayTake, Misfit, PROTOCOL, Pool};
use symphony_core::run::{Fence, Run};
use symphony_store::{Shown, Store, Worker};

use super::finished::Removal;
use super::folder::name_of_folder;
use super::model::{Looked, Taking, WorkerNews, WorkerOptions};
use super::refusal::WorkerRefusal;
use super::resting::Resting;
use super::source::Source;
use super::upkeep::Upkeep;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::{DetachedSupervisor, boot_clock};

/// A worker between two rounds.
#[derive(Debug)]
pub(super) struct Round<'a> {
    pub(super) installation: &'a Installation,
    pub(super) pool: &'a Pool,
    pub(super) host: &'a Host,
    pub(super) slots: u32,
    /// The name of the folder of its clones.
    folder: String,
    source: Source,
    pub(super) supervisors: Vec<DetachedSupervisor>,
    /// Supervisors that hold the lock of a run that is not this host's, and since when.
    pub(super) zombies: BTreeMap<RunId, Instant>,
    /// When all clones were looked at.
    pub(super) looked: Option<Instant>,
    /// The removal of worktrees of ended issues.
    removal: Removal,
    /// How many of its runs wait for the next try of their exit handling. They have no slot.
    waiting: usize,
    /// Runs that this worker has begun, by the fencing number that they had then, and not started a supervisor for.
    pub(super) unlaunched: BTreeMap<RunId, Fence>,
    /// When it last gave a sign of life of a run whose exit handling waits.
    pub(super) beaten: BTreeMap<RunId, Instant>,
    /// What is done once a day for the clones.
    upkeep: Upkeep,
    /// What was reported of runs: each problem once for as long as it lasts.
    told: BTreeMap<RunId, String>,
    /// When it showed itself last, by a clock that goes on while the machine sleeps: another worker may have its name by then.
    seen: Option<BootMs>,
    /// How many failures it showed with itself.
    shown: u32,
    /// Why it takes nothing, as it found when it showed itself last.
    misfit: Option<Misfit>,
    /// What it has found out about its host.
    resting: Resting,
    /// Why no runs come, as it was reported.
    source_problem: Option<String>,
}

impl<'a> Round<'a> {
    /// # Errors
    /// When runs come from a service, and its client cannot be started.
    pub(super) fn new(
        installation: &'a Installation,
        options: &'a WorkerOptions,
    ) -> Result<Self, RunnerError> {
        Ok(Self {
            installation,
            pool: &options.pool,
            host: &options.host,
            slots: options.slots,
            folder: name_of_folder(&options.data)?,
            source: Source::open(installation, &options.pool, &options.host)?,
            supervisors: Vec::new(),
            zombies: BTreeMap::new(),
            looked: None,
            removal: Removal::new(),
            waiting: 0,
            unlaunched: BTreeMap::new(),
            beaten: BTreeMap::new(),
            upkeep: Upkeep::new(installation),
            told: BTreeMap::new(),
            seen: None,
            shown: 0,
            misfit: None,
            resting: Resting::default(),
            source_problem: None,
        })
    }

    /// Does what is due, and returns how many runs of the pool this host has now. It reports what fails, and the next round tries it again.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub(super) fn turn(
        &mut self,
        store: &mut Store,
        taking: Taking,
        tell: &mut dyn FnMut(&WorkerNews),
    ) -> Result<usize, RunnerError> {
        self.reap();
        let turned = self.look_and_take(store, taking, tell);
        if turned.is_err() {
            self.source.pause();
        }
        turned
    }

    /// Returns whether there is a run that this worker can take beside its own ones, so that the next round does not wait.
    pub(super) fn is_wanted(&self, store: &Store, taking: Taking, own: usize) -> bool {
        self.free(taking, own) > 0
            && self
                .source
                .has_next(store, self.pool)
                // The next round finds out what is wrong, and reports it.
                .unwrap_or(true)
    }

    fn look_and_take(
        &mut self,
        store: &mut Store,
        taking: Taking,
        tell: &mut dyn FnMut(&WorkerNews),
    ) -> Result<usize, RunnerError> {
        let mut own: Vec<Run> = store
            .runs_begun_on(self.host)?
            .into_iter()
            .filter(|run| run.pool.as_ref() == Some(self.pool))
            .collect();
        if self.seen.is_none() {
            self.resting.resume(store, self.pool, self.host)?;
        }
        // Before it shows itself: a host that has just failed is shown as resting before anything else is claimed for it.
        self.resting
            .look(self.installation, store, self.pool, self.host, &own)?;
        let refused = match self.show(store, tell) {
            Err(refused @ RunnerError::Worker(WorkerRefusal::NameTaken { .. })) => Some(refused),
            shown => shown.map(|()| None)?,
        };
        if refused.is_some() {
            // What has begun in this folder is still this worker's to look after.
            own.retain(|run| self.has_begun_here(run));
        }
        self.waiting = 0;
        for run in &own {
            match self.look_after(store, run) {
                Ok(Looked::Fine) => {}
                Ok(Looked::Waits) => self.waiting += 1,
                Ok(Looked::Did(news)) => tell(&news),
                Err(error) if self.is_unstarted(store, run) => {
                    self.not_started(store, run, &error, tell);
                }
                Err(error) => self.tell_once(&run.id, &error, tell),
            }
        }
        let is_own = |id: &RunId| own.iter().any(|run| run.id == *id);
        self.told.retain(|id, _| is_own(id));
        self.beaten.retain(|id, _| is_own(id));
        self.unlaunched.retain(|id, _| is_own(id));
        for news in self.end_zombies(store, &own) {
            tell(&news);
        }
        match refused {
            Some(_) if taking == Taking::No => return Ok(own.len()),
            Some(refused) => return Err(refused),
            None => {}
        }
        self.removal.look(self.installation);
        self.upkeep.look(self.installation);
        let mut own: BTreeSet<RunId> = own.into_iter().map(|run| run.id).collect();
        while self.free(taking, own.len()) > 0 {
            // Starting what it took may have been slow: its name may be another worker's by now.
            self.show(store, tell)?;
            if self.misfit.is_some() {
                break;
            }
            let Some(run) = self.source.take(store, self.pool, self.host)? else {
                break;
            };
            own.insert(run.id.clone());
            self.unlaunched.insert(run.id.clone(), run.fence);
            self.resting.took(self.host, &run);
            let on = match run.target.issue() {
                Some(issue) => issue.to_string(),
                None => run.project.to_string(),
            };
            match self.start(store, &run) {
                Ok(()) => tell(&WorkerNews::Started { run: run.id, on }),
                Err(error) => self.not_started(store, &run, &error, tell),
            }
        }
        self.source.settle(self.free(taking, own.len()), &own);
        match self.source.problem() {
            Some(text) => self.tell_of_source(text, tell),
            None => self.source_problem = None,
        }
        Ok(own.len())
    }

    /// Returns how many more runs this host may take.
    fn free(&self, taking: Taking, own: usize) -> u32 {
        if taking == Taking::No || self.misfit.is_some() {
            return 0;
        }
        let slots = self
            .slots
            .saturating_sub(u32::try_from(own.saturating_sub(self.waiting)).unwrap_or(u32::MAX));
        match self.resting.may_take() {
            MayTake::Nothing => 0,
            MayTake::One => slots.min(1),
            MayTake::Any => slots,
        }
    }

    /// Reports once for as long as it lasts why no runs come.
    fn tell_of_source(&mut self, text: String, tell: &mut dyn FnMut(&WorkerNews)) {
        if self.source_problem.as_ref() != Some(&text) {
            tell(&WorkerNews::Problem { text: text.clone() });
            self.source_problem = Some(text);
        }
    }

    /// Shows that this worker is there, as often as its runs do, and finds out whether it may take any.
    fn show(
        &mut self,
        store: &mut Store,
        tell: &mut dyn FnMut(&WorkerNews),
    ) -> Result<(), RunnerError> {
        let beat = self.installation.lease().beat_ms();
        let unprepared = self.resting.failures();
        if self.shown == unprepared
            && self
                .seen
                .is_some_and(|seen| boot_clock().get().saturating_sub(seen.get()) < beat)
        {
            return Ok(());
        }
        let clock_ahead_ms = store.clock_ahead_ms()?.unwrap_or(0).saturating_neg();
        let fence_ms = self.installation.config.lease.fence_ms();
        let worker = Worker {
            pool: self.pool.clone(),
            host: self.host.clone(),
            version: PROTOCOL,
            clock_ahead_ms,
            unprepared,
            slots: self.slots,
            folder: self.folder.clone(),
            fence_ms,
        };
        if let Shown::Other = store.worker_seen(&worker, self.installation.lease())? {
            return Err(WorkerRefusal::NameTaken {
                host: self.host.clone(),
                pool: self.pool.clone(),
            }
            .into());
        }
        let misfit = Misfit::of(&Fit {
            speaks: PROTOCOL,
            required: store.required_protocol()?,
            ahead_ms: clock_ahead_ms,
            failures: unprepared,
            fence_ms,
            dead_ms: store.required_dead_ms()?,
        });
        if is_news(self.misfit, misfit) {
            tell(&match misfit {
                Some(misfit) => WorkerNews::Problem {
                    text: format!(
                        "the worker takes no runs: {}. Its runs continue; {}",
                        misfit.words(),
                        self.advice(misfit)
                    ),
                },
                None => WorkerNews::TakesAgain,
            });
        }
        self.misfit = misfit;
        self.seen = Some(boot_clock());
        self.shown = unprepared;
        Ok(())
    }

    /// Returns what to do about it.
    fn advice(&self, misfit: Misfit) -> String {
        match misfit {
            Misfit::Protocol { .. } => {
                "install the control's version of Symphony here, and start the worker again"
                    .to_owned()
            }
            Misfit::Clock { .. } => {
                "`timedatectl` shows whether the network sets this clock".to_owned()
            }
            Misfit::Lease { .. } => {
                "set `lease` here as on the control, and start the worker again".to_owned()
            }
            Misfit::Unprepared { .. } => format!("the failure: {}", self.resting.why()),
        }
    }

    /// Reaps the supervisors that have ended.
    fn reap(&mut self) {
        self.supervisors
            .retain_mut(|supervisor| matches!(supervisor.try_wait(), Ok(None)));
    }

    pub(super) fn tell_once(
        &mut self,
        run: &RunId,
        error: &RunnerError,
        tell: &mut dyn FnMut(&WorkerNews),
    ) {
        let text = format!("run {run}: {}", error.with_causes());
        if self.told.get(run) != Some(&text) {
            tell(&WorkerNews::Problem { text: text.clone() });
            self.told.insert(run.clone(), text);
        }
    }
}

/// Returns whether what was found differs from what was shown: a clock that drifts is shown once.
fn is_news(before: Option<Misfit>, now: Option<Misfit>) -> bool {
    let kind = |misfit: Option<Misfit>| misfit.map(|misfit| std::mem::discriminant(&misfit));
    kind(before) != kind(now)
}
