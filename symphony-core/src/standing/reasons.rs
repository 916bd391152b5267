//! What ends a reason not to start something: a person, a dependency, a moment, or the next tick.

use std::fmt;

use super::{Dependency, Item, Observed, Standing};
use crate::Timestamp;
use crate::agent::AgentType;
use crate::hold::HoldScope;
use crate::id::{IssueId, ProjectId};
use crate::inbox::{InboxItem, InboxKind, PAUSE_KEY};
use crate::tick::{
    Action, CANDIDATES_MAX, LiveRun, Reason, SlotLimit, Snapshot, project_agent_obstacles,
};

/// What ends the reasons not to start an item.
#[derive(Debug, Default)]
struct Leads {
    person: Option<String>,
    dependencies: Vec<Dependency>,
    due: Option<Timestamp>,
    nowhere: Option<String>,
    /// What keeps it from starting when its time and its dependencies have come: then a tick reads it, and it is in the
    /// inbox.
    later: Option<String>,
}

impl Leads {
    fn person(&mut self, entry: Option<&InboxItem>, reason: &Reason) {
        match entry {
            Some(entry) => self.person = Some(entry.key.clone()),
            None => self.nowhere(reason),
        }
    }

    fn nowhere(&mut self, reason: &Reason) {
        self.nowhere.get_or_insert_with(|| unheard(reason));
    }

    fn due(&mut self, at: Timestamp) {
        self.due = Some(self.due.map_or(at, |due| due.max(at)));
    }

    fn standing(self) -> Option<Standing> {
        if let Some(why) = self.nowhere {
            return Some(Standing::Stranded { why });
        }
        if let Some(entry) = self.person {
            return Some(Standing::WaitsForPerson { entry });
        }
        if !self.dependencies.is_empty() {
            let dependencies = self.dependencies;
            return Some(Standing::WaitsFor { dependencies });
        }
        match (self.due, self.later) {
            (Some(at), _) => Some(Standing::Due { at }),
            (None, Some(why)) => Some(Standing::Stranded { why }),
            (None, None) => None,
        }
    }
}

/// Describes a reason that nothing ends.
fn unheard(reason: &Reason) -> String {
    format!("{reason}, but it is not in the inbox")
}

/// Returns what ends the reasons; `None` if they do not stop the next tick.
pub(super) fn lead(
    reasons: &[Reason],
    project: &ProjectId,
    observed: &Observed<'_>,
) -> Option<Standing> {
    let mut leads = Leads::default();
    for reason in reasons {
        follow(reason, project, observed, &mut leads);
    }
    leads.standing()
}

fn follow(reason: &Reason, project: &ProjectId, observed: &Observed<'_>, leads: &mut Leads) {
    let snapshot = observed.snapshot;
    match reason {
        Reason::Running { .. }
        | Reason::ExitPutOff { .. }
        | Reason::Unpromoted { .. }
        | Reason::GatesPending
        | Reason::DoneMoved { .. }
        | Reason::GatesUntried { .. }
        | Reason::MergedOutside { .. }
        | Reason::AttemptsSpent { .. }
        | Reason::WorkWaits
        | Reason::BacklogFull { .. } => {}
        Reason::Paused => leads.person(hold_entry(observed, &PAUSE_KEY), reason),
        Reason::ProjectBroken { .. } | Reason::NoBase { .. } | Reason::NoProvider { .. } => {
            leads.person(entry_of(observed, project, InboxKind::Project), reason);
        }
        Reason::Held { scope, .. } => {
            leads.person(hold_entry(observed, scope), reason);
        }
        Reason::ProgramMissing { project, .. } => {
            let scope = HoldScope::Gates(project.clone());
            leads.person(hold_entry(observed, &scope), reason);
        }
        Reason::WaitingOn { issues } => {
            let on = |issue: &IssueId| Dependency::Item(Item::Issue(issue.clone()));
            leads.dependencies.extend(issues.iter().map(on));
        }
        Reason::BackingOff { until, .. }
        | Reason::GatesDelayed { until, .. }
        | Reason::CoolingDown { until }
        | Reason::RanRecently { until } => leads.due(*until),
        Reason::SubtasksCancelled
        | Reason::Judged
        | Reason::DoneJudged { .. }
        | Reason::JudgeOff
        | Reason::JudgesSpent { .. }
        | Reason::Conflicts { .. }
        | Reason::HeadMoved { .. }
        | Reason::PersonsPoints { .. }
        | Reason::GatesRed => {
            leads.nowhere(reason);
        }
        Reason::NoPhase
        | Reason::NothingToRepair { .. }
        | Reason::UnknownPhase { .. }
        | Reason::PlanningOff
        | Reason::ResearchOff => {
            // a tick reads a bounded number of these; the others get their own entry when the first ones are answered
            let others = is_cut(snapshot, project)
                .then(|| entry_of(observed, project, InboxKind::Undispatched));
            match others.flatten() {
                Some(entry) => leads.person = Some(entry.key.clone()),
                None => leads.later = Some(unheard(reason)),
            }
        }
        Reason::ReviewsFull { .. } => {
            if snapshot.reviews.iter().any(|r| r.project == *project) {
                let reviews = Dependency::Reviews(project.clone());
                leads.dependencies.push(reviews);
            } else {
                leads.nowhere(reason);
            }
        }
        Reason::WizardFirst => wizard(reason, project, observed, leads),
        Reason::NoSlot { limit } => {
            if is_slot_taken(limit, observed) {
                leads.dependencies.push(Dependency::Slot);
            } else {
                leads.nowhere(reason);
            }
        }
    }
}

/// What waits for the setup wizard waits for what that waits for.
fn wizard(reason: &Reason, project: &ProjectId, observed: &Observed<'_>, leads: &mut Leads) {
    let snapshot = observed.snapshot;
    let reasons = project_agent_obstacles(project, &AgentType::Wizard, snapshot, observed.now);
    let is_live = reasons
        .iter()
        .any(|reason| matches!(reason, Reason::Running { .. } | Reason::ExitPutOff { .. }));
    if is_live || reasons.is_empty() {
        leads.dependencies.push(Dependency::Wizard(project.clone()));
        return;
    }
    match lead(&reasons, project, observed) {
        Some(Standing::WaitsForPerson { entry }) => leads.person = Some(entry),
        Some(Standing::Due { at }) => leads.due(at),
        Some(Standing::WaitsFor { dependencies }) => leads.dependencies.extend(dependencies),
        _ => leads.nowhere(reason),
    }
}

/// Returns whether something uses the missing slot: a run, or one that the next tick starts.
fn is_slot_taken(limit: &SlotLimit, observed: &Observed<'_>) -> bool {
    let (SlotLimit::Total(n)
    | SlotLimit::KeptForJudge(n)
    | SlotLimit::Project(n)
    | SlotLimit::Agent(_, n)
    | SlotLimit::Gates(n)
    | SlotLimit::Pool(_, n)) = limit;
    let starts = |action: &Action| matches!(action, Action::StartRun(_));
    let takes = observed.snapshot.live.iter().any(LiveRun::takes_slot);
    *n > 0 && (takes || observed.schedule.actions.iter().any(starts))
}

/// Returns whether a tick does not read every issue of a project that could start.
pub(super) fn is_cut(snapshot: &Snapshot, project: &ProjectId) -> bool {
    let read = snapshot.candidates.iter().filter(|c| c.project == *project);
    read.count() >= CANDIDATES_MAX
}

/// Returns the entry of a project of one kind.
pub(super) fn entry_of<'a>(
    observed: &Observed<'a>,
    project: &ProjectId,
    kind: InboxKind,
) -> Option<&'a InboxItem> {
    let of_project =
        |item: &&InboxItem| item.kind == kind && item.project.as_ref() == Some(project);
    observed.inbox.iter().find(of_project)
}

/// Finds the entry of a hold by its scope, or of the pause: its key begins so.
fn hold_entry<'a>(observed: &Observed<'a>, name: &dyn fmt::Display) -> Option<&'a InboxItem> {
    let prefix = format!("hold:{name}:");
    let is_it = |item: &&InboxItem| item.kind == InboxKind::Hold && item.key.starts_with(&prefix);
    observed.inbox.iter().find(is_it)
}
