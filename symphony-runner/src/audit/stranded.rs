//! Nothing is stranded: each issue, pull request, plan and publication that has not ended can go on, or a person finds it in
//! the inbox (L1).

use symphony_core::Timestamp;
use symphony_core::invariant::{Invariant, Violation};
use symphony_core::standing::{Observed, Standing, standings};
use symphony_core::tick::{Snapshot, plan_tick};
use symphony_store::Store;

use crate::error::RunnerError;
use crate::inbox::inbox;

/// Returns what is stranded, with what a tick, `explain` and the inbox see.
///
/// # Errors
/// When the database cannot be read.
pub fn check(
    store: &mut Store,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Result<Vec<Violation>, RunnerError> {
    let open = store.open_items()?;
    let plan = plan_tick(snapshot, now);
    let inbox = inbox(store, snapshot, &plan, now)?;
    let observed = Observed {
        snapshot,
        plan: &plan,
        inbox: &inbox,
        open: &open,
        now,
    };
    let stranded = standings(&observed).into_iter();
    Ok(stranded
        .filter_map(|(item, standing)| match standing {
            Standing::Stranded { why } => {
                Some(Violation::new(Invariant::L1, item.to_string(), why))
            }
            _ => None,
        })
        .collect())
}
