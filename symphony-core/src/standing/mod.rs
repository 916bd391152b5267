//! Why something that has not ended is not stuck: it can start, has a due time, a live run or a dependency, or a person
//! finds it in the inbox.
//!
//! One pure function reads what a tick reads (the snapshot, its schedule, the inbox), so that the tick, `explain`, the
//! inbox and the audit cannot disagree. What has no such answer is stranded: a defect of Symphony's, which
//! `doctor --audit` reports.

mod decide;
mod graph;
mod item;
mod observed;
mod open;
mod reasons;
mod words;

use std::collections::BTreeMap;

pub use item::{Dependency, Item, Standing};
pub use observed::Observed;
pub use open::{
    OpenIssue, OpenItems, OpenPullRequest, OpenState, Parked, UNSEEN_PUBLICATION_MS, UnpublishedPr,
};

/// Returns for everything that has not ended why it is not stuck, or that it is stranded.
pub fn standings(observed: &Observed<'_>) -> BTreeMap<Item, Standing> {
    let mut standings = decide::each_by_itself(observed);
    graph::follow_dependencies(&mut standings);
    standings
}
