//! Lifting a hold.

use symphony_core::log::LogEvent;
use symphony_core::run::Run;

use crate::database::context::Context;
use crate::database::event::{About, append};
use crate::db::Transaction;
use crate::error::StoreError;
use crate::run::hold_scope::scope_from;

/// Why a hold is lifted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LiftCause<'a> {
    /// A probe succeeded.
    Probe(&'a Run),
    /// A person tried what the hold is about, and it works.
    Tried,
    /// Nothing that met the condition is waiting any longer.
    NothingWaits,
}

/// Lifts a hold, if there is one.
pub(crate) fn lift(
    tx: &Transaction<'_>,
    context: &Context,
    cause: LiftCause<'_>,
    key: &str,
) -> Result<(), StoreError> {
    let lifted = tx
        .prepare_cached("DELETE FROM hold WHERE scope = ?1")?
        .execute([key])?;
    if lifted == 0 {
        return Ok(());
    }
    let scope = scope_from(key.to_owned())?;
    let (event, run) = match cause {
        LiftCause::Probe(run) => (LogEvent::HoldLifted { scope: Some(scope) }, Some(&run.id)),
        LiftCause::Tried => (LogEvent::HoldLifted { scope: Some(scope) }, None),
        LiftCause::NothingWaits => (LogEvent::HoldDropped { scope }, None),
    };
    let about = About {
        run,
        ..About::default()
    };
    append(tx, context, about, &event)
}
