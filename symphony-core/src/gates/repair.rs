//! Issues that repair a gate which is red on the base: they are worked on while the project is on hold for it.

use super::base_text::named_gate;
use crate::id::IssueId;
use crate::issue::IssueStatus;

/// Beginning of the label of such an issue; the gate's name follows.
pub const FIXES_GATE_LABEL: &str = "fixes-gate:";

/// An open issue that repairs a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRepair {
    /// The gate.
    pub gate: String,
    /// The issue.
    pub issue: IssueId,
    /// Where it is.
    pub status: IssueStatus,
}

/// Returns whether an issue with these labels repairs a gate.
pub fn fixes_gate(labels: &[String]) -> bool {
    repaired_gates(labels).next().is_some()
}

/// Returns the gates that an issue with these labels repairs.
pub fn repaired_gates(labels: &[String]) -> impl Iterator<Item = &str> {
    let named = labels.iter();
    named.filter_map(|label| label.strip_prefix(FIXES_GATE_LABEL))
}

/// What is known about a project's gates if one of them is red on the base.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownGates {
    /// Their names, in the order of the configuration.
    pub names: Vec<String>,
    /// The issues that are to repair some of them.
    pub repairs: Vec<GateRepair>,
    /// Whether the base, its gates or its set-up have changed since the trial: the next tick tries them.
    pub has_moved: bool,
}

impl KnownGates {
    /// Returns the issue that repairs the gate which a hold's text names first, if there is one: another one would be
    /// paid for the same work.
    pub fn repair_under_way(&self, text: &str) -> Option<&GateRepair> {
        let gate = named_gate(text)?;
        self.repairs.iter().find(|repair| repair.gate == gate)
    }

    /// Returns the command that changes the command of that gate.
    pub(super) fn change_command(&self, text: &str) -> Option<String> {
        let gate = named_gate(text)?;
        let index = self.names.iter().position(|name| name == gate)?;
        Some(format!(
            "symphony config set 'gates[{index}].command' 'COMMAND'"
        ))
    }
}
