//! Requests for sub-issues and for what blocks an issue.

use serde_json::Value;

use super::json::Shown;
use super::pages::page;
use super::route::{Caller, invalid, refusal};
use super::world::{GithubIssue, GithubWorld, Role};
use crate::http::message::{Answer, Request};

pub(super) fn parts(world: &GithubWorld, request: &Request, number: u64) -> Answer {
    let is_part = |issue: &&GithubIssue| issue.parent == Some(number);
    listed(
        world,
        request,
        world.repository.issues.values().filter(is_part),
    )
}

pub(super) fn blockers(world: &GithubWorld, request: &Request, number: u64) -> Answer {
    let blockers = world.issue(number).blocked_by;
    let is_blocker = |issue: &&GithubIssue| blockers.contains(&issue.number);
    listed(
        world,
        request,
        world.repository.issues.values().filter(is_blocker),
    )
}

fn listed<'a>(
    world: &GithubWorld,
    request: &Request,
    found: impl Iterator<Item = &'a GithubIssue>,
) -> Answer {
    let shown = Shown::of(world, request);
    page(
        request,
        found
            .map(|issue| shown.issue(issue, &world.repository))
            .collect(),
    )
}

pub(super) fn add_part(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    number: u64,
) -> Answer {
    let part = match named(world, request, caller, "sub_issue_id") {
        Ok(part) => part,
        Err(answer) => return answer,
    };
    if part.parent.is_some() {
        return invalid(
            "sub_issue_id",
            "Issue may not contain duplicate sub-issues and Sub issue may only have one parent",
        );
    }
    if part.number == number {
        return invalid("sub_issue_id", "An issue cannot be a sub-issue of itself");
    }
    world.edit_issue(part.number, |issue| issue.parent = Some(number));
    created(world, request, number)
}

pub(super) fn add_blocker(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    number: u64,
) -> Answer {
    let blocker = match named(world, request, caller, "issue_id") {
        Ok(blocker) => blocker,
        Err(answer) => return answer,
    };
    world.edit_issue(number, |issue| {
        issue.blocked_by.insert(blocker.number);
    });
    created(world, request, number)
}

fn created(world: &GithubWorld, request: &Request, number: u64) -> Answer {
    let issue = Shown::of(world, request).issue(&world.issue(number), &world.repository);
    Answer::json(201, &issue)
}

/// Returns the issue that a request names by its id.
fn named(
    world: &GithubWorld,
    request: &Request,
    caller: &Caller,
    field: &str,
) -> Result<GithubIssue, Answer> {
    if caller.role < Some(Role::Triage) {
        return Err(refusal(403, "Must have admin rights to Repository."));
    }
    let input = request.json().unwrap_or(Value::Null);
    let id = input.get(field).and_then(Value::as_u64);
    let mut issues = world.repository.issues.values();
    let found = issues.find(|issue| Some(issue.id) == id);
    found.cloned().ok_or_else(|| refusal(404, "Not Found"))
}
