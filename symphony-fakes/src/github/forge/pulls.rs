//! Requests for pull requests.

use serde_json::{Value, json};

use super::state::{GithubPull, MergeKind};
use crate::github::issues::too_long;
use crate::github::json::Shown;
use crate::github::pages::{is_descending, page};
use crate::github::route::{Caller, invalid, refusal, text};
use crate::github::{GithubWorld, Role};
use crate::http::message::{Answer, Request};

pub(super) fn list(world: &GithubWorld, request: &Request) -> Answer {
    let state = request.parameter("state").unwrap_or("open");
    let head = request
        .parameter("head")
        .and_then(|head| head.split_once(':'));
    let owner = &world.repository.owner;
    let wanted = |pull: &&GithubPull| {
        let has_state = match state {
            "all" => true,
            "closed" => !world.is_open(pull.number),
            _ => world.is_open(pull.number),
        };
        // a head without an owner is no filter
        let has_head = head.is_none_or(|(user, branch)| {
            user.eq_ignore_ascii_case(owner) && branch == pull.head_branch
        });
        let base = request.parameter("base");
        has_state && has_head && base.is_none_or(|base| base == pull.base_branch)
    };
    let mut found: Vec<&GithubPull> = world.forge.pulls.values().filter(wanted).collect();
    if is_descending(request) {
        found.reverse();
    }
    let shown = Shown::of(world, request);
    page(
        request,
        found.iter().map(|pull| shown.pull(pull, false)).collect(),
    )
}

pub(super) fn show(world: &GithubWorld, request: &Request, number: u64, status: u16) -> Answer {
    let shown = Shown::of(world, request);
    Answer::json(status, &shown.pull(&world.pull(number), true))
}

pub(super) fn create(world: &mut GithubWorld, request: &Request, caller: &Caller) -> Answer {
    let Some(input) = request.json() else {
        return refusal(400, "Problems parsing JSON");
    };
    if caller.role < Some(Role::Write) {
        return refusal(403, "Resource not accessible by personal access token");
    }
    let Some(title) = text(&input, "title").filter(|title| !title.trim().is_empty()) else {
        return invalid("title", "title can't be blank");
    };
    if let Some(answer) = too_long(&input) {
        return answer;
    }
    let owner = format!("{}:", world.repository.owner);
    let head = text(&input, "head").unwrap_or_default();
    let head = head.strip_prefix(&owner).unwrap_or(head);
    let base = text(&input, "base").unwrap_or_default();
    if let Some(answer) = refused(world, head, base) {
        return answer;
    }
    let number = world.open_pull(caller.user, head, base, title);
    let body = text(&input, "body").map(str::to_owned);
    world.edit_quietly(number, |issue| issue.body = body);
    if input.get("draft") == Some(&Value::Bool(true)) {
        world.set_draft(number, true);
    }
    show(world, request, number, 201)
}

fn refused(world: &GithubWorld, head: &str, base: &str) -> Option<Answer> {
    let branches = &world.forge.branches;
    let Some(head_commit) = branches.get(head) else {
        return Some(field("head"));
    };
    let Some(base_commit) = branches.get(base) else {
        return Some(field("base"));
    };
    if world.store().is_ancestor(head_commit, base_commit) {
        let message = format!("No commits between {base} and {head}");
        return Some(custom(&message));
    }
    let is_same = |pull: &&GithubPull| {
        world.is_open(pull.number) && pull.head_branch == head && pull.base_branch == base
    };
    let owner = &world.repository.owner;
    world.forge.pulls.values().find(is_same).map(|_| {
        custom(&format!(
            "A pull request already exists for {owner}:{head}."
        ))
    })
}

fn field(name: &str) -> Answer {
    refused_for(&json!({ "resource": "PullRequest", "field": name, "code": "invalid" }))
}

fn custom(message: &str) -> Answer {
    refused_for(&json!({ "resource": "PullRequest", "code": "custom", "message": message }))
}

fn refused_for(error: &Value) -> Answer {
    let body = json!({
        "message": "Validation Failed",
        "documentation_url": "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
        "errors": [error],
    });
    Answer::json(422, &body)
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
    let pull = world.pull(number);
    let wants_open = text(&input, "state") == Some("open");
    let branch = world.forge.branches.get(&pull.head_branch);
    if wants_open && !world.is_open(number) && (pull.merged.is_some() || branch.is_none()) {
        return custom("state cannot be changed. The pull request cannot be reopened.");
    }
    world.edit_issue(number, |issue| {
        if let Some(title) = text(&input, "title") {
            title.clone_into(&mut issue.title);
        }
        if let Some(body) = input.get("body") {
            issue.body = body.as_str().map(str::to_owned);
        }
        if let Some(state) = text(&input, "state") {
            issue.is_open = state == "open";
        }
    });
    show(world, request, number, 200)
}

pub(super) fn merge(
    world: &mut GithubWorld,
    request: &Request,
    caller: &Caller,
    number: u64,
) -> Answer {
    let input = request.json().unwrap_or(Value::Null);
    if caller.role < Some(Role::Write) {
        return refusal(403, "Resource not accessible by personal access token");
    }
    let kind = match text(&input, "merge_method") {
        Some("squash") => MergeKind::Squash,
        Some("rebase") => MergeKind::Rebase,
        _ => MergeKind::Merge,
    };
    let head = world.pull(number).head;
    let refusal_of = |status: u16, message: &str| {
        let body = json!({
            "message": message,
            "documentation_url": "https://docs.github.com/rest/pulls/pulls#merge-a-pull-request",
        });
        Answer::json(status, &body)
    };
    if text(&input, "sha").is_some_and(|sha| sha != head) {
        return refusal_of(
            409,
            "Head branch was modified. Review and try the merge again.",
        );
    }
    let title = text(&input, "commit_title").unwrap_or_default();
    let message = text(&input, "commit_message").unwrap_or_default();
    let message = format!("{title}\n\n{message}");
    match world.merge(caller.user, number, kind, message.trim()) {
        Ok(commit) => Answer::json(
            200,
            &json!({ "sha": commit, "merged": true, "message": "Pull Request successfully merged" }),
        ),
        Err(problem) => refusal_of(405, &problem),
    }
}
