//! Requests for what a branch demands.

use serde_json::{Value, json};

use super::state::Protection;
use crate::github::GithubWorld;
use crate::github::json::Shown;
use crate::github::pages::page;
use crate::github::route::refusal;
use crate::http::message::{Answer, Request};

pub(super) fn branch(world: &GithubWorld, request: &Request, branch: &str) -> Answer {
    let Some(commit) = world.forge.branches.get(branch) else {
        return refusal(404, "Branch not found");
    };
    let protection = world.forge.protections.get(branch);
    // a ruleset makes a branch protected too, and the older protection stays off
    let classic = protection.filter(|protection| !protection.is_ruleset);
    let shown = Shown::of(world, request);
    let body = shown.branch(
        branch,
        commit,
        protection.is_some(),
        &shown_classic(classic),
    );
    Answer::json(200, &body)
}

fn shown_classic(protection: Option<&Protection>) -> Value {
    let names: Vec<&String> = protection.iter().flat_map(|all| &all.checks).collect();
    let checks: Vec<Value> = names
        .iter()
        .map(|name| json!({ "context": name, "app_id": null }))
        .collect();
    let level = if protection.is_some() {
        "non_admins"
    } else {
        "off"
    };
    json!({
        "enabled": protection.is_some(),
        "required_status_checks": { "enforcement_level": level, "contexts": names, "checks": checks },
    })
}

pub(super) fn rules(world: &GithubWorld, request: &Request, branch: &str) -> Answer {
    let protection = world.forge.protections.get(branch);
    let protection = protection.filter(|protection| protection.is_ruleset);
    page(request, protection.map(shown_rules).unwrap_or_default())
}

fn shown_rules(protection: &Protection) -> Vec<Value> {
    let source = |rule: Value| {
        let mut rule = rule;
        if let Value::Object(fields) = &mut rule {
            fields.insert("ruleset_source_type".to_owned(), json!("Repository"));
            fields.insert("ruleset_source".to_owned(), json!("acme/web"));
            fields.insert("ruleset_id".to_owned(), json!(42));
        }
        rule
    };
    let mut rules = vec![
        source(json!({ "type": "deletion" })),
        source(json!({ "type": "pull_request", "parameters": {
            "dismiss_stale_reviews_on_push": false, "require_code_owner_review": false,
            "require_last_push_approval": false, "required_review_thread_resolution": false,
            "required_approving_review_count": protection.approvals,
        } })),
    ];
    if !protection.checks.is_empty() {
        let checks = protection.checks.iter();
        let checks: Vec<Value> = checks.map(|name| json!({ "context": name })).collect();
        rules.push(source(
            json!({ "type": "required_status_checks", "parameters": {
            "strict_required_status_checks_policy": false, "required_status_checks": checks,
        } }),
        ));
    }
    rules
}
