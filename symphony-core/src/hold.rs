//! Fairness of holds: what a condition covers, whose turn it is to probe, and who is at fault when one item fails and
//! others succeed (spec: agents, "Fairness of holds", "Login").

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::agent::AgentType;
use crate::failure::ErrorClass;
use crate::id::{IssueId, PlanId, PlanPhaseId, ProjectId, RunId};
use crate::pull_request::PullRequestOf;
use crate::retry::after;
use crate::run::{RunError, RunTarget};

/// Number of failed probes of one hold after which a single item without another to compare is reported to a person.
pub const LONE_PROBES_MAX: u32 = 5;

/// How long the driver of an item leaves a probe to an item of another driver (ticks, plans) that was tried less
/// recently: longer than the minute between two ticks of cron.
pub const YIELD_MS: u64 = 90_000;

/// What a hold covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldScope {
    /// All runs of a provider: its login, its account, its program.
    Provider(String),
    /// The runs of a provider that use one model.
    Model {
        /// The provider.
        provider: String,
        /// The model that is used; `None` for the provider's own default.
        model: Option<String>,
    },
    /// All runs of a project.
    Project(ProjectId),
    /// All agents of a project except judges: its gates fail on the base, too.
    Gates(ProjectId),
    /// All runs: the disk is full.
    Everything,
}

/// A global condition that uses no attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// What it covers.
    pub scope: HoldScope,
    /// When one run may start as a probe; until then none starts.
    pub until: Timestamp,
    /// Since when.
    pub placed_at: Timestamp,
    /// What class of error put it there.
    pub class: ErrorClass,
    /// What happened, in words.
    pub reason: String,
    /// Probes that failed so far.
    pub probes: u32,
    /// The current probe; one that is no longer live counts as over.
    pub canary: Option<RunId>,
    /// A digest of what was red on the base, for a hold of gates: anything else was not tried yet.
    #[serde(default)]
    pub tried: Option<String>,
    /// What has met it or probed it, in no order.
    #[serde(default)]
    pub trials: Vec<Trial>,
}

/// Returns what a global condition covers: the machine, the account of a provider, or one of its models.
pub fn condition_scope(class: ErrorClass, provider: &str, model: Option<&str>) -> HoldScope {
    match class {
        ErrorClass::DiskFull => HoldScope::Everything,
        ErrorClass::AuthFailed
        | ErrorClass::CreditExhausted
        | ErrorClass::ProviderMissing
        | ErrorClass::SandboxUnavailable => HoldScope::Provider(provider.to_owned()),
        _ => HoldScope::Model {
            provider: provider.to_owned(),
            model: model.map(str::to_owned),
        },
    }
}

impl HoldScope {
    /// Returns the provider whose runs it covers, if it is about one.
    pub fn provider(&self) -> Option<&str> {
        match self {
            Self::Provider(provider) | Self::Model { provider, .. } => Some(provider),
            Self::Project(_) | Self::Gates(_) | Self::Everything => None,
        }
    }

    /// Returns whether it covers a run of a provider with a model; `None` means the provider's default model.
    pub fn covers_model(&self, of: &str, asked: Option<&str>) -> bool {
        match self {
            Self::Provider(provider) => provider == of,
            Self::Model { provider, model } => provider == of && model.as_deref() == asked,
            Self::Project(_) | Self::Gates(_) | Self::Everything => false,
        }
    }
}

impl fmt::Display for HoldScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(name) => write!(f, "provider {name}"),
            Self::Model {
                provider,
                model: Some(model),
            } => write!(f, "model {model} of provider {provider}"),
            Self::Model {
                provider,
                model: None,
            } => write!(f, "the default model of provider {provider}"),
            Self::Project(id) => write!(f, "project {id}"),
            Self::Gates(id) => write!(f, "gates of {id}"),
            Self::Everything => f.write_str("everything"),
        }
    }
}

/// Returns what a person does about a condition of a provider's account; `None` for conditions that pass without help.
/// `login` is the command that logs the provider's program in, if it is known.
pub fn account_advice(class: ErrorClass, provider: &str, login: Option<&str>) -> Option<String> {
    match (class, login) {
        (ErrorClass::AuthFailed, Some(login)) => Some(format!(
            "log in with `{login}`, then run `symphony resume` to try again at once"
        )),
        (ErrorClass::AuthFailed, None) => Some(format!(
            "renew the credentials of provider {provider}, then run `symphony resume` to try again at once"
        )),
        (ErrorClass::CreditExhausted, Some(login)) => Some(format!(
            "add credit to the account, or log in to another one with `{login}`; then run `symphony resume` to try \
             again at once"
        )),
        (ErrorClass::CreditExhausted, None) => Some(format!(
            "add credit to the account of provider {provider}, then run `symphony resume` to try again at once"
        )),
        _ => None,
    }
}

/// What is retried as a unit: an issue with all its runs, a phase of a plan, an agent of a project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeItem {
    /// An issue: its worker, its judge, the agents of its phases.
    Issue(IssueId),
    /// The pull request of a plan.
    Plan(PlanId),
    /// A phase of a plan.
    Phase(PlanId, PlanPhaseId),
    /// An agent that works on a project itself.
    Project(ProjectId, AgentType),
}

impl ProbeItem {
    /// Returns the item that a run is about.
    pub fn of(target: &RunTarget, project: &ProjectId, agent: &AgentType) -> Self {
        match target {
            RunTarget::Issue(issue)
            | RunTarget::Delivery(issue, _)
            | RunTarget::PullRequest(PullRequestOf::Issue(issue), _)
            | RunTarget::Gates(PullRequestOf::Issue(issue), _) => Self::Issue(issue.clone()),
            RunTarget::PullRequest(PullRequestOf::Plan(plan), _)
            | RunTarget::Gates(PullRequestOf::Plan(plan), _) => Self::Plan(plan.clone()),
            RunTarget::PlanPhase(plan, phase) => Self::Phase(plan.clone(), phase.clone()),
            RunTarget::Project => Self::Project(project.clone(), agent.clone()),
        }
    }
}

impl fmt::Display for ProbeItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issue(issue) => write!(f, "{issue}"),
            Self::Plan(plan) => write!(f, "plan {plan}"),
            Self::Phase(plan, phase) => write!(f, "phase {phase} of plan {plan}"),
            Self::Project(project, agent) => write!(f, "the {agent} of project {project}"),
        }
    }
}

/// How an item has fared with one condition. Numbers are fences: they grow with each run and know no clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The item.
    pub item: ProbeItem,
    /// The newest run of the installation when it was last tried or last failed: the order of rotation.
    pub turn: i64,
    /// How often it hit the condition since it last reached the provider.
    pub failures: u32,
    /// How often under the current hold.
    pub held: u32,
    /// How often in a row under the current hold, with no other item that hit it in between.
    #[serde(default)]
    pub alone: u32,
    /// A run of another item that began after this one's last failure, and reached the provider.
    pub witness: Option<RunId>,
    /// Whether another item has hit the condition since the witness did not: until the hold of that is lifted, nobody
    /// knows whether the provider is out.
    #[serde(default)]
    pub doubted: bool,
}

/// Who is at fault when an item hits a global condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The condition, as far as is known: a hold is placed, and no attempt is used.
    Condition,
    /// The item: it failed before, this run of another item reached the provider after that, and it fails again.
    Item {
        /// That run.
        witness: RunId,
    },
}

/// What is known of one condition: how each item that hit it fared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trials(Vec<Trial>);

impl Trials {
    /// Takes what is recorded.
    pub fn new(trials: Vec<Trial>) -> Self {
        Self(trials)
    }

    /// Returns what has to be recorded.
    pub fn as_slice(&self) -> &[Trial] {
        &self.0
    }

    fn of(&mut self, item: &ProbeItem) -> Option<&mut Trial> {
        self.0.iter_mut().find(|trial| trial.item == *item)
    }

    fn take_turn(&mut self, item: &ProbeItem, turn: i64) {
        match self.of(item) {
            Some(trial) => trial.turn = turn,
            None => self.0.push(Trial {
                item: item.clone(),
                turn,
                failures: 0,
                held: 0,
                alone: 0,
                witness: None,
                doubted: false,
            }),
        }
    }

    /// An item begins a probe; `fence` is its run's.
    pub fn begin(&mut self, item: &ProbeItem, fence: i64) {
        self.take_turn(item, fence);
    }

    /// An item hit the condition; `newest` is the newest fence of all. Returns who is at fault.
    pub fn fail(&mut self, item: &ProbeItem, newest: i64) -> Fault {
        self.take_turn(item, newest);
        let witness = self.of(item).and_then(|trial| {
            trial.failures = trial.failures.saturating_add(1);
            trial.witness.clone().filter(|_| !trial.doubted)
        });
        if let Some(witness) = witness {
            return Fault::Item { witness };
        }
        for trial in &mut self.0 {
            if trial.item == *item {
                trial.held = trial.held.saturating_add(1);
                trial.alone = trial.alone.saturating_add(1);
            } else {
                // this item fails, too: no one fails alone
                trial.doubted = trial.witness.is_some();
                trial.alone = 0;
            }
        }
        Fault::Condition
    }

    /// A run of an item reached the provider. Whoever failed before it began, and fails again, is at fault.
    pub fn reach(&mut self, item: &ProbeItem, run: &RunId, fence: i64) {
        self.0.retain(|trial| trial.item != *item);
        for trial in &mut self.0 {
            if trial.failures > 0 && trial.turn < fence {
                trial.witness = Some(run.clone());
                trial.doubted = false;
            }
        }
    }

    /// A probe has reached the provider, and the hold is lifted: the next one counts from the beginning. Whoever was known
    /// to fail alone before it still is.
    pub fn lift(&mut self) {
        for trial in &mut self.0 {
            trial.held = 0;
            trial.alone = 0;
            trial.doubted = false;
        }
    }

    /// Removes items that no longer exist. Returns whether any of them had hit the current hold.
    pub fn forget(&mut self, is_over: impl Fn(&ProbeItem) -> bool) -> bool {
        let met = self.0.iter().any(|t| t.held > 0 && is_over(&t.item));
        self.0.retain(|trial| !is_over(&trial.item));
        met
    }

    /// Returns whether something that hit the hold still waits for its end.
    pub fn is_waited_for(&self) -> bool {
        self.0.iter().any(|trial| trial.held > 0)
    }
}

/// Returns when an item was last tried against any of these holds, as a fence; 0 when never. The item with the smallest
/// number probes next.
pub fn turn_of<'h>(item: &ProbeItem, holds: impl IntoIterator<Item = &'h Hold>) -> i64 {
    let trials = holds.into_iter().flat_map(|hold| &hold.trials);
    let own = trials.filter(|trial| trial.item == *item);
    own.map(|trial| trial.turn).max().unwrap_or(0)
}

/// Returns until when an item leaves the probe of a hold to items of other drivers, `others` being the turn of theirs
/// that was tried least recently. Drivers do not see whether the other ones are alive: they wait, but not for ever.
pub fn yields_until(
    hold: &Hold,
    own: i64,
    others: Option<i64>,
    now: Timestamp,
) -> Option<Timestamp> {
    let until = after(hold.until, YIELD_MS);
    let is_behind = others.is_some_and(|others| others < own);
    (is_behind && hold.until <= now && now < until).then_some(until)
}

/// Returns the item that has failed the last [`LONE_PROBES_MAX`] probes of a hold while no other one hit it: it is unknown
/// whether the item or the provider is at fault, so that a person has to look. Probes rotate, so that no other item waits
/// for the hold, even if some have met it.
pub fn lone_item(hold: &Hold) -> Option<&Trial> {
    let is_due = hold.probes >= LONE_PROBES_MAX && hold.scope.provider().is_some();
    let mut trials = hold.trials.iter().filter(|_| is_due);
    trials.find(|trial| trial.alone >= LONE_PROBES_MAX)
}

/// Returns the error of an item that is at fault itself: it counts as a failure like any other.
pub fn own_fault(error: &RunError, witness: &RunId) -> RunError {
    RunError {
        class: ErrorClass::ModelError,
        message: format!(
            "{}: {} (run {witness} reached the same provider and model meanwhile, so this counts as a failure of the \
             run)",
            error.class, error.message
        ),
    }
}

#[cfg(test)]
mod tests;
