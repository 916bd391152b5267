//! Labels that name the gate which an issue is to repair.

use symphony_core::gates::{GateRepair, repaired_gates};
use symphony_runner::session::Session;

use crate::failure::{Exit, Stop, did_you_mean};

/// Refuses labels for the repair of a gate that the project does not have, and of one that another issue is to repair: the same work
/// would be paid for twice.
///
/// # Errors
/// When a label is refused, or the configuration or the database cannot be read.
pub(super) fn check_repairs(session: &Session, labels: &[String]) -> anyhow::Result<()> {
    for gate in repaired_gates(labels) {
        check_repair(session, gate)?;
    }
    Ok(())
}

fn check_repair(session: &Session, gate: &str) -> anyhow::Result<()> {
    let config = session.config()?;
    let names = || config.gates.iter().map(|gate| gate.name.as_str());
    if !names().any(|name| name == gate) {
        let message = format!("the project has no gate `{gate}`");
        let listing = "`symphony config show gates` lists the gates";
        let hint = did_you_mean(gate, names(), listing);
        return Err(Stop::new(Exit::NotFound, message).hint(hint).into());
    }
    let repairs = session.store.gate_repairs(&session.project.id)?;
    if let Some(GateRepair { issue, status, .. }) = repairs.iter().find(|r| r.gate == gate) {
        let message = format!("{issue} (`{status}`) is already meant to repair the gate `{gate}`");
        let hint = format!(
            "`symphony issue show {issue}` shows its progress; `symphony issue close {issue} --cancelled --reason \
             TEXT` cancels it"
        );
        return Err(Stop::new(Exit::Refused, message).hint(hint).into());
    }
    Ok(())
}
