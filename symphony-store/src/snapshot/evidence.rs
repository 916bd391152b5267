//! Gates and verdict of an open pull request's head commit, read in the same way for issues and plans.

use symphony_core::Timestamp;
use symphony_core::pull_request::{Verdict, VerifiedGates};
use symphony_core::tick::GatesState;

use crate::database::row::{json, time};
use crate::db::Row;
use crate::error::StoreError;

/// Gates and verdict of the head commit, and when a judge last looked at the pull request.
pub(super) struct Evidence {
    /// The gates that ran on the head commit; `None` when they have not.
    pub(super) gates: Option<VerifiedGates>,
    /// Whether the head commit has a verdict.
    pub(super) has_verdict: bool,
    /// When the last judge started.
    pub(super) last_judged_at: Option<Timestamp>,
}

impl Evidence {
    /// Parses a row with `head_commit`, `verified_gates`, `verdict` and `last_judged`.
    pub(super) fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        let head: String = row.get("head_commit")?;
        let gates: Option<String> = row.get("verified_gates")?;
        let gates: Option<VerifiedGates> = gates
            .map(|text| json("verified gates", &text))
            .transpose()?;
        let verdict: Option<String> = row.get("verdict")?;
        let verdict: Option<Verdict> = verdict.map(|text| json("verdict", &text)).transpose()?;
        let last_judged: Option<i64> = row.get("last_judged")?;
        Ok(Self {
            gates: gates.filter(|gates| gates.commit == head),
            has_verdict: verdict.is_some_and(|verdict| verdict.commit == head),
            last_judged_at: last_judged.map(time).transpose()?,
        })
    }
}

/// Returns when the pending gates of a head commit are due, from `gates_due_at` and `gates_problem`.
pub(super) fn pending_gates(row: &Row<'_>) -> Result<GatesState, StoreError> {
    Ok(GatesState::Pending {
        due_at: time(row.get("gates_due_at")?)?,
        problem: row.get("gates_problem")?,
    })
}
