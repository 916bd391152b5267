//! What pushes change.

use crate::git::{GitStore, Signed};
use crate::github::GithubWorld;

use super::state::{GithubMerge, GithubPull};

impl GithubWorld {
    /// Begins with a repository, which gets its first commit.
    pub(super) fn take_repository(&mut self, store: GitStore) {
        let signed = self.signed(1);
        store.commit_file("main", "README.md", "# Web\n", &signed);
        self.forge.git = Some(store);
        self.look_at_branches();
    }

    /// Returns the repository of git.
    pub(super) fn store(&self) -> GitStore {
        self.forge
            .git
            .clone()
            .expect("a forge is started by `FakeForge::start`")
    }

    /// Returns what a commit of a user is signed with, as of now.
    pub(super) fn signed(&mut self, user: u64) -> Signed {
        Signed {
            name: self.users.get(&user).cloned().unwrap_or_default(),
            at: self.clock.tick(),
        }
    }

    /// Follows what was pushed: heads move, comments lose their place, pull requests end with their branch or in their base.
    pub(in crate::github) fn look_at_branches(&mut self) {
        let Some(store) = self.forge.git.clone() else {
            return;
        };
        let branches = store.branches();
        if branches == self.forge.branches {
            return;
        }
        let before = std::mem::replace(&mut self.forge.branches, branches);
        let pulls: Vec<GithubPull> = self.forge.pulls.values().cloned().collect();
        for pull in pulls {
            if !self.is_open(pull.number) {
                continue;
            }
            let base = self.forge.branches.get(&pull.base_branch).cloned();
            let head = self.forge.branches.get(&pull.head_branch).cloned();
            let Some(head) = head else {
                // whoever deletes the branch closes it
                self.edit_issue(pull.number, |issue| issue.is_open = false);
                continue;
            };
            if head != pull.head {
                self.move_head(&store, &pull, &head);
            }
            let Some(base) = base else { continue };
            let has_moved = before.get(&pull.base_branch) != Some(&base);
            let is_change = !store.is_ancestor(&head, &pull.base);
            if has_moved && is_change && !self.forge.is_slow && store.is_ancestor(&head, &base) {
                // its commits were pushed to the base
                self.end_by_merge(pull.number, base, None);
            }
        }
    }

    /// Lets pushes to a base leave open what they merge, as GitHub does for a while, or marks all of it.
    pub fn set_slow(&mut self, is_slow: bool) {
        self.look_at_branches();
        self.forge.is_slow = is_slow;
        if is_slow {
            return;
        }
        let store = self.store();
        let pulls: Vec<GithubPull> = self.forge.pulls.values().cloned().collect();
        for pull in pulls {
            if !self.is_open(pull.number) {
                continue;
            }
            let base = self.forge.branches.get(&pull.base_branch).cloned();
            let is_merged = |base: &String| {
                store.is_ancestor(&pull.head, base) && !store.is_ancestor(&pull.head, &pull.base)
            };
            if let Some(base) = base.filter(is_merged) {
                self.end_by_merge(pull.number, base, None);
            }
        }
    }

    pub(super) fn is_open(&self, number: u64) -> bool {
        let issue = self.repository.issues.get(&number);
        issue.is_some_and(|issue| issue.is_open)
    }

    fn move_head(&mut self, store: &GitStore, pull: &GithubPull, head: &str) {
        self.keep_head(store, pull.number, head);
        self.edit_issue(pull.number, |_| {});
        for comment in self.forge.review_comments.values_mut() {
            if comment.pull != pull.number || comment.line.is_none() {
                continue;
            }
            if store.differs(&comment.path, &comment.commit, head) {
                comment.line = None;
                comment.start_line = None;
            } else {
                head.clone_into(&mut comment.commit);
            }
        }
    }

    /// Remembers the head of a pull request, also under the name that everyone can fetch.
    pub(super) fn keep_head(&mut self, store: &GitStore, number: u64, head: &str) {
        store.git(&["update-ref", &format!("refs/pull/{number}/head"), head]);
        if let Some(pull) = self.forge.pulls.get_mut(&number) {
            head.clone_into(&mut pull.head);
        }
    }

    pub(super) fn end_by_merge(&mut self, number: u64, commit: String, by: Option<u64>) {
        self.edit_issue(number, |issue| issue.is_open = false);
        let at = self.clock.now();
        if let Some(pull) = self.forge.pulls.get_mut(&number) {
            pull.merged = Some(GithubMerge { commit, by, at });
        }
    }
}
