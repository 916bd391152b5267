//! What people and programs do at a forge, without the API.

use super::state::{
    GithubCheckRun, GithubPull, GithubReview, GithubReviewComment, GithubStatus, MergeKind,
    Protection,
};
use crate::github::GithubWorld;

impl GithubWorld {
    /// Commits a file to a branch, as a push would, and returns the commit. A new branch begins at `main`.
    pub fn push_file(&mut self, user: u64, branch: &str, path: &str, content: &str) -> String {
        let signed = self.signed(user);
        let commit = self.store().commit_file(branch, path, content, &signed);
        self.look_at_branches();
        commit
    }

    /// Opens a pull request, and returns its number.
    ///
    /// # Panics
    ///
    /// If a branch does not exist.
    pub fn open_pull(&mut self, author: u64, head: &str, base: &str, title: &str) -> u64 {
        self.look_at_branches();
        let commit = |branch: &str| self.forge.branches.get(branch).cloned();
        let (Some(head_commit), Some(base_commit)) = (commit(head), commit(base)) else {
            unreachable!("the branches {head} and {base} exist")
        };
        let number = self.add_pull_request(author, title);
        let pull = GithubPull {
            number,
            head_branch: head.to_owned(),
            base_branch: base.to_owned(),
            head: head_commit.clone(),
            base: base_commit,
            is_draft: false,
            merged: None,
        };
        self.forge.pulls.insert(number, pull);
        self.keep_head(&self.store(), number, &head_commit);
        number
    }

    /// Writes a review, and returns its id. `state` is `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`; each comment has a
    /// file, a line and a text.
    pub fn add_review(
        &mut self,
        author: u64,
        pull: u64,
        state: &str,
        body: &str,
        comments: &[(&str, u32, &str)],
    ) -> u64 {
        self.look_at_branches();
        let id = self.next_id();
        self.edit_issue(pull, |_| {});
        let review = GithubReview {
            id,
            pull,
            author: Some(author),
            state: state.to_owned(),
            body: body.to_owned(),
            commit: self.pull(pull).head,
            at: self.clock.now(),
        };
        self.forge.reviews.insert(id, review);
        for (path, line, text) in comments {
            self.add_line_comment(author, id, path, *line, text);
        }
        id
    }

    /// Adds a comment at a line to a review, and returns its id.
    pub fn add_line_comment(
        &mut self,
        author: u64,
        review: u64,
        path: &str,
        line: u32,
        body: &str,
    ) -> u64 {
        let pull = self.review(review).pull;
        let commit = self.pull(pull).head;
        let id = self.next_id();
        let now = self.clock.tick();
        let comment = GithubReviewComment {
            id,
            pull,
            review,
            reply_to: None,
            author: Some(author),
            path: path.to_owned(),
            start_line: None,
            line: Some(line),
            original_line: Some(line),
            is_on_removed: false,
            original_commit: commit.clone(),
            commit,
            body: body.to_owned(),
            created_at: now,
            updated_at: now,
        };
        self.forge.review_comments.insert(id, comment);
        self.edit_quietly(pull, |issue| issue.updated_at = now);
        id
    }

    /// Replies in a thread, and returns the reply's id. GitHub makes a review of its own for it.
    ///
    /// # Panics
    ///
    /// If there is no such comment.
    pub fn reply(&mut self, author: u64, comment: u64, body: &str) -> u64 {
        let first = self.forge.review_comments.get(&comment).cloned();
        let first = first.expect("the comment exists");
        let review = self.add_review(author, first.pull, "COMMENTED", "", &[]);
        let id = self.next_id();
        let now = self.clock.tick();
        let reply = GithubReviewComment {
            id,
            review,
            reply_to: Some(first.reply_to.unwrap_or(first.id)),
            author: Some(author),
            body: body.to_owned(),
            created_at: now,
            updated_at: now,
            ..first
        };
        self.forge.review_comments.insert(id, reply);
        id
    }

    /// Changes a review, for example to one that was dismissed.
    pub fn edit_review(&mut self, id: u64, edit: impl FnOnce(&mut GithubReview)) {
        edit(self.forge.reviews.get_mut(&id).expect("the review exists"));
        let pull = self.review(id).pull;
        self.edit_issue(pull, |_| {});
    }

    /// Changes a review comment, for example its place.
    pub fn edit_review_comment(&mut self, id: u64, edit: impl FnOnce(&mut GithubReviewComment)) {
        let now = self.clock.tick();
        let comment = self.forge.review_comments.get_mut(&id);
        let comment = comment.expect("the comment exists");
        edit(comment);
        comment.updated_at = now;
    }

    /// Makes a pull request a draft, or ready.
    pub fn set_draft(&mut self, number: u64, is_draft: bool) {
        if let Some(pull) = self.forge.pulls.get_mut(&number) {
            pull.is_draft = is_draft;
        }
        self.edit_issue(number, |_| {});
    }

    /// Closes a pull request without a merge, or reopens it.
    pub fn set_open(&mut self, number: u64, is_open: bool) {
        self.edit_issue(number, |issue| issue.is_open = is_open);
    }

    /// Changes the branch that a pull request is for.
    ///
    /// # Panics
    ///
    /// If there is no such pull request or branch.
    pub fn set_base(&mut self, number: u64, base: &str) {
        self.look_at_branches();
        let commit = self.forge.branches.get(base).cloned();
        let commit = commit.expect("the branch exists");
        let pull = self.forge.pulls.get_mut(&number);
        let pull = pull.expect("the pull request exists");
        base.clone_into(&mut pull.base_branch);
        pull.base = commit;
        self.edit_issue(number, |_| {});
    }

    /// Merges a pull request as a person does on its page, and returns the commit of the base.
    ///
    /// # Errors
    ///
    /// What GitHub says when it does not merge.
    pub fn merge_pull(
        &mut self,
        user: u64,
        number: u64,
        kind: MergeKind,
    ) -> Result<String, String> {
        self.look_at_branches();
        let title = self.issue(number).title;
        self.merge(user, number, kind, &format!("{title} (#{number})"))
    }

    /// Deletes a branch, which closes its pull requests.
    pub fn delete_branch(&mut self, branch: &str) {
        let name = format!("refs/heads/{branch}");
        self.store().git(&["update-ref", "-d", &name]);
        self.look_at_branches();
    }

    /// Adds a run of a check, newer than all others, and returns its id. Without a conclusion it is still running.
    pub fn add_check(&mut self, commit: &str, name: &str, conclusion: Option<&str>) -> u64 {
        let id = self.next_id();
        let run = GithubCheckRun {
            id,
            commit: commit.to_owned(),
            name: name.to_owned(),
            is_job: true,
            conclusion: conclusion.map(str::to_owned),
            title: None,
            summary: None,
            annotations: Vec::new(),
            at: self.clock.tick(),
        };
        self.forge.check_runs.insert(id, run);
        id
    }

    /// Changes a run of a check.
    ///
    /// # Panics
    ///
    /// If there is no such run.
    pub fn edit_check(&mut self, id: u64, edit: impl FnOnce(&mut GithubCheckRun)) {
        edit(self.forge.check_runs.get_mut(&id).expect("the run exists"));
    }

    /// Reports a status, newer than all others.
    pub fn add_status(&mut self, commit: &str, context: &str, state: &str) -> u64 {
        let id = self.next_id();
        let status = GithubStatus {
            id,
            commit: commit.to_owned(),
            context: context.to_owned(),
            state: state.to_owned(),
            description: Some(format!("{context} is {state}")),
            at: self.clock.tick(),
        };
        self.forge.statuses.insert(id, status);
        id
    }

    /// Gives a job a log, or takes it away.
    pub fn set_log(&mut self, job: u64, log: Option<&str>) {
        match log {
            Some(log) => self.forge.logs.insert(job, log.to_owned()),
            None => self.forge.logs.remove(&job),
        };
    }

    /// Protects a branch, or ends its protection.
    pub fn protect(&mut self, branch: &str, protection: Option<Protection>) {
        match protection {
            Some(protection) => self.forge.protections.insert(branch.to_owned(), protection),
            None => self.forge.protections.remove(branch),
        };
        let branches = self.forge.protections.keys().cloned().collect();
        self.store().protect(&branches);
    }

    /// Sets which ways of merging the repository allows.
    pub fn set_methods(&mut self, methods: &[MergeKind]) {
        self.forge.methods = methods.iter().copied().collect();
    }

    /// Returns a pull request.
    ///
    /// # Panics
    ///
    /// If there is no such pull request.
    pub fn pull(&self, number: u64) -> GithubPull {
        let pull = self.forge.pulls.get(&number);
        pull.expect("the pull request exists").clone()
    }

    /// Returns all pull requests by number.
    pub fn pulls(&self) -> Vec<GithubPull> {
        self.forge.pulls.values().cloned().collect()
    }

    /// Returns a review.
    ///
    /// # Panics
    ///
    /// If there is no such review.
    pub fn review(&self, id: u64) -> GithubReview {
        let review = self.forge.reviews.get(&id);
        review.expect("the review exists").clone()
    }

    /// Returns the review comments of a pull request, the oldest first.
    pub fn review_comments(&self, pull: u64) -> Vec<GithubReviewComment> {
        let comments = self.forge.review_comments.values();
        comments
            .filter(|comment| comment.pull == pull)
            .cloned()
            .collect()
    }

    /// Returns all runs of checks by id.
    pub fn check_runs(&self) -> Vec<GithubCheckRun> {
        self.forge.check_runs.values().cloned().collect()
    }

    /// Returns the jobs that were run again, in that order.
    pub fn reruns(&self) -> Vec<u64> {
        self.forge.reruns.clone()
    }
}
