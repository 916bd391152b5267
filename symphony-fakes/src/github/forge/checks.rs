//! Requests for checks, statuses, jobs and their logs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::state::{GithubCheckRun, GithubStatus};
use crate::github::json::Shown;
use crate::github::pages::page;
use crate::github::route::{Caller, not_found, refusal};
use crate::github::{GithubWorld, Role};
use crate::http::message::{Answer, Request};

/// Returns the commit that a branch or a full hash names.
fn commit_of(world: &GithubWorld, name: &str) -> Option<String> {
    let branch = world.forge.branches.get(name).cloned();
    let is_hash = name.len() == 40 && name.chars().all(|c| c.is_ascii_hexdigit());
    let has_commit = || {
        let git = world.forge.git.as_ref();
        is_hash && git.is_some_and(|git| git.has_commit(name))
    };
    branch.or_else(|| has_commit().then(|| name.to_owned()))
}

fn unknown(name: &str) -> Answer {
    let body = json!({
        "message": format!("No commit found for SHA: {name}"),
        "documentation_url": "https://docs.github.com/rest/checks/runs",
        "status": "422",
    });
    Answer::json(422, &body)
}

/// Puts a page of a list into the object that counts all of it.
fn counted(request: &Request, field: &str, items: Vec<Value>, more: Value) -> Answer {
    let total = items.len();
    let listed = page(request, items);
    let list: Value = serde_json::from_str(&listed.body).unwrap_or_default();
    let mut body = json!({ "total_count": total, field: list });
    if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
        body.extend(more);
    }
    Answer {
        body: body.to_string(),
        ..listed
    }
}

pub(super) fn runs(world: &GithubWorld, request: &Request, commit: &str) -> Answer {
    let Some(found) = commit_of(world, commit) else {
        return unknown(commit);
    };
    let all = world.forge.check_runs.values();
    let mut runs: Vec<&GithubCheckRun> = all.filter(|run| run.commit == found).collect();
    if request.parameter("filter") != Some("all") {
        let latest: BTreeMap<(&str, bool), u64> = runs
            .iter()
            .map(|run| ((run.name.as_str(), run.is_job), run.id))
            .collect();
        runs.retain(|run| latest.get(&(run.name.as_str(), run.is_job)) == Some(&run.id));
    }
    let shown = Shown::of(world, request);
    let items = runs.into_iter().map(|run| shown.check_run(run)).collect();
    counted(request, "check_runs", items, Value::Null)
}

pub(super) fn statuses(world: &GithubWorld, request: &Request, commit: &str) -> Answer {
    let Some(found) = commit_of(world, commit) else {
        return not_found();
    };
    let all = world.forge.statuses.values();
    let latest: BTreeMap<&str, &GithubStatus> = all
        .filter(|status| status.commit == found)
        .map(|status| (status.context.as_str(), status))
        .collect();
    let has = |states: &[&str]| {
        let mut all = latest.values();
        all.any(|status| states.contains(&status.state.as_str()))
    };
    let state = if has(&["failure", "error"]) {
        "failure"
    } else if has(&["pending"]) || latest.is_empty() {
        "pending"
    } else {
        "success"
    };
    let shown = Shown::of(world, request);
    let items = latest.values().map(|status| shown.status(status)).collect();
    let more = shown.combined(&found, state);
    counted(request, "statuses", items, more)
}

pub(super) fn annotations(world: &GithubWorld, request: &Request, id: &str) -> Answer {
    let id: Option<u64> = id.parse().ok();
    let Some(run) = id.and_then(|id| world.forge.check_runs.get(&id)) else {
        return not_found();
    };
    let shown = run.annotations.iter().map(|(path, line, message)| {
        json!({
            "path": path, "start_line": line, "end_line": line, "start_column": null, "end_column": null,
            "annotation_level": "failure", "title": null, "message": message, "raw_details": null,
            "blob_href": format!("https://github.com/acme/web/blob/{}/{path}", run.commit),
        })
    });
    page(request, shown.collect())
}

pub(super) fn workflow_runs() -> Answer {
    Answer::json(200, &json!({ "total_count": 0, "workflow_runs": [] }))
}

/// Leads to the log, at another server.
pub(super) fn log(world: &GithubWorld, request: &Request, id: &str) -> Answer {
    let id: Option<u64> = id.parse().ok();
    let Some(id) = id.filter(|id| world.forge.logs.contains_key(id)) else {
        return not_found();
    };
    let other = request.own_address.replace("127.0.0.1", "localhost");
    Answer::empty(302).with("location", format!("{other}/_logs/{id}?sig=fake-signature"))
}

/// Runs a job again: a new run with the same name.
pub(super) fn rerun(world: &mut GithubWorld, caller: &Caller, id: &str) -> Answer {
    if caller.role < Some(Role::Write) {
        return refusal(403, "Must have admin rights to Repository.");
    }
    let id: Option<u64> = id.parse().ok();
    let run = id.and_then(|id| world.forge.check_runs.get(&id)).cloned();
    let Some(run) = run.filter(|run| run.is_job) else {
        return not_found();
    };
    // all jobs of a commit are of one workflow here
    let mut jobs = world.forge.check_runs.values();
    if jobs.any(|job| job.is_job && job.commit == run.commit && job.conclusion.is_none()) {
        return refusal(
            403,
            "The workflow run containing this job is already running",
        );
    }
    world.forge.reruns.push(run.id);
    world.add_check(&run.commit, &run.name, None);
    Answer::json(201, &json!({}))
}
