//! A ticket as it is kept in the database and given to a worker.

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;
use symphony_workflow::{Blocker, Ticket};

/// A ticket in a file or a row.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeptTicket {
    id: String,
    identifier: String,
    title: String,
    state: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    priority: Option<i64>,
    #[serde(default)]
    branch_name: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    blocked_by: Vec<KeptBlocker>,
    #[serde(default)]
    created_at: Option<Timestamp>,
    #[serde(default)]
    updated_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptBlocker {
    id: Option<String>,
    identifier: Option<String>,
    state: Option<String>,
}

impl From<Ticket> for KeptTicket {
    fn from(ticket: Ticket) -> Self {
        let blockers = ticket.blocked_by.into_iter().map(|one| KeptBlocker {
            id: one.id,
            identifier: one.identifier,
            state: one.state,
        });
        Self {
            id: ticket.id,
            identifier: ticket.identifier,
            title: ticket.title,
            state: ticket.state,
            description: ticket.description,
            priority: ticket.priority,
            branch_name: ticket.branch_name,
            url: ticket.url,
            labels: ticket.labels,
            blocked_by: blockers.collect(),
            created_at: ticket.created_at,
            updated_at: ticket.updated_at,
        }
    }
}

impl From<KeptTicket> for Ticket {
    fn from(kept: KeptTicket) -> Self {
        let blockers = kept.blocked_by.into_iter().map(|one| Blocker {
            id: one.id,
            identifier: one.identifier,
            state: one.state,
        });
        Self {
            id: kept.id,
            identifier: kept.identifier,
            title: kept.title,
            state: kept.state,
            description: kept.description,
            priority: kept.priority,
            branch_name: kept.branch_name,
            url: kept.url,
            labels: kept.labels,
            blocked_by: blockers.collect(),
            created_at: kept.created_at,
            updated_at: kept.updated_at,
        }
    }
}

/// Returns a ticket as JSON.
pub(crate) fn ticket_text(ticket: &Ticket) -> String {
    serde_json::to_string(&KeptTicket::from(ticket.clone())).expect("a ticket has string keys only")
}

/// Reads a ticket from JSON; a row that another version wrote still has its id and its name.
pub(crate) fn ticket_of(text: &str, id: &str, identifier: &str) -> Ticket {
    serde_json::from_str::<KeptTicket>(text).map_or_else(
        |_other| Ticket {
            id: id.to_owned(),
            identifier: identifier.to_owned(),
            ..Ticket::default()
        },
        Ticket::from,
    )
}

/// Completes what a refresh by ids returned, which is a small ticket, with what was known before.
pub(crate) fn refreshed(known: &Ticket, now: Ticket) -> Ticket {
    Ticket {
        identifier: if now.identifier.is_empty() {
            known.identifier.clone()
        } else {
            now.identifier
        },
        title: if now.title.is_empty() {
            known.title.clone()
        } else {
            now.title
        },
        description: now.description.or_else(|| known.description.clone()),
        priority: now.priority.or(known.priority),
        branch_name: now.branch_name.or_else(|| known.branch_name.clone()),
        url: now.url.or_else(|| known.url.clone()),
        labels: if now.labels.is_empty() {
            known.labels.clone()
        } else {
            now.labels
        },
        blocked_by: if now.blocked_by.is_empty() {
            known.blocked_by.clone()
        } else {
            now.blocked_by
        },
        created_at: now.created_at.or(known.created_at),
        updated_at: now.updated_at.or(known.updated_at),
        id: now.id,
        state: now.state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket() -> Ticket {
        Ticket {
            id: "i".to_owned(),
            identifier: "ABC-1".to_owned(),
            title: "T".to_owned(),
            state: "Todo".to_owned(),
            description: Some("text".to_owned()),
            priority: Some(2),
            labels: vec!["bug".to_owned()],
            blocked_by: vec![Blocker {
                identifier: Some("ABC-0".to_owned()),
                ..Blocker::default()
            }],
            created_at: Some(Timestamp::UNIX_EPOCH),
            ..Ticket::default()
        }
    }

    #[test]
    fn a_ticket_is_kept_whole() {
        assert_eq!(ticket_of(&ticket_text(&ticket()), "", ""), ticket());
    }

    #[test]
    fn a_row_of_another_version_still_names_its_ticket() {
        let found = ticket_of("{}", "i", "ABC-1");
        assert_eq!(
            (found.id.as_str(), found.identifier.as_str()),
            ("i", "ABC-1")
        );
    }

    #[test]
    fn a_refresh_that_returns_little_loses_nothing() {
        let small = Ticket {
            id: "i".to_owned(),
            state: "Done".to_owned(),
            ..Ticket::default()
        };
        let expected = Ticket {
            state: "Done".to_owned(),
            ..ticket()
        };
        assert_eq!(refreshed(&ticket(), small), expected);
    }
}
