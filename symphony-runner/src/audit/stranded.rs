//! Nothing is stranded: each issue, pull request, plan and publication that has not ended can continue, or is in a
//! person's inbox (L1).

use symphony_core::Timestamp;
use symphony_core::invariant::{Invariant, Violation};
use symphony_core::standing::Standing;
use symphony_core::tick::Snapshot;
use symphony_store::Store;

use crate::error::RunnerError;
use crate::standing::Outlook;

/// Returns what is stranded, from the same observations as a tick, `explain` and the inbox.
///
/// # Errors
/// When the database cannot be read.
pub fn check(
    store: &mut Store,
    snapshot: &Snapshot,
    now: Timestamp,
) -> Result<Vec<Violation>, RunnerError> {
    let standings = Outlook::of(store, snapshot, now)?.standings.into_iter();
    Ok(standings
        .filter_map(|(item, standing)| match standing {
            Standing::Stranded { why } => {
                Some(Violation::new(Invariant::L1, item.to_string(), why))
            }
            _ => None,
        })
        .collect())
}
