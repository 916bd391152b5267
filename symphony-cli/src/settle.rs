//! Merges that were cut off, before a person's order that they could cross.

use symphony_runner::merge::{MergesUnderWay, settle_merges};
use symphony_view::lines_of;

use crate::app::App;

/// Settles the merges of the project that were cut off, and waits for one whose base is just moving: the order that follows finds
/// pull requests, issues and plans as they are then. Where it cannot, the order is refused if it crosses a merge.
pub(crate) fn settle_cut_off_merges(app: &App) {
    // a command that needs a project says itself that there is none
    let Ok(mut session) = app.session() else {
        return;
    };
    let settled = settle_merges(
        &session.installation,
        &mut session.store,
        &session.project,
        MergesUnderWay::WaitedFor,
    );
    match settled {
        Ok(events) => lines_of(&events).for_each(|line| app.out.warn(&line)),
        Err(error) => app.out.warn(&format!(
            "an interrupted merge could not be settled: {error}"
        )),
    }
    app.surroundings
        .leave((session.installation, session.store));
}
