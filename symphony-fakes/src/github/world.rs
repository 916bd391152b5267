//! What exists at a GitHub, and how people change it.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;

use super::forge::Forge;
use crate::clock::Clock;

/// What a user may do in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Reads, and writes issues and comments where everyone may.
    Read,
    /// Sets labels and closes issues too.
    Triage,
    /// Changes everything.
    Write,
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubIssue {
    /// The id, which is not the number.
    pub id: u64,
    /// The number.
    pub number: u64,
    /// The title.
    pub title: String,
    /// The text.
    pub body: Option<String>,
    /// Whether it is open.
    pub is_open: bool,
    /// Why it is in its state.
    pub reason: Option<String>,
    /// Labels, as the repository writes them.
    pub labels: BTreeSet<String>,
    /// Users it is assigned to.
    pub assignees: BTreeSet<u64>,
    /// Who wrote it; missing for a deleted user.
    pub author: Option<u64>,
    /// The number of the issue that it is a part of.
    pub parent: Option<u64>,
    /// Numbers of the issues that block it.
    pub blocked_by: BTreeSet<u64>,
    /// Whether it is a pull request.
    pub is_pull_request: bool,
    /// Where it was transferred to: an id of a repository, and the number there.
    pub transferred: Option<(u64, u64)>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubComment {
    /// The id.
    pub id: u64,
    /// The number of its issue.
    pub issue: u64,
    /// The text.
    pub body: String,
    /// Who wrote it; missing for a deleted user.
    pub author: Option<u64>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(super) user: u64,
    /// Missing for tokens that have none.
    pub(super) scopes: Option<String>,
    pub(super) is_read_only: bool,
}

/// What exists at a GitHub.
#[derive(Debug)]
pub struct GithubWorld {
    /// The time.
    pub clock: Clock,
    pub(super) users: BTreeMap<u64, String>,
    pub(super) tokens: BTreeMap<String, Token>,
    pub(super) repository: Repository,
    /// A second repository, into which issues can be transferred.
    pub(super) elsewhere: Repository,
    /// Requests left in the quota; missing when it never ends.
    pub(super) quota: Option<u64>,
    /// When the quota comes back, in seconds.
    pub(super) reset: i64,
    pub(super) requests: u64,
    pub(super) forge: Forge,
    next_id: u64,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of a repository's settings"
)]
#[derive(Debug)]
pub(crate) struct Repository {
    pub(super) id: u64,
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) old_names: Vec<String>,
    pub(super) is_private: bool,
    pub(super) is_archived: bool,
    pub(super) has_issues: bool,
    pub(super) has_sub_issues: bool,
    pub(super) has_dependencies: bool,
    pub(super) roles: BTreeMap<u64, Role>,
    pub(super) labels: BTreeMap<String, u64>,
    pub(super) issues: BTreeMap<u64, GithubIssue>,
    pub(super) comments: BTreeMap<u64, GithubComment>,
}

impl Repository {
    fn new(id: u64, owner: &str, name: &str) -> Self {
        Self {
            id,
            owner: owner.to_owned(),
            name: name.to_owned(),
            old_names: Vec::new(),
            is_private: false,
            is_archived: false,
            has_issues: true,
            has_sub_issues: true,
            has_dependencies: true,
            roles: BTreeMap::new(),
            labels: BTreeMap::new(),
            issues: BTreeMap::new(),
            comments: BTreeMap::new(),
        }
    }
}

/// Who octocat is.
const OCTOCAT: u64 = 1;

impl GithubWorld {
    pub(crate) fn new(token: &str) -> Self {
        let mut repository = Repository::new(1001, "acme", "web");
        repository.roles.insert(OCTOCAT, Role::Write);
        let octocat = Token {
            user: OCTOCAT,
            scopes: Some("repo, read:org".to_owned()),
            is_read_only: false,
        };
        Self {
            clock: Clock::default(),
            users: BTreeMap::from([(OCTOCAT, "octocat".to_owned()), (2, "mallory".to_owned())]),
            tokens: BTreeMap::from([(token.to_owned(), octocat)]),
            repository,
            elsewhere: Repository::new(1002, "acme", "attic"),
            quota: None,
            reset: 4_000_000_000,
            requests: 0,
            forge: Forge::default(),
            next_id: 5000,
        }
    }

    pub(super) const fn next_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Adds a user, or renames one.
    pub fn set_user(&mut self, id: u64, login: &str) {
        self.users.insert(id, login.to_owned());
    }

    /// Gives a user a role.
    pub fn set_role(&mut self, user: u64, role: Option<Role>) {
        match role {
            Some(role) => self.repository.roles.insert(user, role),
            None => self.repository.roles.remove(&user),
        };
    }

    /// Adds a token of a user, or replaces what it may do. Without scopes it is a fine-grained one.
    pub fn set_token(&mut self, token: &str, user: u64, scopes: Option<&str>) {
        let scopes = scopes.map(str::to_owned);
        let entry = Token {
            user,
            scopes,
            is_read_only: false,
        };
        self.tokens.insert(token.to_owned(), entry);
    }

    /// Lets a token read only.
    pub fn set_read_only(&mut self, token: &str) {
        let token = self.tokens.get_mut(token).expect("the token exists");
        token.is_read_only = true;
    }

    /// Makes a token invalid.
    pub fn revoke(&mut self, token: &str) {
        self.tokens.remove(token);
    }

    /// Renames the repository; requests to the old name are led to the new one.
    pub fn rename_repository(&mut self, name: &str) {
        let old = std::mem::replace(&mut self.repository.name, name.to_owned());
        self.repository.old_names.push(old);
    }

    /// Makes the repository private or public, archived or not, with or without issues.
    pub const fn set_repository(&mut self, is_private: bool, is_archived: bool, has_issues: bool) {
        self.repository.is_private = is_private;
        self.repository.is_archived = is_archived;
        self.repository.has_issues = has_issues;
    }

    /// Says whether this host knows sub-issues and dependencies.
    pub const fn set_relations_known(&mut self, sub_issues: bool, dependencies: bool) {
        self.repository.has_sub_issues = sub_issues;
        self.repository.has_dependencies = dependencies;
    }

    /// Leaves this many requests, until a second of Unix time.
    pub const fn set_quota(&mut self, left: Option<u64>, reset: i64) {
        self.quota = left;
        self.reset = reset;
    }

    /// Returns how many requests the quota was charged for.
    pub const fn charged_requests(&self) -> u64 {
        self.requests
    }

    /// Adds an issue, and returns its number.
    pub fn add_issue(&mut self, author: u64, title: &str, body: &str) -> u64 {
        let number = self
            .repository
            .issues
            .keys()
            .next_back()
            .copied()
            .unwrap_or(0)
            + 1;
        let id = self.next_id();
        let now = self.clock.tick();
        let issue = GithubIssue {
            id,
            number,
            title: title.to_owned(),
            body: (!body.is_empty()).then(|| body.to_owned()),
            is_open: true,
            reason: None,
            labels: BTreeSet::new(),
            assignees: BTreeSet::new(),
            author: Some(author),
            parent: None,
            blocked_by: BTreeSet::new(),
            is_pull_request: false,
            transferred: None,
            created_at: now,
            updated_at: now,
        };
        self.repository.issues.insert(number, issue);
        number
    }

    /// Adds a pull request, and returns its number.
    pub fn add_pull_request(&mut self, author: u64, title: &str) -> u64 {
        let number = self.add_issue(author, title, "");
        self.edit_quietly(number, |issue| issue.is_pull_request = true);
        number
    }

    /// Changes an issue, as of now.
    pub fn edit_issue(&mut self, number: u64, edit: impl FnOnce(&mut GithubIssue)) {
        let now = self.clock.tick();
        self.edit_quietly(number, |issue| {
            edit(issue);
            issue.updated_at = now;
        });
        self.know_labels(number);
    }

    /// Changes an issue without a new time of its last change.
    pub fn edit_quietly(&mut self, number: u64, edit: impl FnOnce(&mut GithubIssue)) {
        edit(
            self.repository
                .issues
                .get_mut(&number)
                .expect("the issue exists"),
        );
        self.know_labels(number);
    }

    /// Moves an issue to another repository, where it has another number.
    pub fn transfer_issue(&mut self, number: u64) {
        let mut moved = self.issue(number);
        moved.number = self.elsewhere.issues.len() as u64 + 1;
        let place = (self.elsewhere.id, moved.number);
        self.elsewhere.issues.insert(moved.number, moved);
        self.edit_quietly(number, |issue| issue.transferred = Some(place));
    }

    /// Writes a comment, and returns its id.
    pub fn add_comment(&mut self, author: u64, issue: u64, body: &str) -> u64 {
        let id = self.next_id();
        let now = self.clock.tick();
        let comment = GithubComment {
            id,
            issue,
            body: body.to_owned(),
            author: Some(author),
            created_at: now,
            updated_at: now,
        };
        self.repository.comments.insert(id, comment);
        self.edit_quietly(issue, |issue| issue.updated_at = now);
        id
    }

    /// Changes a comment's text.
    pub fn edit_comment(&mut self, id: u64, body: &str) {
        let now = self.clock.tick();
        let comment = self
            .repository
            .comments
            .get_mut(&id)
            .expect("the comment exists");
        body.clone_into(&mut comment.body);
        comment.updated_at = now;
    }

    /// Removes a comment.
    pub fn remove_comment(&mut self, id: u64) {
        self.repository.comments.remove(&id);
    }

    /// Returns an issue.
    pub fn issue(&self, number: u64) -> GithubIssue {
        self.repository
            .issues
            .get(&number)
            .expect("the issue exists")
            .clone()
    }

    /// Returns all issues and pull requests by number.
    pub fn issues(&self) -> Vec<GithubIssue> {
        self.repository.issues.values().cloned().collect()
    }

    /// Returns the comments of an issue, the oldest first.
    pub fn comments(&self, issue: u64) -> Vec<GithubComment> {
        let comments = self.repository.comments.values();
        comments
            .filter(|comment| comment.issue == issue)
            .cloned()
            .collect()
    }

    /// Returns the names of all labels of the repository.
    pub fn labels(&self) -> BTreeSet<String> {
        self.repository.labels.keys().cloned().collect()
    }

    /// Makes the labels of an issue labels of the repository.
    pub(super) fn know_labels(&mut self, number: u64) {
        let labels = self
            .repository
            .issues
            .get(&number)
            .map(|issue| issue.labels.clone());
        for label in labels.unwrap_or_default() {
            if !self.repository.labels.contains_key(&label) {
                let id = self.next_id();
                self.repository.labels.insert(label, id);
            }
        }
    }

    /// Returns a label as the repository writes it: GitHub compares them without case.
    pub(super) fn known_label(&self, name: &str) -> String {
        let mut known = self.repository.labels.keys();
        let found = known.find(|known| known.to_lowercase() == name.to_lowercase());
        found.cloned().unwrap_or_else(|| name.to_owned())
    }
}
