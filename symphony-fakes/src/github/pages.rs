//! Pages of a list, with the links between them.

use serde_json::Value;
use symphony_core::Timestamp;

use crate::http::message::{Answer, Request};

/// Most items of a page, and how many there are when nothing is asked.
const ITEMS_MAX: usize = 100;
const ITEMS_DEFAULT: usize = 30;

/// Answers with the page that a request asks for.
pub(super) fn page(request: &Request, items: Vec<Value>) -> Answer {
    let number = |name: &str| request.parameter(name).and_then(|text| text.parse().ok());
    let size = number("per_page")
        .unwrap_or(ITEMS_DEFAULT)
        .clamp(1, ITEMS_MAX);
    let page = number("page").unwrap_or(1).max(1);
    let last = items.len().div_ceil(size).max(1);
    let shown: Vec<Value> = items
        .into_iter()
        .skip((page - 1) * size)
        .take(size)
        .collect();
    let answer = Answer::json(200, &Value::Array(shown));
    let mut links = Vec::new();
    let mut add = |name: &str, target: usize| {
        links.push(format!("<{}>; rel=\"{name}\"", address(request, target)));
    };
    if page > 1 {
        add("prev", page - 1);
        add("first", 1);
    }
    if page < last {
        add("next", page + 1);
        add("last", last);
    }
    if links.is_empty() {
        answer
    } else {
        answer.with("link", links.join(", "))
    }
}

fn address(request: &Request, page: usize) -> String {
    let path = request.target.split('?').next().unwrap_or_default();
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in request.query.iter().filter(|(name, _)| name != "page") {
        query.append_pair(name, value);
    }
    query.append_pair("page", &page.to_string());
    format!("{}{path}?{}", request.own_address, query.finish())
}

/// Whether something changed at or after the time that is asked for; GitHub's times have no fraction.
pub(super) fn is_since(request: &Request, updated_at: Timestamp) -> bool {
    let since = request
        .parameter("since")
        .and_then(|text| text.parse::<Timestamp>().ok());
    since.is_none_or(|since| updated_at.as_second() >= since.as_second())
}

/// Whether a list begins with the last item.
pub(super) fn is_descending(request: &Request) -> bool {
    request.parameter("direction") != Some("asc")
}
