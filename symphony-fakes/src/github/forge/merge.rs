//! Merges, and what is in their way.

use std::collections::BTreeMap;

use super::state::{GithubPull, MergeKind, Protection};
use crate::github::{GithubWorld, Role};

impl GithubWorld {
    /// Merges in the repository.
    pub(super) fn merge(
        &mut self,
        user: u64,
        number: u64,
        kind: MergeKind,
        message: &str,
    ) -> Result<String, String> {
        let pull = self.pull(number);
        if let Some(problem) = self.obstacle(&pull, kind) {
            return Err(problem);
        }
        let store = self.store();
        let base = self.forge.branches.get(&pull.base_branch).cloned();
        let base = base.ok_or("Base branch does not exist")?;
        let signed = self.signed(user);
        let commit = match kind {
            MergeKind::Merge => {
                let owner = &self.repository.owner;
                let branch = &pull.head_branch;
                let title = format!("Merge pull request #{number} from {owner}/{branch}");
                let message = if message.is_empty() { &title } else { message };
                store.merge(&base, &pull.head, message, &signed)
            }
            MergeKind::Squash => store.squash(&base, &pull.head, message, &signed),
            MergeKind::Rebase => store.rebase(&base, &pull.head, &signed),
        };
        let commit = commit.ok_or("Pull Request is not mergeable")?;
        self.end_by_merge(number, commit.clone(), Some(user));
        if let Some(pull) = self.forge.pulls.get_mut(&number) {
            pull.base = base;
        }
        store.set_branch(&pull.base_branch, &commit);
        self.look_at_branches();
        Ok(commit)
    }

    fn obstacle(&self, pull: &GithubPull, kind: MergeKind) -> Option<String> {
        if !self.is_open(pull.number) {
            return Some("Pull Request is not mergeable".to_owned());
        }
        if pull.is_draft {
            return Some("Pull Request is still a draft".to_owned());
        }
        if !self.forge.allows(kind) {
            let name = match kind {
                MergeKind::Merge => "Merge commits",
                MergeKind::Squash => "Squash merges",
                MergeKind::Rebase => "Rebase merges",
            };
            return Some(format!("{name} are not allowed on this repository."));
        }
        let protection = self.forge.protections.get(&pull.base_branch)?;
        self.unmet(pull, protection)
    }

    fn unmet(&self, pull: &GithubPull, protection: &Protection) -> Option<String> {
        for name in &protection.checks {
            match self.check_state(&pull.head, name) {
                Some(true) => {}
                Some(false) => {
                    return Some(format!("Required status check \"{name}\" is failing."));
                }
                None => return Some(format!("Required status check \"{name}\" is expected.")),
            }
        }
        let latest: BTreeMap<u64, &str> = self
            .forge
            .reviews
            .values()
            .filter(|review| review.pull == pull.number && review.state != "COMMENTED")
            .filter_map(|review| Some((review.author?, review.state.as_str())))
            .collect();
        let by_writers = latest
            .iter()
            .filter(|(user, _)| self.repository.roles.get(user) == Some(&Role::Write));
        let states: Vec<&str> = by_writers.map(|(_, state)| *state).collect();
        if protection.approvals > 0 && states.contains(&"CHANGES_REQUESTED") {
            return Some("Changes were requested by a reviewer with write access.".to_owned());
        }
        let approvals = states.iter().filter(|state| **state == "APPROVED").count() as u64;
        (approvals < protection.approvals).then(|| {
            format!(
                "At least {} approving review is required by reviewers with write access.",
                protection.approvals
            )
        })
    }

    /// Returns whether a check passed; nothing while it has not ended.
    fn check_state(&self, commit: &str, name: &str) -> Option<bool> {
        let mut runs = self.forge.check_runs.values();
        let run = runs.rfind(|run| run.commit == commit && run.name == name);
        let mut statuses = self.forge.statuses.values();
        let status = statuses.rfind(|status| status.commit == commit && status.context == name);
        match (run, status) {
            (Some(run), _) => {
                let conclusion = run.conclusion.as_deref()?;
                Some(matches!(conclusion, "success" | "neutral" | "skipped"))
            }
            (None, Some(status)) => match status.state.as_str() {
                "pending" => None,
                state => Some(state == "success"),
            },
            (None, None) => None,
        }
    }
}
