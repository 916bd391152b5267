//! What a template can name: `issue` with all fields of a ticket, and `attempt` (section 4.1.1).

use liquid_core::model::{KString, Object, Value};

use crate::ticket::{Blocker, Ticket};

/// Returns the variables of a template. A field that the ticket lacks is there and holds nothing, so that a condition
/// can ask for it.
pub(super) fn globals(ticket: &Ticket, attempt: Option<u32>) -> Object {
    let attempt = attempt.map_or(Value::Nil, |attempt| Value::scalar(i64::from(attempt)));
    object([
        ("issue", Value::Object(issue(ticket))),
        ("attempt", attempt),
    ])
}

fn issue(ticket: &Ticket) -> Object {
    let labels = ticket.labels.iter().map(|label| text(label)).collect();
    let blockers = ticket
        .blocked_by
        .iter()
        .map(|blocker| Value::Object(blocked_by(blocker)))
        .collect();
    let moment = |at: Option<symphony_core::Timestamp>| at.map_or(Value::Nil, |at| text(&iso(at)));
    object([
        ("id", text(&ticket.id)),
        ("identifier", text(&ticket.identifier)),
        ("title", text(&ticket.title)),
        ("description", optional(ticket.description.as_deref())),
        (
            "priority",
            ticket.priority.map_or(Value::Nil, Value::scalar),
        ),
        ("state", text(&ticket.state)),
        ("branch_name", optional(ticket.branch_name.as_deref())),
        ("url", optional(ticket.url.as_deref())),
        ("labels", Value::Array(labels)),
        ("blocked_by", Value::Array(blockers)),
        ("created_at", moment(ticket.created_at)),
        ("updated_at", moment(ticket.updated_at)),
    ])
}

fn blocked_by(blocker: &Blocker) -> Object {
    object([
        ("id", optional(blocker.id.as_deref())),
        ("identifier", optional(blocker.identifier.as_deref())),
        ("state", optional(blocker.state.as_deref())),
    ])
}

/// Writes a moment as ISO 8601; a fraction of a second only where there is one.
fn iso(at: symphony_core::Timestamp) -> String {
    let whole = at.to_string();
    match whole.strip_suffix(".000Z") {
        Some(seconds) => format!("{seconds}Z"),
        None => whole,
    }
}

fn object<const N: usize>(entries: [(&'static str, Value); N]) -> Object {
    let entries = entries.into_iter();
    entries
        .map(|(name, value)| (KString::from_static(name), value))
        .collect()
}

fn optional(found: Option<&str>) -> Value {
    found.map_or(Value::Nil, text)
}

fn text(text: &str) -> Value {
    Value::scalar(text.to_owned())
}
