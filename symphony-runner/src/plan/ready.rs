//! Which ready phases may start: those whose provider and model are not on hold, and the one whose turn it is to probe.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;
use symphony_core::config::ProjectConfig;
use symphony_core::hold::{ProbeItem, turn_of, yields_until};
use symphony_core::id::PlanPhaseId;
use symphony_core::plan::Phase;
use symphony_core::plan::state::{HeldPhase, PhaseStatus, PlanState};
use symphony_core::profile::ModelChoice;
use symphony_core::retry::after;
use symphony_core::tick::{Hold, HoldScope, pass_holds, phases_turn, probe_candidates};
use symphony_store::PlanRecord;

use crate::installation::Installation;
use crate::models::{Asker, resolve_model};
use crate::tick::Observed;

/// How long a phase waits whose provider is being probed by another one, or is not installed.
const PROBE_WAIT_MS: u64 = 2_000;

/// How a ready phase would be started.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub(super) provider: String,
    pub(super) probes: Vec<HoldScope>,
}

/// Why a ready phase waits for its provider.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) until: Timestamp,
    pub(super) why: String,
    pub(super) problem: Option<String>,
}

impl From<&Held> for HeldPhase {
    fn from(held: &Held) -> Self {
        Self {
            until: held.until,
            why: held.why.clone(),
        }
    }
}

/// The inputs for looking at ready phases.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) installation: &'a Installation,
    pub(super) observed: &'a Observed,
    pub(super) record: &'a PlanRecord,
    pub(super) state: &'a PlanState,
    /// The database's override of the worker model.
    pub(super) from_database: &'a ModelChoice,
    pub(super) now: Timestamp,
}

/// Looks at the providers of the phases that could start. Of the phases under an expired hold, the one that was tried
/// least recently probes it, unless something else of the installation was tried less recently.
pub(super) fn ready_phases(site: Site<'_>) -> BTreeMap<PlanPhaseId, Result<Dispatch, Held>> {
    let mut phases = BTreeMap::new();
    let mut passed = Vec::new();
    for phase in &site.record.document.phases {
        let Ok(id) = PlanPhaseId::parse(phase.id.as_str()) else {
            continue;
        };
        if site.state.phase_status(&id) != PhaseStatus::Ready {
            continue;
        }
        match site.look_at(phase, &id) {
            Ok(dispatch) => passed.push((site.turn(&id, &dispatch), id, dispatch)),
            Err(held) => drop(phases.insert(id, Err(held))),
        }
    }
    // A stable sort: ties keep the order of the file.
    passed.sort_by_key(|(turn, ..)| *turn);
    let mut probed: BTreeSet<HoldScope> = BTreeSet::new();
    let probes = passed
        .iter()
        .any(|(_, _, dispatch)| !dispatch.probes.is_empty());
    let backlog = if probes {
        probe_candidates(&site.observed.snapshot, site.now)
    } else {
        Vec::new()
    };
    for (turn, id, dispatch) in passed {
        let left = site.leave_to_others(turn, &dispatch, &probed, &backlog);
        if left.is_none() {
            probed.extend(dispatch.probes.iter().cloned());
        }
        phases.insert(id, left.map_or(Ok(dispatch), Err));
    }
    phases
}

impl Site<'_> {
    /// Returns the provider of a phase and the holds that it would probe, or what holds it.
    fn look_at(&self, phase: &Phase, id: &PlanPhaseId) -> Result<Dispatch, Held> {
        let (provider, model) = self.provider_and_model(phase).map_err(|problem| Held {
            until: after(self.now, PROBE_WAIT_MS),
            why: problem.clone(),
            problem: Some(format!("phase {id}: {problem}")),
        })?;
        let (snapshot, project) = (&self.observed.snapshot, &self.record.project);
        let passed = pass_holds(snapshot, project, &provider, model.as_deref(), self.now);
        let probes = passed.map_err(|hold| Held {
            until: hold.until.max(after(self.now, PROBE_WAIT_MS)),
            why: format!("{} is on hold: {}", hold.scope, hold.reason),
            problem: None,
        })?;
        Ok(Dispatch { provider, probes })
    }

    fn provider_and_model(&self, phase: &Phase) -> Result<(String, Option<String>), String> {
        let provider = self.provider_of(phase.provider.as_deref())?;
        let model = self.model_of(phase, &provider)?;
        Ok((provider, model))
    }

    fn probed<'s>(&'s self, dispatch: &'s Dispatch) -> impl Iterator<Item = &'s Hold> {
        let holds = self.observed.snapshot.holds.iter();
        holds.filter(|hold| dispatch.probes.contains(&hold.scope))
    }

    fn turn(&self, id: &PlanPhaseId, dispatch: &Dispatch) -> i64 {
        let item = ProbeItem::Phase(self.record.id.clone(), id.clone());
        turn_of(&item, self.probed(dispatch))
    }

    /// Returns why a phase leaves a probe to something else: a phase of this plan, of another plan, or of the backlog.
    fn leave_to_others(
        &self,
        turn: i64,
        dispatch: &Dispatch,
        probed: &BTreeSet<HoldScope>,
        backlog: &[(ProbeItem, Vec<HoldScope>)],
    ) -> Option<Held> {
        let snapshot = &self.observed.snapshot;
        let held = |hold: &Hold, until, who: &str| Held {
            until,
            why: format!("{} is on hold: {} ({who})", hold.scope, hold.reason),
            problem: None,
        };
        let soon = after(self.now, PROBE_WAIT_MS);
        self.probed(dispatch).find_map(|hold| {
            if probed.contains(&hold.scope) {
                return Some(held(hold, soon, "a probe is under way"));
            }
            let backlog = backlog
                .iter()
                .filter(|(_, probes)| probes.contains(&hold.scope))
                .map(|(item, _)| turn_of(item, [hold]));
            let phases = phases_turn(snapshot, hold, Some(&self.record.id));
            let others = backlog.chain(phases).min();
            // The others may be faster than the time they are given.
            yields_until(hold, turn, others, self.now)
                .map(|until| held(hold, until.min(soon), "something else probes first"))
        })
    }

    /// Returns the provider that a phase would use, or why there is none.
    fn provider_of(&self, wanted: Option<&str>) -> Result<String, String> {
        let project = &self.record.project;
        let view = self.observed.snapshot.projects.get(project);
        let view = view.ok_or_else(|| format!("project {project} is gone"))?;
        let (Some(wanted), Some(config)) = (wanted, self.config()) else {
            return view.provider.clone();
        };
        self.installation.usable_named_provider(config, wanted)
    }

    fn config(&self) -> Option<&ProjectConfig> {
        let project = self.observed.projects.get(&self.record.project)?;
        project.1.as_ref()
    }

    /// Returns the model that a phase would use. Without a hold of a model no one needs to know it.
    fn model_of(&self, phase: &Phase, provider: &str) -> Result<Option<String>, String> {
        let snapshot = &self.observed.snapshot;
        if !snapshot.has_model_hold() {
            return Ok(None);
        }
        let view = snapshot.projects.get(&self.record.project);
        let own = phase.provider.as_ref().map(|_auto_or_name| provider);
        let model = phase.model.as_deref();
        let Some(config) = self.config().filter(|_| own.is_some() || model.is_some()) else {
            return Ok(view.and_then(|view| view.models.of_plans().map(str::to_owned)));
        };
        let library = self.installation.library(config);
        let library = library.map_err(|error| error.to_string())?;
        let asker = Asker::PlanPhase(own, model);
        let found = resolve_model(
            self.installation,
            config,
            view.and_then(|view| view.provider.as_deref().ok()),
            &library,
            self.from_database,
            asker,
        );
        Ok(found.map(|model| model.model.as_str().to_owned()))
    }
}
