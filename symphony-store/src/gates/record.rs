//! The results of gates, recorded with their pull request.

use symphony_core::log::LogEvent;
use symphony_core::pull_request::{PullRequest, VerifiedGates};

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::db::Transaction;
use crate::error::StoreError;
use crate::gates::delay::forget_delay;
use crate::review::pull_request_write::write_gates;

pub(crate) fn record_gates(
    tx: &Transaction<'_>,
    context: &Context,
    pr: &PullRequest,
    gates: &VerifiedGates,
) -> Result<(), StoreError> {
    write_gates(tx, pr.id, gates)?;
    forget_delay(tx, pr.id)?;
    let verified = LogEvent::gates_verified(pr.id, gates);
    append(tx, context, About::of(&pr.of), &verified)
}
