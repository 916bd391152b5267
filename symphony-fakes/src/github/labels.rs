//! Requests for the labels of an issue.

use serde_json::Value;

use super::issues::names;
use super::json::Shown;
use super::route::{Caller, invalid, refusal};
use super::world::{GithubWorld, Role};
use crate::http::message::{Answer, Request};

/// Longest name, in characters.
const NAME_CHARS_MAX: usize = 50;

pub(super) fn list(world: &GithubWorld, request: &Request, number: u64) -> Answer {
    let shown = Shown::of(world, request);
    let labels = world.issue(number).labels;
    let labels = labels.iter().map(|name| shown.label(name));
    Answer::json(200, &Value::Array(labels.collect()))
}

pub(super) fn add(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    number: u64,
) -> Answer {
    if let Some(answer) = forbidden(caller) {
        return answer;
    }
    let names = names(&request.json().unwrap_or(Value::Null), "labels");
    let is_name = |name: &String| !name.trim().is_empty() && name.chars().count() <= NAME_CHARS_MAX;
    if names.is_empty() || !names.iter().all(is_name) {
        return invalid("name", "name is too long (maximum is 50 characters)");
    }
    let names: Vec<String> = names.iter().map(|name| world.known_label(name)).collect();
    world.edit_issue(number, |issue| issue.labels.extend(names));
    list(world, request, number)
}

pub(super) fn remove(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    number: u64,
    name: &str,
) -> Answer {
    if let Some(answer) = forbidden(caller) {
        return answer;
    }
    let known = world.known_label(name);
    if !world.issue(number).labels.contains(&known) {
        return refusal(404, "Label does not exist");
    }
    world.edit_issue(number, |issue| {
        issue.labels.remove(&known);
    });
    list(world, request, number)
}

pub(super) fn clear(world: &mut GithubWorld, caller: &Caller, number: u64) -> Answer {
    if let Some(answer) = forbidden(caller) {
        return answer;
    }
    world.edit_issue(number, |issue| issue.labels.clear());
    Answer::empty(204)
}

fn forbidden(caller: &Caller) -> Option<Answer> {
    (caller.role < Some(Role::Triage))
        .then(|| refusal(403, "Must have admin rights to Repository."))
}
