//! Leases: how long a phase stays with the session that took it.
//!
//! A session of a coding agent may die without reporting. A phase that it took with a lease is offered again when the
//! lease has run out; that counts as a failed attempt, so that a phase that kills its sessions is not offered for ever.

use std::collections::BTreeMap;

use super::document::StateFile;
use crate::Timestamp;
use crate::id::PlanPhaseId;
use crate::plan::failure::FailureClass;
use crate::plan::state::{
    FailurePolicy, FailureReport, PhaseEvent, PhaseProgress, PhaseStatus, plan_failure,
};
use crate::retry::after;

/// Length of a renewal of a phase that was taken without a lease, in milliseconds: 30 minutes.
pub const LEASE_MS_DEFAULT: u64 = 30 * 60 * 1_000;
/// Longest lease, in milliseconds: a day.
pub const LEASE_MS_MAX: u64 = 24 * 60 * 60 * 1_000;

/// A running phase's lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lease {
    /// When it runs out.
    pub(super) until: Timestamp,
    /// The length of a renewal.
    pub(super) length_ms: u64,
}

impl Lease {
    pub(super) fn new(length_ms: u64, now: Timestamp) -> Self {
        Self {
            until: after(now, length_ms),
            length_ms,
        }
    }
}

/// The leases of a file's running phases.
#[derive(Debug, Clone, Default)]
pub(super) struct Leases(BTreeMap<PlanPhaseId, Lease>);

impl Leases {
    pub(super) fn of(file: &StateFile) -> Self {
        let running = file
            .phases
            .iter()
            .filter(|(_, record)| record.status == PhaseStatus::Running);
        let lease = running.filter_map(|(phase, record)| {
            let lease = Lease {
                until: record.lease_until?,
                length_ms: record.lease_ms.unwrap_or(LEASE_MS_DEFAULT),
            };
            Some((phase.clone(), lease))
        });
        Self(lease.collect())
    }

    /// Removes and returns the phases whose leases have expired, except one.
    pub(super) fn take_run_out(
        &mut self,
        now: Timestamp,
        spared: Option<&PlanPhaseId>,
    ) -> Vec<(PlanPhaseId, Lease)> {
        let has_run_out =
            |phase: &PlanPhaseId, lease: &mut Lease| lease.until <= now && Some(phase) != spared;
        self.0.extract_if(.., has_run_out).collect()
    }

    pub(super) fn get(&self, phase: &PlanPhaseId) -> Option<Lease> {
        self.0.get(phase).copied()
    }

    pub(super) fn insert(&mut self, phase: PlanPhaseId, lease: Lease) {
        self.0.insert(phase, lease);
    }

    /// Writes the leases of phases that are still running.
    pub(super) fn write(&self, file: &mut StateFile) {
        for (phase, record) in &mut file.phases {
            let lease = self.get(phase);
            let lease = lease.filter(|_| record.status == PhaseStatus::Running);
            record.lease_until = lease.map(|lease| lease.until);
            record.lease_ms = lease.map(|lease| lease.length_ms);
        }
    }
}

/// Decides the consequences of a lost session: the phase is retried at once, or someone has to decide.
pub(super) fn plan_loss(
    progress: &PhaseProgress,
    error: &str,
    seed: (&str, &str),
    policy: &FailurePolicy,
    now: Timestamp,
) -> PhaseEvent {
    let report = FailureReport {
        run: None,
        error,
        class: FailureClass::Timeout,
        seed,
    };
    match plan_failure(progress, &report, policy, now) {
        // It has waited for the length of its lease already.
        PhaseEvent::RetryScheduled { run, failure, .. } => PhaseEvent::RetryScheduled {
            run,
            failure,
            due_at: now,
        },
        other => other,
    }
}
