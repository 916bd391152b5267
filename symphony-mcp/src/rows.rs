//! Issues, review points and phase deliveries as answers show them.

use serde_json::{Value, json};
use symphony_core::contract::Delivery;
use symphony_core::issue::Issue;
use symphony_core::review_point::ReviewPoint;

/// Returns an issue as lists show it.
pub(crate) fn issue_row(issue: &Issue) -> Value {
    json!({
        "identifier": issue.id,
        "title": issue.title,
        "status": issue.state.status(),
        "priority": issue.priority,
        "size": issue.size,
        "labels": issue.labels,
        "parent": issue.parent,
        "depends_on": issue.depends_on,
        "phase": issue.phase(),
    })
}

/// Returns a point as `get_issue` and the answers of tools show it.
pub(crate) fn point_row(point: &ReviewPoint) -> Value {
    let answers: Vec<Value> = point
        .answers
        .iter()
        .map(|answer| {
            json!({
                "answer": answer.kind, "text": answer.text, "commit": answer.commit, "author": answer.author,
                "created_at": answer.created_at,
            })
        })
        .collect();
    json!({
        "id": point.number,
        "severity": point.severity,
        "state": point.state,
        "file": point.place.as_ref().map(|place| &place.file),
        "lines": point.place.as_ref().and_then(|place| place.lines),
        "text": point.text,
        "author": point.author,
        "answered": point.is_answered(),
        "answers": answers,
    })
}

/// Returns a delivery as `get_issue` shows it.
pub(crate) fn delivery_row(delivery: &Delivery) -> Value {
    json!({
        "id": delivery.id,
        "phase": delivery.phase,
        "state": delivery.state,
        "artifact_path": delivery.artifact_path,
        "summary": delivery.summary,
        "skip_to": delivery.skip_to,
        "reasons": delivery.reasons,
        "verdict": delivery.verdict,
        "head_commit": delivery.head_commit,
    })
}
