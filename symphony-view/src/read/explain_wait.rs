//! Reasons to wait that issues and plans share.

use symphony_core::gates::{BASE_HAS_CHANGED, BaseGates};
use symphony_core::hold::HoldScope;
use symphony_core::inbox::InboxItem;
use symphony_core::tick::{Reason, Snapshot};
use symphony_core::wording::before_more;

use crate::WaitView;

/// Adds to a hold of gates that its base is not the one that was tried: a person may have repaired it already.
pub(super) fn note_changed_base(reason: &mut Reason, snapshot: &Snapshot) {
    let Reason::Held {
        scope: HoldScope::Gates(project),
        why,
        ..
    } = reason
    else {
        return;
    };
    let view = snapshot.projects.get(project);
    if view.is_some_and(|view| view.base_gates == Some(BaseGates::Untried)) {
        *why = format!("{why}; {BASE_HAS_CHANGED}");
    }
}

/// Says that nothing will ever continue an issue and that no inbox entry asks for help: a defect in Symphony.
pub(super) fn stranded(why: &str) -> WaitView {
    WaitView::Person {
        reason: "stranded",
        text: format!(
            "{why}: this is a defect in Symphony, and `symphony doctor --audit` lists everything that is stranded"
        ),
    }
}

/// Says what a person can do; and what waits, unless dispatch has given that reason already.
pub(super) fn for_you(item: &InboxItem, reasons: &[Reason]) -> WaitView {
    let answers: Vec<String> = item
        .answers
        .iter()
        .map(|answer| format!("`{answer}`"))
        .collect();
    let answers = answers.join(" or ");
    let is_told = reasons.iter().any(|reason| reason.to_string() == item.text);
    WaitView::Person {
        reason: item.kind.name(),
        text: if is_told {
            format!("it waits for you: {answers}")
        } else {
            before_more(&item.text) + &answers
        },
    }
}
