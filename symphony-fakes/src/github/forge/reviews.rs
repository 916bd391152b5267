//! Requests for reviews and their comments.

use serde_json::Value;

use crate::github::GithubWorld;
use crate::github::json::Shown;
use crate::github::pages::{is_since, page};
use crate::github::route::{Caller, invalid, not_found, refusal, text};
use crate::http::message::{Answer, Request};

pub(super) fn list(world: &GithubWorld, request: &Request, number: u64) -> Answer {
    let shown = Shown::of(world, request);
    let reviews = world.forge.reviews.values();
    let found = reviews.filter(|review| review.pull == number);
    page(request, found.map(|review| shown.review(review)).collect())
}

pub(super) fn comments(world: &GithubWorld, request: &Request, number: u64) -> Answer {
    let shown = Shown::of(world, request);
    let comments = world.forge.review_comments.values();
    let found = comments.filter(|one| one.pull == number && is_since(request, one.updated_at));
    page(
        request,
        found.map(|comment| shown.review_comment(comment)).collect(),
    )
}

/// Replies; only to the first comment of a thread.
pub(super) fn reply(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    number: u64,
    id: &str,
) -> Answer {
    let input = request.json().unwrap_or(Value::Null);
    let Some(body) = text(&input, "body") else {
        return refusal(400, "Problems parsing JSON");
    };
    let id: Option<u64> = id.parse().ok();
    let known = id.and_then(|id| world.forge.review_comments.get(&id));
    let Some(first) = known.filter(|comment| comment.pull == number) else {
        return not_found();
    };
    if first.reply_to.is_some() {
        return refusal(404, "Parent comment is itself a reply");
    }
    if body.trim().is_empty() {
        return invalid("body", "body can't be blank");
    }
    let id = world.reply(caller.user, first.id, body);
    let comments = &world.forge.review_comments;
    comments.get(&id).map_or_else(not_found, |comment| {
        Answer::json(201, &Shown::of(world, request).review_comment(comment))
    })
}
