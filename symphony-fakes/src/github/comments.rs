//! Requests for comments.

use serde_json::Value;

use super::json::Shown;
use super::pages::{is_since, page};
use super::route::{Caller, invalid, not_found, refusal, text};
use super::world::{GithubComment, GithubWorld};
use crate::http::message::{Answer, Request};

/// Longest text, in characters.
const BODY_CHARS_MAX: usize = 65_536;

pub(super) fn list_all(world: &GithubWorld, request: &Request) -> Answer {
    let mut found: Vec<&GithubComment> = world
        .repository
        .comments
        .values()
        .filter(|comment| is_since(request, comment.updated_at))
        .collect();
    match request.parameter("sort") {
        Some("updated") => {
            found.sort_by_key(|comment| (comment.updated_at.as_second(), comment.id));
        }
        _ => found.sort_by_key(|comment| (comment.created_at.as_second(), comment.id)),
    }
    if request.parameter("direction") == Some("desc") {
        found.reverse();
    }
    shown(world, request, &found)
}

pub(super) fn list(world: &GithubWorld, request: &Request, issue: u64) -> Answer {
    let all = world.repository.comments.values();
    let found: Vec<&GithubComment> = all
        .filter(|comment| comment.issue == issue && is_since(request, comment.updated_at))
        .collect();
    shown(world, request, &found)
}

fn shown(world: &GithubWorld, request: &Request, found: &[&GithubComment]) -> Answer {
    let shown = Shown::of(world, request);
    page(
        request,
        found.iter().map(|comment| shown.comment(comment)).collect(),
    )
}

pub(super) fn create(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    issue: u64,
) -> Answer {
    let input = request.json();
    let Some(body) = input.as_ref().and_then(|input| text(input, "body")) else {
        return refusal(400, "Problems parsing JSON");
    };
    if let Some(answer) = refused(body) {
        return answer;
    }
    let id = world.add_comment(caller.user, issue, body);
    one(world, request, id, 201)
}

pub(super) fn edit(world: &mut GithubWorld, request: &Request, id: &str) -> Answer {
    let input = request.json().unwrap_or(Value::Null);
    let known = id
        .parse()
        .ok()
        .filter(|id| world.repository.comments.contains_key(id));
    let (Some(id), Some(body)) = (known, text(&input, "body")) else {
        return not_found();
    };
    if let Some(answer) = refused(body) {
        return answer;
    }
    world.edit_comment(id, body);
    one(world, request, id, 200)
}

fn refused(body: &str) -> Option<Answer> {
    if body.trim().is_empty() {
        return Some(invalid("body", "body can't be blank"));
    }
    let is_longer = body.chars().count() > BODY_CHARS_MAX;
    is_longer.then(|| invalid("body", "body is too long (maximum is 65536 characters)"))
}

fn one(world: &GithubWorld, request: &Request, id: u64, status: u16) -> Answer {
    let comment = world.repository.comments.get(&id);
    comment.map_or_else(not_found, |comment| {
        Answer::json(status, &Shown::of(world, request).comment(comment))
    })
}
