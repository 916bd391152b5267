//! The event log, as far as this version can read it.

use symphony_core::listing::list_few;
use symphony_store::Store;

use super::check::CheckView;
use crate::failure::database_fix;

/// Kinds that are named; the rest is counted.
const KINDS_NAMED_MAX: usize = 3;

/// Entries of the event log that this version does not know: a newer one worked with this database.
pub(super) fn check_events(store: &Store) -> Option<CheckView> {
    const CHECK: &str = "event log";
    let unknown = match store.unknown_events() {
        Ok(unknown) if unknown.is_empty() => return None,
        Ok(unknown) => unknown,
        Err(error) => return Some(CheckView::failed(CHECK, &error, database_fix(&error))),
    };
    let count: u64 = unknown.iter().map(|kind| kind.count).sum();
    let names = list_few(
        unknown.iter().map(|kind| kind.kind.as_str()),
        KINDS_NAMED_MAX,
    );
    let (entries, are) = match count {
        1 => ("entry", "is"),
        _ => ("entries", "are"),
    };
    Some(CheckView::warning(
        CHECK,
        format!(
            "{count} {entries} of the event log {are} of a kind that this version does not know ({names})"
        ),
        "use the newest version of Symphony that has used this database",
    ))
}
