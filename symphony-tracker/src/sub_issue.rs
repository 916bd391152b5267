//! Sub-tasks of mirrored issues, as issues of the tracker.

use std::collections::BTreeSet;

use symphony_core::config::TrackerSettings;

use crate::change::Change;
use crate::linked::{Covers, Departing, LocalIssue, TextBy};
use crate::{labels, quote, text};

/// Decides whether an issue of ours becomes a sub-issue of the tracker's issue `parent_key`, of which it is a sub-task. The caller
/// asks once per issue, as long as it is not linked and no such change waits.
///
/// The sub-issue has the labels of the filter, so that it keeps matching, and those of ours that the tracker can have.
pub fn plan_sub_issue(
    settings: &TrackerSettings,
    parent_key: &str,
    ours: &LocalIssue,
    by: TextBy,
) -> Option<Departing> {
    if !settings.subtasks || ours.state.status().is_terminal() {
        return None;
    }
    let text = match by {
        TextBy::Person => ours.description.clone(),
        TextBy::Agent => quote::agent_text(&ours.description),
    };
    let lead = format!("Symphony made this issue as a part of {parent_key}.");
    let body = format!("{lead}\n\n{text}");
    let sendable = labels::plain(settings, &ours.labels)
        .into_values()
        .filter(|name| labels::can_be_sent(settings, name))
        .collect();
    let wanted: BTreeSet<String> = settings.filter.labels.iter().cloned().collect();
    Some(Departing {
        change: Change::AddSubIssue {
            title: text::title_out(&ours.title, by),
            body: body.trim_end().to_owned(),
            labels: labels::changed(&wanted, &sendable, &BTreeSet::new()),
        },
        covers: Covers::SubIssue {
            issue: ours.id.clone(),
            local: Box::new(ours.fields()),
        },
    })
}
