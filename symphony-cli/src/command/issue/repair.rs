//! Labels that name the gate which an issue is to repair.

use symphony_runner::RunnerError;
use symphony_runner::order::OrderRefusal;
use symphony_runner::session::Session;

use crate::failure::{Exit, Stop, did_you_mean};

/// Says how to continue when a label for the repair of a gate is refused.
pub(super) fn of_repairs(session: &Session, error: RunnerError) -> anyhow::Error {
    let RunnerError::Order(refusal) = error else {
        return error.into();
    };
    let what = refusal.to_string();
    match refusal {
        OrderRefusal::NoGate { gate } => {
            let gates = session.config().map(|config| config.gates);
            let gates = gates.unwrap_or_default();
            let names = gates.iter().map(|gate| gate.name.as_str());
            let listing = "`symphony config show gates` lists the gates";
            let hint = did_you_mean(&gate, names, listing);
            Stop::new(Exit::NotFound, what).hint(hint).into()
        }
        OrderRefusal::RepairedElsewhere { issue, .. } => {
            let hint = format!(
                "`symphony issue show {issue}` shows its progress; `symphony issue close {issue} --cancelled --reason \
                 TEXT` cancels it"
            );
            Stop::new(Exit::Refused, what).hint(hint).into()
        }
        other => RunnerError::Order(other).into(),
    }
}
