//! What is demanded of a branch: by the older branch protection, and by rulesets.

use std::collections::BTreeSet;

use serde::Deserialize;
use symphony_forge::remote::BranchRules;
use symphony_tracker::fault::Fault;

use super::GithubForge;

/// Kinds of rules that refuse a direct push, at least one that was not checked before.
const REFUSING: [&str; 8] = [
    "code_scanning",
    "merge_queue",
    "pull_request",
    "required_deployments",
    "required_signatures",
    "required_status_checks",
    "update",
    "workflows",
];

#[derive(Debug, Deserialize)]
struct WireBranch {
    protected: bool,
    protection: Option<WireProtection>,
}

#[derive(Debug, Deserialize)]
struct WireProtection {
    required_status_checks: Option<WireRequired>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireRequired {
    contexts: Vec<String>,
    checks: Vec<WireContext>,
}

#[derive(Debug, Deserialize)]
struct WireContext {
    context: String,
}

#[derive(Debug, Deserialize)]
struct WireRule {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parameters: Option<WireParameters>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireParameters {
    required_status_checks: Vec<WireContext>,
}

impl GithubForge {
    pub(super) async fn load_rules(&self, branch: &str) -> Result<BranchRules, Fault> {
        let asked = self.asked("read branches", &format!("the branch {branch}"));
        let url = self.github.repository_url(&["branches", branch]);
        let protection = match self.github.get(url, None, &asked).await {
            Ok(answer) => Some(self.read::<WireBranch>(&answer, &asked.what)?),
            Err(Fault::Forbidden { .. }) => None,
            Err(fault) => return Err(fault),
        };
        let asked = self.asked("read rules", &format!("the rules of the branch {branch}"));
        let url = self.github.repository_url(&["rules", "branches", branch]);
        let rules = match self.load_pages(&url, &asked, |page| page).await {
            Ok(rules) => Some(rules),
            Err(Fault::Forbidden { .. }) => None,
            // a host that is older than rulesets, or a plan without them
            Err(Fault::NotFound { .. }) => Some(Vec::new()),
            Err(fault) => return Err(fault),
        };
        Ok(joined(protection, rules))
    }
}

fn joined(branch: Option<WireBranch>, rules: Option<Vec<WireRule>>) -> BranchRules {
    let mut is_known = rules.is_some();
    let rules = rules.unwrap_or_default();
    let mut is_protected = rules
        .iter()
        .any(|rule| REFUSING.contains(&rule.kind.as_str()));
    let mut required: BTreeSet<String> = rules
        .into_iter()
        .filter(|rule| rule.kind == "required_status_checks")
        .filter_map(|rule| rule.parameters)
        .flat_map(|parameters| parameters.required_status_checks)
        .map(|check| check.context)
        .collect();
    match branch {
        None => is_known = false,
        Some(branch) => {
            is_protected |= branch.protected;
            is_known &= !branch.protected || branch.protection.is_some();
            let checks = branch.protection.and_then(|all| all.required_status_checks);
            let checks = checks.unwrap_or_default();
            required.extend(checks.contexts);
            required.extend(checks.checks.into_iter().map(|check| check.context));
        }
    }
    let is_shown = is_known || !required.is_empty();
    BranchRules {
        is_protected,
        required_checks: is_shown.then_some(required),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(branch: Option<Value>, rules: Option<Value>) -> (bool, Option<Vec<String>>) {
        let rules = joined(
            branch.map(|value| serde_json::from_value(value).unwrap()),
            rules.map(|value| serde_json::from_value(value).unwrap()),
        );
        let required = rules.required_checks;
        (
            rules.is_protected,
            required.map(|names| names.into_iter().collect()),
        )
    }

    #[test]
    fn protection_and_rulesets_are_joined() {
        let open = json!({ "protected": false, "protection": { "enabled": false, "required_status_checks":
            { "enforcement_level": "off", "contexts": [], "checks": [] } } });
        let classic = json!({ "protected": true, "protection": { "required_status_checks":
            { "contexts": ["test"], "checks": [{ "context": "test" }, { "context": "lint" }] } } });
        let hidden = json!({ "protected": true });
        let ruleset = json!([{ "type": "deletion" }, { "type": "pull_request", "parameters": { "required_approving_review_count": 1 } },
            { "type": "required_status_checks", "parameters": { "required_status_checks": [{ "context": "build", "integration_id": 1 }] } }]);
        let harmless = json!([{ "type": "deletion" }, { "type": "non_fast_forward" }]);
        let names = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
        let none = Some(json!([]));
        let table = [
            (Some(&open), none.clone(), (false, names(&[]))),
            (Some(&open), Some(harmless), (false, names(&[]))),
            (
                Some(&classic),
                none.clone(),
                (true, names(&["lint", "test"])),
            ),
            (
                Some(&open),
                Some(ruleset.clone()),
                (true, names(&["build"])),
            ),
            (
                Some(&classic),
                Some(ruleset),
                (true, names(&["build", "lint", "test"])),
            ),
            (Some(&classic), None, (true, names(&["lint", "test"]))),
            (Some(&hidden), none.clone(), (true, None)),
            (Some(&open), None, (false, None)),
            (None, none, (false, None)),
            (None, None, (false, None)),
        ];
        for (branch, rules, expected) in table {
            assert_eq!(
                found(branch.cloned(), rules.clone()),
                expected,
                "{branch:?} {rules:?}"
            );
        }
    }
}
