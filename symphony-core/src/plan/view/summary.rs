//! The result of a plan.

use std::collections::BTreeSet;
use std::fmt;

use crate::Timestamp;
use serde::Serialize;

use crate::id::PlanPhaseId;
use crate::plan::artifact::ArtifactKind;
use crate::plan::graph::Dag;
use crate::plan::state::{PhaseProgress, PhaseState, PhaseStatus, PlanState, PlanStatus};

/// The result of a plan. `Display` is the text for people; in JSON the fields are as here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanSummary {
    /// How it ended, or its state.
    pub status: PlanStatus,
    /// All phases.
    pub total_phases: usize,
    /// Complete ones, skipped ones included.
    pub completed: usize,
    /// Those that failed for good.
    pub failed: usize,
    /// From beginning to end, or until now, in milliseconds.
    pub duration_ms: u64,
    /// Each phase, in level order.
    pub phases: Vec<PhaseResult>,
    /// Paths of files that phases created or modified, each once, in order of production.
    pub artifacts: Vec<String>,
}

/// The result of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseResult {
    /// The phase.
    pub id: PlanPhaseId,
    /// Its state.
    pub status: PhaseStatus,
    /// Whether a person skipped it.
    pub skipped: bool,
    /// Whether it counts as complete although neither its agent reported it nor a check showed it.
    pub unconfirmed: bool,
    /// From its first start to its end, in milliseconds.
    pub duration_ms: Option<u64>,
    /// What went wrong.
    pub error: Option<String>,
}

impl PlanSummary {
    /// Sums a plan up.
    pub fn new(dag: &Dag, state: &PlanState, now: Timestamp) -> Self {
        let counts = state.counts();
        let mut artifacts = Vec::new();
        let mut seen = BTreeSet::new();
        let mut phases = Vec::with_capacity(dag.len());
        let in_order = dag.order().iter().filter_map(|at| {
            let id = dag.ids().get(*at)?;
            Some((id, state.phases.get(id)?))
        });
        for (id, progress) in in_order {
            phases.push(result(id, progress));
            for artifact in &progress.artifacts {
                let is_file = matches!(
                    artifact.kind,
                    ArtifactKind::FileCreated | ArtifactKind::FileModified
                );
                if let Some(path) = artifact.path.as_ref().filter(|_| is_file)
                    && seen.insert(path)
                {
                    artifacts.push(path.clone());
                }
            }
        }
        Self {
            status: state.status,
            total_phases: counts.total,
            completed: counts.complete,
            failed: counts.failed,
            duration_ms: between(state.started_at, state.completed_at.unwrap_or(now)),
            phases,
            artifacts,
        }
    }
}

fn result(id: &PlanPhaseId, progress: &PhaseProgress) -> PhaseResult {
    let times = progress.started_at.zip(progress.completed_at);
    PhaseResult {
        id: id.clone(),
        status: progress.status(),
        skipped: progress.state == PhaseState::Complete { skipped: true },
        unconfirmed: is_unconfirmed(progress),
        duration_ms: times.map(|(start, end)| between(start, end)),
        error: progress
            .failure
            .as_ref()
            .map(|failure| failure.error.clone()),
    }
}

/// Returns whether a phase counts as complete without confirmation.
pub(super) fn is_unconfirmed(progress: &PhaseProgress) -> bool {
    progress.state == PhaseState::Complete { skipped: false } && progress.is_unconfirmed
}

fn between(start: Timestamp, end: Timestamp) -> u64 {
    u64::try_from(end.duration_since(start).as_millis()).unwrap_or(0)
}

/// Renders `Xm Ys`.
struct Minutes(u64);

impl fmt::Display for Minutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000;
        write!(f, "{}m {}s", seconds / 60, seconds % 60)
    }
}

impl fmt::Display for PhaseResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.status.words())?;
        let error = self.error.as_deref().unwrap_or("");
        let first_line = error.lines().find(|line| !line.trim().is_empty());
        match (self.status, self.duration_ms, first_line) {
            (PhaseStatus::Complete, _, _) if self.skipped => f.write_str(" (skipped)"),
            (PhaseStatus::Complete, Some(ms), _) if self.unconfirmed => {
                write!(f, " ({}, unconfirmed)", Minutes(ms))
            }
            (PhaseStatus::Complete, None, _) if self.unconfirmed => f.write_str(" (unconfirmed)"),
            (PhaseStatus::Complete, Some(ms), _) => write!(f, " ({})", Minutes(ms)),
            (PhaseStatus::Complete, None, _) | (_, _, None) => Ok(()),
            (_, _, Some(error)) => write!(f, " - {}", error.trim()),
        }
    }
}

impl fmt::Display for PlanSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = match self.status {
            PlanStatus::Completed => "Complete",
            PlanStatus::Failed => "Failed",
            PlanStatus::Aborted => "Aborted",
            PlanStatus::Review => "In Review",
            PlanStatus::Running | PlanStatus::Paused | PlanStatus::AwaitingUserDecision => {
                "Under Way"
            }
        };
        writeln!(f, "Symphony Performance {title}\n")?;
        writeln!(f, "Total phases: {}", self.total_phases)?;
        writeln!(f, "Completed: {}", self.completed)?;
        writeln!(f, "Failed: {}", self.failed)?;
        writeln!(f, "Duration: {}", Minutes(self.duration_ms))?;
        writeln!(f, "\nPhase Results:")?;
        for phase in &self.phases {
            writeln!(f, "- {phase}")?;
        }
        if !self.artifacts.is_empty() {
            writeln!(f, "\nArtifacts Created:")?;
            for path in &self.artifacts {
                writeln!(f, "- {path}")?;
            }
        }
        Ok(())
    }
}
