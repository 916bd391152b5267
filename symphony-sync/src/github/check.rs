//! Who the token is, and what it may do in the repository.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::json;
use symphony_tracker::fault::Fault;

use super::wire::{WireRepository, WireUser};
use super::{Asked, Github};
use crate::access::{Access, AccessProblem};

impl Github {
    /// Asks for the user and for the repository.
    pub(super) async fn load_access(&self) -> Result<Access, Fault> {
        let asked = Asked {
            action: "read its own user",
            what: "the user of the token".to_owned(),
        };
        let mut scopes = None;
        let user = match self.get(self.url(&["user"]), None, &asked).await {
            Ok(answer) => {
                scopes = answer.header("x-oauth-scopes").map(listed);
                Some(
                    answer
                        .read::<WireUser>("a user", self.client.token())?
                        .user(),
                )
            }
            // the token of an installed app acts as no user
            Err(Fault::Forbidden { .. } | Fault::NotFound { .. }) => None,
            Err(fault) => return Err(fault),
        };
        let repository = self.load_repository().await?;
        let mut access = access(user.is_none(), &repository, scopes).with_user(user);
        access.problems.extend(self.renamed(&repository));
        Ok(access)
    }

    /// Describes a repository that answers under another name than the configured one.
    fn renamed(&self, repository: &WireRepository) -> Option<AccessProblem> {
        let configured = format!("{}/{}", self.owner, self.name);
        if repository.full_name.eq_ignore_ascii_case(&configured) {
            return None;
        }
        let tracker = self.tracker.as_deref().unwrap_or("NAME");
        Some(AccessProblem::Place(format!(
            "the repository {configured} is now called {}: change `repository` of the tracker, then run `symphony tracker sync {tracker} --moved`",
            repository.full_name
        )))
    }
}

impl Github {
    /// Asks for an issue without a title, which there cannot be: a token that may not write is refused before the title is.
    pub(super) async fn try_to_write(&self) -> Result<Option<bool>, Fault> {
        let asked = Asked {
            action: "write issues",
            what: format!("the repository {}/{}", self.owner, self.name),
        };
        let url = self.repository_url(&["issues"]);
        let blank = json!({ "title": "" });
        Ok(
            match self.write(Method::POST, url, Some(&blank), &asked).await {
                Err(Fault::Refused { .. }) => Some(true),
                Err(Fault::Forbidden { .. } | Fault::NotFound { .. }) => Some(false),
                Ok(_) => None,
                Err(fault) => return Err(fault),
            },
        )
    }
}

impl Access {
    fn with_user(self, user: Option<symphony_tracker::remote::RemoteUser>) -> Self {
        Self { user, ..self }
    }
}

/// Reads a list of scopes; the header of a token without any is empty.
pub(super) fn listed(text: &str) -> BTreeSet<String> {
    let words = text.split(',').map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn access(is_app: bool, repository: &WireRepository, scopes: Option<BTreeSet<String>>) -> Access {
    let mut problems = Vec::new();
    if !repository.has_issues {
        let text = "the repository has its issues switched off";
        problems.push(AccessProblem::Place(text.to_owned()));
    }
    if repository.archived {
        problems.push(archived());
    }
    let may_label = repository
        .permissions
        .map(|may| may.admin || may.maintain || may.push || may.triage);
    // an app's permissions are not those of a role: only a change would show them
    let may_label = may_label.filter(|may| *may || !is_app);
    if may_label == Some(false) {
        let text =
            "the token may not set labels or close issues: its user needs the role Triage or Write";
        problems.push(AccessProblem::Token(text.to_owned()));
    }
    let missing = scope_problem(scopes.as_ref(), repository, "write issues");
    let has_scope = missing.is_none();
    problems.extend(missing);
    Access {
        user: None,
        place: repository.full_name.clone(),
        can_write: may_label.map(|may| may && has_scope && !repository.archived),
        scopes,
        problems,
    }
}

/// Names the scope that a classic token is without.
pub(super) fn scope_problem(
    scopes: Option<&BTreeSet<String>>,
    repository: &WireRepository,
    action: &str,
) -> Option<AccessProblem> {
    let has = |scope: &str| scopes.is_none_or(|scopes| scopes.contains(scope));
    if has("repo") || (!repository.private && has("public_repo")) {
        return None;
    }
    let scope = if repository.private {
        "repo"
    } else {
        "public_repo"
    };
    Some(AccessProblem::Token(format!(
        "the token lacks the scope `{scope}`, without which it cannot {action}"
    )))
}

/// Describes a repository that takes no changes any more.
pub(super) fn archived() -> AccessProblem {
    let text = "the repository is archived, so nothing in it can be changed";
    AccessProblem::Place(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let repository = |text: &str| serde_json::from_str::<WireRepository>(text).unwrap();
        let good = repository(
            r#"{"full_name": "acme/web", "url": "u", "permissions": {"admin": false, "push": true}}"#,
        );
        let scopes = |text: &str| Some(listed(text));
        let found = access(false, &good, scopes("repo, gist"));
        assert_eq!((found.can_write, found.problems), (Some(true), vec![]));
        let found = access(false, &good, scopes("gist"));
        assert_eq!(found.can_write, Some(false));
        assert_eq!(
            found.problem_texts(),
            ["the token lacks the scope `public_repo`, without which it cannot write issues"]
        );
        let bad = repository(
            r#"{"full_name": "acme/site", "url": "u", "private": true, "archived": true, "has_issues": false,
                "permissions": {"admin": false, "push": false}}"#,
        );
        let found = access(false, &bad, scopes("public_repo"));
        assert_eq!((found.can_write, found.problems.len()), (Some(false), 4));
        // fine-grained tokens have no scopes
        assert_eq!(access(false, &good, None).can_write, Some(true));
        let app = repository(r#"{"full_name": "acme/web", "url": "u"}"#);
        assert_eq!(access(true, &app, None).can_write, None);
    }
}
