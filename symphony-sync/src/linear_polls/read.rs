//! From a page of Linear to tickets (section 11.3).

use serde_json::Value;
use symphony_workflow::{Blocker, Ticket};

use super::error::PollError;
use crate::http::answer::{Answer, shortened};
use crate::token::Token;

/// A page of tickets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) tickets: Vec<Ticket>,
    /// Where the next page begins.
    pub(super) next: Option<String>,
}

impl Page {
    /// There is no other page.
    pub(super) const LAST: Option<String> = None;
}

/// Reads a page. Fields of a ticket that are missing stay empty; a page without a list of tickets is an error.
pub(super) fn page_of(answer: &Answer, token: &Token) -> Result<Page, PollError> {
    let unknown = |detail: &str| PollError::UnknownPayload {
        detail: detail.to_owned(),
    };
    let body: Value = serde_json::from_slice(&answer.body)
        .map_err(|_no_json| unknown(&answer.beginning(token)))?;
    if let Some(errors) = at(&body, "/errors")
        .as_array()
        .filter(|errors| !errors.is_empty())
    {
        let words = errors
            .iter()
            .filter_map(|error| at(error, "/message").as_str());
        let words = words.collect::<Vec<_>>().join("; ");
        return Err(PollError::GraphqlErrors {
            detail: shortened(&words, token),
        });
    }
    let issues = at(&body, "/data/issues");
    let nodes = at(issues, "/nodes").as_array();
    let nodes = nodes.ok_or_else(|| unknown("it has no `data.issues.nodes`"))?;
    let info = at(issues, "/pageInfo");
    let cursor = at(info, "/endCursor")
        .as_str()
        .filter(|cursor| !cursor.is_empty());
    let next = match (at(info, "/hasNextPage").as_bool(), cursor) {
        (Some(true), Some(cursor)) => Some(cursor.to_owned()),
        (Some(true), None) => return Err(PollError::MissingEndCursor),
        _ => None,
    };
    Ok(Page {
        tickets: nodes
            .iter()
            .filter(|node| node.is_object())
            .map(ticket_of)
            .collect(),
        next,
    })
}

/// Returns what is at a place; nothing where there is no such place.
fn at<'a>(value: &'a Value, place: &str) -> &'a Value {
    value.pointer(place).unwrap_or(&Value::Null)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn nodes(value: &Value) -> impl Iterator<Item = &Value> {
    at(value, "/nodes").as_array().into_iter().flatten()
}

fn ticket_of(node: &Value) -> Ticket {
    let labels: Vec<&str> = nodes(at(node, "/labels"))
        .filter_map(|label| at(label, "/name").as_str())
        .collect();
    let blockers = nodes(at(node, "/inverseRelations"))
        .filter(|relation| {
            at(relation, "/type")
                .as_str()
                .map(str::trim)
                .is_some_and(|kind| kind.eq_ignore_ascii_case("blocks"))
        })
        .map(|relation| at(relation, "/issue"))
        .map(|issue| Blocker {
            id: text(at(issue, "/id")),
            identifier: text(at(issue, "/identifier")),
            state: text(at(issue, "/state/name")),
        });
    let ticket = Ticket {
        id: text(at(node, "/id")).unwrap_or_default(),
        identifier: text(at(node, "/identifier")).unwrap_or_default(),
        title: text(at(node, "/title")).unwrap_or_default(),
        description: text(at(node, "/description")),
        priority: whole(at(node, "/priority")),
        state: text(at(node, "/state/name")).unwrap_or_default(),
        branch_name: text(at(node, "/branchName")),
        url: text(at(node, "/url")),
        labels: Vec::new(),
        blocked_by: blockers.collect(),
        created_at: at(node, "/createdAt")
            .as_str()
            .and_then(|at| at.parse().ok()),
        updated_at: at(node, "/updatedAt")
            .as_str()
            .and_then(|at| at.parse().ok()),
    };
    ticket.with_labels(&labels)
}

/// Returns a whole number; Linear's schema has priorities as fractions, and writes `2` or `2.0`.
fn whole(value: &Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    format!("{number:.0}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderMap;
    use serde_json::json;

    fn read(body: &Value) -> Result<Page, PollError> {
        let answer = Answer {
            status: 200,
            headers: HeaderMap::new(),
            body: body.to_string().into_bytes(),
            was_moved: false,
        };
        page_of(&answer, &Token::first_line("lin_api_0123456789").unwrap())
    }

    fn page(node: &Value, info: &Value) -> Value {
        json!({"data": {"issues": {"nodes": [node], "pageInfo": info}}})
    }

    #[test]
    fn tickets_are_normalised() {
        let node = json!({
            "id": "i", "identifier": "ABC-1", "title": "T", "description": null, "priority": 2.0,
            "state": {"name": "Todo"}, "branchName": "b", "url": "u",
            "labels": {"nodes": [{"name": "Bug"}, {"name": "Größe"}]},
            "inverseRelations": {"nodes": [
                {"type": "blocks", "issue": {"id": "j", "identifier": "ABC-0", "state": {"name": "Done"}}},
                {"type": "related", "issue": {"id": "k"}},
            ]},
            "createdAt": "2026-01-02T03:04:05.000Z", "updatedAt": "soon",
        });
        let found = read(&page(&node, &json!({"hasNextPage": false}))).unwrap();
        let ticket = &found.tickets[0];
        assert_eq!(ticket.labels, ["bug", "größe"]);
        assert_eq!(ticket.priority, Some(2));
        assert_eq!(ticket.blocked_by.len(), 1);
        assert_eq!(ticket.blocked_by[0].state.as_deref(), Some("Done"));
        assert!(ticket.created_at.is_some() && ticket.updated_at.is_none());
        assert_eq!(found.next, None);
        for priority in [json!(null), json!("2"), json!(1.5), json!(-1.5)] {
            let found = read(&page(&json!({"id": "i", "priority": priority}), &json!({})));
            assert_eq!(found.unwrap().tickets[0].priority, None);
        }
    }

    #[test]
    fn answers_that_are_none_have_the_specifications_classes() {
        for (body, class) in [
            (
                json!({"errors": [{"message": "no"}], "data": null}),
                "linear_graphql_errors",
            ),
            (json!({"data": {}}), "linear_unknown_payload"),
            (json!([]), "linear_unknown_payload"),
            (
                page(
                    &json!({"id": "i"}),
                    &json!({"hasNextPage": true, "endCursor": null}),
                ),
                "linear_missing_end_cursor",
            ),
        ] {
            assert_eq!(read(&body).unwrap_err().class(), class, "{body}");
        }
        let echoed = read(&json!({"errors": [{"message": "bad lin_api_0123456789"}]})).unwrap_err();
        assert!(!format!("{echoed} {echoed:?}").contains("lin_api_0123456789"));
    }
}
