//! Requests for issues.

use std::collections::BTreeSet;

use serde_json::Value;

use super::json::Shown;
use super::pages::{is_descending, is_since, page};
use super::route::{Caller, invalid, refusal, text};
use super::world::{GithubIssue, GithubWorld, Role};
use crate::http::message::{Answer, Request};

/// Longest text, in characters.
const BODY_CHARS_MAX: usize = 65_536;
/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 256;

pub(super) fn list(world: &GithubWorld, request: &Request) -> Answer {
    let state = request.parameter("state").unwrap_or("open");
    let wanted = |issue: &&GithubIssue| {
        let has_state = match state {
            "all" => true,
            "closed" => !issue.is_open,
            _ => issue.is_open,
        };
        has_state && issue.transferred.is_none() && is_since(request, issue.updated_at)
    };
    let mut found: Vec<&GithubIssue> = world.repository.issues.values().filter(wanted).collect();
    match request.parameter("sort") {
        Some("updated") => found.sort_by_key(|issue| (issue.updated_at.as_second(), issue.number)),
        _ => found.sort_by_key(|issue| (issue.created_at.as_second(), issue.number)),
    }
    if is_descending(request) {
        found.reverse();
    }
    let shown = Shown::of(world, request);
    let items = found
        .into_iter()
        .map(|issue| shown.issue(issue, &world.repository));
    page(request, items.collect())
}

pub(super) fn show(world: &GithubWorld, request: &Request, number: u64) -> Answer {
    let issue = Shown::of(world, request).issue(&world.issue(number), &world.repository);
    Answer::json(200, &issue)
}

pub(super) fn create(world: &mut GithubWorld, request: &Request, caller: &Caller) -> Answer {
    let Some(input) = request.json() else {
        return refusal(400, "Problems parsing JSON");
    };
    let Some(title) = text(&input, "title").filter(|title| !title.trim().is_empty()) else {
        return invalid("title", "title can't be blank");
    };
    if let Some(answer) = too_long(&input) {
        return answer;
    }
    let body = text(&input, "body").unwrap_or_default();
    let number = world.add_issue(caller.user, title, body);
    let labels = names(&input, "labels");
    if caller.role >= Some(Role::Triage) {
        let labels: BTreeSet<String> = labels.iter().map(|name| world.known_label(name)).collect();
        world.edit_quietly(number, |issue| issue.labels = labels);
    }
    let issue = Shown::of(world, request).issue(&world.issue(number), &world.repository);
    Answer::json(201, &issue)
}

pub(super) fn edit(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    number: u64,
) -> Answer {
    let Some(input) = request.json() else {
        return refusal(400, "Problems parsing JSON");
    };
    let is_author = world.issue(number).author == Some(caller.user);
    if caller.role < Some(Role::Triage) && !is_author {
        return refusal(403, "Must have admin rights to Repository.");
    }
    if let Some(answer) = too_long(&input) {
        return answer;
    }
    if text(&input, "title").is_some_and(|title| title.trim().is_empty()) {
        return invalid("title", "title can't be blank");
    }
    world.edit_issue(number, |issue| {
        if let Some(title) = text(&input, "title") {
            title.clone_into(&mut issue.title);
        }
        if let Some(body) = input.get("body") {
            issue.body = body.as_str().map(str::to_owned);
        }
        set_state(issue, &input);
    });
    show(world, request, number)
}

/// A reason counts only when the state changes.
fn set_state(issue: &mut GithubIssue, input: &Value) {
    let reason = text(input, "state_reason");
    match text(input, "state") {
        Some("closed") if issue.is_open => {
            issue.is_open = false;
            issue.reason = Some(reason.unwrap_or("completed").to_owned());
        }
        Some("open") if !issue.is_open => {
            issue.is_open = true;
            issue.reason = Some("reopened".to_owned());
        }
        _ => {}
    }
}

pub(super) fn too_long(input: &Value) -> Option<Answer> {
    let is_longer = |name, max| text(input, name).is_some_and(|text| text.chars().count() > max);
    if is_longer("title", TITLE_CHARS_MAX) {
        return Some(invalid(
            "title",
            "title is too long (maximum is 256 characters)",
        ));
    }
    is_longer("body", BODY_CHARS_MAX)
        .then(|| invalid("body", "body is too long (maximum is 65536 characters)"))
}

/// Reads a list of names; a label can be an object with one.
pub(super) fn names(input: &Value, field: &str) -> Vec<String> {
    let list = input.get(field).and_then(Value::as_array);
    let items = list.into_iter().flatten();
    items
        .filter_map(|item| item.as_str().or_else(|| text(item, "name")))
        .map(str::to_owned)
        .collect()
}
