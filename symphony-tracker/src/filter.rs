//! Which of a tracker's issues are mirrored.

use symphony_core::config::TrackerSettings;

use crate::labels;
use crate::remote::RemoteIssue;

/// Returns what is risky about a filter: one that names neither a label nor an assignee lets in what anyone writes.
pub fn risk(settings: &TrackerSettings) -> Option<&'static str> {
    let filter = &settings.filter;
    (filter.labels.is_empty() && filter.assignees.is_empty()).then_some(
        "`filter.labels` is empty: every issue there comes in, whoever wrote it, and agents work on it at your expense; name a label or an assignee",
    )
}

/// Returns what of a new issue does not match the filter; `None` if all does.
pub fn mismatch_of_new(settings: &TrackerSettings, issue: &RemoteIssue) -> Option<String> {
    let states = &settings.filter.states;
    let is_in_state = states.is_empty()
        || states
            .iter()
            .any(|state| labels::is_same(state, &issue.state.name));
    if !is_in_state {
        return Some(format!("its state is `{}`", issue.state.name));
    }
    mismatch(settings, issue)
}

/// Returns what of a linked issue no longer matches the filter. Its state only counts when it is first seen: it moves on.
pub fn mismatch(settings: &TrackerSettings, issue: &RemoteIssue) -> Option<String> {
    let filter = &settings.filter;
    let missing = filter
        .labels
        .iter()
        .find(|label| !labels::has(&issue.labels, label));
    if let Some(label) = missing {
        return Some(format!("it does not have the label `{label}`"));
    }
    let is_assigned = filter.assignees.is_empty()
        || issue.assignees.iter().any(|user| {
            filter
                .assignees
                .iter()
                .any(|wanted| labels::is_same(wanted, &user.login) || wanted == user.id.as_str())
        });
    (!is_assigned).then(|| "it is assigned to none of the users that the filter names".to_owned())
}
