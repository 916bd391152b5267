//! Who the token is, and what it may do with pull requests and checks.

use symphony_core::config::ForgeMethod;
use symphony_tracker::fault::Fault;
use symphony_tracker::remote::{ExternalId, RemoteUser};

use super::super::check::{archived, listed, scope_problem};
use super::super::wire::{WireRepository, WireUser, external};
use super::GithubForge;
use super::wire::WireIdentity;
use crate::access::{Access, AccessProblem};
use crate::http::answer::Answer;

impl GithubForge {
    /// Asks for the user, the repository, and once for each thing that a fine-grained token can be without.
    pub(super) async fn load_access(&self) -> Result<Access, Fault> {
        let answer = self.ask_user().await?;
        let scopes = answer
            .as_ref()
            .and_then(|answer| answer.header("x-oauth-scopes"));
        let scopes = scopes.map(listed);
        let user = self.user_in(answer.as_ref())?;
        let repository = self.github.load_repository().await?;
        let mut problems = problems(&self.github.owner, &self.github.name, &repository);
        problems.extend(method_problem(self.method, &repository));
        problems.extend(scope_problem(scopes.as_ref(), &repository, "push branches"));
        let may_push = repository
            .permissions
            .map(|may| may.admin || may.maintain || may.push);
        // an app's permissions are not those of a role: only a push would show them
        let may_push = may_push.filter(|may| *may || user.is_some());
        if may_push == Some(false) {
            let text = "the token may not push branches: its user needs the role Write";
            problems.push(AccessProblem::Token(text.to_owned()));
        }
        problems.extend(self.unreadable(&repository).await?);
        Ok(Access {
            can_write: may_push.map(|may| may && problems.is_empty()),
            user,
            place: repository.full_name,
            scopes,
            problems,
        })
    }

    pub(super) async fn load_user(&self) -> Result<Option<RemoteUser>, Fault> {
        let answer = self.ask_user().await?;
        self.user_in(answer.as_ref())
    }

    /// Asks who the token acts as; that of an installed app acts as no user.
    async fn ask_user(&self) -> Result<Option<Answer>, Fault> {
        let asked = self.asked("read its own user", "the user of the token");
        let url = self.github.url(&["user"]);
        match self.github.get(url, None, &asked).await {
            Ok(answer) => Ok(Some(answer)),
            Err(Fault::Forbidden { .. } | Fault::NotFound { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn user_in(&self, answer: Option<&Answer>) -> Result<Option<RemoteUser>, Fault> {
        let read = answer.map(|answer| self.read::<WireUser>(answer, "a user"));
        Ok(read.transpose()?.map(WireUser::user))
    }

    pub(super) async fn load_identity(&self) -> Result<ExternalId, Fault> {
        let asked = self.asked("read the repository", "the repository");
        let url = self.github.repository_url(&[]);
        let answer = self.github.get(url, None, &asked).await?;
        let found: WireIdentity = self.read(&answer, "a repository")?;
        Ok(external(found.id))
    }

    /// Tries what is read at every look.
    async fn unreadable(&self, repository: &WireRepository) -> Result<Vec<AccessProblem>, Fault> {
        let branch = repository.default_branch.as_str();
        let tries: [(&[&str], &'static str, &str); 4] = [
            (&["pulls"], "read pull requests", "Pull requests"),
            (&["commits", branch, "check-runs"], "read checks", "Checks"),
            (
                &["commits", branch, "status"],
                "read commit statuses",
                "Commit statuses",
            ),
            (&["actions", "runs"], "read jobs and their logs", "Actions"),
        ];
        let mut problems = Vec::new();
        for (segments, action, permission) in tries {
            let asked = self.asked(action, "the default branch");
            let mut url = self.github.repository_url(segments);
            url.query_pairs_mut().append_pair("per_page", "1");
            match self.github.get(url, None, &asked).await {
                Err(Fault::Forbidden { .. }) => problems.push(AccessProblem::Token(format!(
                    "the token may not {action}: it needs the permission {permission}"
                ))),
                // an empty repository has no commit, and a host can be without Actions
                Ok(_) | Err(Fault::NotFound { .. } | Fault::Refused { .. }) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(problems)
    }
}

fn problems(owner: &str, name: &str, repository: &WireRepository) -> Vec<AccessProblem> {
    let configured = format!("{owner}/{name}");
    let mut problems = Vec::new();
    if !repository.full_name.eq_ignore_ascii_case(&configured) {
        problems.push(AccessProblem::Place(format!(
            "the repository {configured} is now called {}: change the address of the remote, or `forge.repository`",
            repository.full_name
        )));
    }
    if repository.archived {
        problems.push(archived());
    }
    problems
}

fn method_problem(method: ForgeMethod, repository: &WireRepository) -> Option<AccessProblem> {
    let table = [
        (ForgeMethod::Merge, repository.allow_merge_commit),
        (ForgeMethod::Squash, repository.allow_squash_merge),
        (ForgeMethod::Rebase, repository.allow_rebase_merge),
    ];
    let (_, allowed) = table.iter().find(|(known, _)| *known == method)?;
    if *allowed != Some(false) {
        return None;
    }
    let others = table.iter().filter(|(_, allowed)| *allowed == Some(true));
    let others: Vec<String> = others.map(|(known, _)| format!("`{known}`")).collect();
    Some(AccessProblem::Place(format!(
        "the repository does not allow the merge method `{method}`: set `forge.method` to {}",
        others.join(" or ")
    )))
}
