//! Which request of a forge is for what.

use super::{checks, pulls, reviews, rules};
use crate::github::GithubWorld;
use crate::github::route::{Caller, not_found, refusal};
use crate::http::message::{Answer, Request};

/// Answers a request for something of a forge; nothing if it is for something else.
pub(in crate::github) fn routed(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    rest: &[&str],
) -> Option<Answer> {
    let is_mine = matches!(
        rest.first(),
        Some(&("pulls" | "commits" | "check-runs" | "actions" | "branches" | "rules"))
    );
    if !is_mine {
        return None;
    }
    let method = request.method.as_str();
    if method != "GET"
        && let Some(answer) = world.write_refusal(caller, "pull_requests=write")
    {
        return Some(answer);
    }
    Some(match (method, rest) {
        ("GET", ["pulls"]) => pulls::list(world, request),
        ("POST", ["pulls"]) => pulls::create(world, request, caller),
        (_, ["pulls", number, rest @ ..]) => on_pull(world, request, caller, number, rest),
        ("GET", ["commits", commit, "check-runs"]) => checks::runs(world, request, commit),
        ("GET", ["commits", commit, "status"]) => checks::statuses(world, request, commit),
        ("GET", ["check-runs", id, "annotations"]) => checks::annotations(world, request, id),
        ("GET", ["actions", "runs"]) => checks::workflow_runs(),
        ("GET", ["actions", "jobs", id, "logs"]) => checks::log(world, request, id),
        ("POST", ["actions", "jobs", id, "rerun"]) => checks::rerun(world, caller, id),
        ("GET", ["branches", branch]) => rules::branch(world, request, branch),
        ("GET", ["rules", "branches", branch]) => rules::rules(world, request, branch),
        _ => not_found(),
    })
}

fn on_pull(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    number: &str,
    rest: &[&str],
) -> Answer {
    let number = number.parse().ok();
    let Some(number) = number.filter(|number| world.forge.pulls.contains_key(number)) else {
        return not_found();
    };
    match (request.method.as_str(), rest) {
        ("GET", []) => pulls::show(world, request, number, 200),
        ("PATCH", []) => pulls::edit(world, request, caller, number),
        ("PUT", ["merge"]) => pulls::merge(world, request, caller, number),
        ("GET", ["reviews"]) => reviews::list(world, request, number),
        ("GET", ["comments"]) => reviews::comments(world, request, number),
        ("POST", ["comments", id, "replies"]) => reviews::reply(world, request, caller, number, id),
        _ => not_found(),
    }
}

/// Answers for the other server that logs are at. It has no use for tokens, and refuses them as the real one does.
pub(in crate::github) fn log(world: &GithubWorld, request: &Request) -> Option<Answer> {
    let [place, job] = request.segments.as_slice() else {
        return None;
    };
    if place != "_logs" {
        return None;
    }
    if request.header("authorization").is_some() {
        return Some(refusal(400, "InvalidAuthenticationInfo"));
    }
    let log = job
        .parse()
        .ok()
        .and_then(|job: u64| world.forge.logs.get(&job));
    Some(log.map_or_else(not_found, |log| {
        let mut answer = Answer::empty(200).with("content-type", "text/plain; charset=utf-8");
        log.clone_into(&mut answer.body);
        answer
    }))
}
