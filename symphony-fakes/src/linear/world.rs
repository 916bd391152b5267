//! What exists at a Linear, and how people change it.

use std::collections::{BTreeMap, BTreeSet};

use symphony_core::Timestamp;

use crate::clock::Clock;

/// An issue.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearIssue {
    /// The id.
    pub id: String,
    /// The id of its team.
    pub team: String,
    /// The number in its team.
    pub number: u64,
    /// The title.
    pub title: String,
    /// The text.
    pub description: Option<String>,
    /// From 0 (none) and 1 (urgent) to 4 (low).
    pub priority: u8,
    /// The id of its state.
    pub state: String,
    /// Ids of its labels.
    pub labels: BTreeSet<String>,
    /// The user it is assigned to.
    pub assignee: Option<String>,
    /// Who wrote it; missing for a deleted user.
    pub creator: Option<String>,
    /// The issue it is a part of.
    pub parent: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// Whether it is in the bin.
    pub is_trashed: bool,
    /// Whether it is in the archive.
    pub is_archived: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinearComment {
    /// The id.
    pub id: String,
    /// The issue it is on; comments on projects have none.
    pub issue: Option<String>,
    /// The text.
    pub body: String,
    /// Who wrote it; missing for integrations.
    pub user: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When anything of it was last changed.
    pub updated_at: Timestamp,
    /// When its text was last changed.
    pub edited_at: Option<Timestamp>,
}

#[derive(Debug, Clone)]
pub(super) struct Team {
    pub(super) key: String,
    pub(super) name: String,
}

#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) team: String,
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) position: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) name: String,
    pub(super) team: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct Project {
    pub(super) name: String,
    pub(super) slug: String,
    pub(super) teams: BTreeSet<String>,
}

/// One issue blocks, or is related to, another.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    pub(super) kind: String,
    pub(super) issue: String,
    pub(super) related: String,
}

/// What exists at a Linear.
#[derive(Debug)]
pub struct LinearWorld {
    /// The time.
    pub clock: Clock,
    /// Requests left in the quota, and when it comes back; missing when it never ends.
    pub quota: Option<(u64, Timestamp)>,
    /// Whether the key may only read.
    pub is_read_only: bool,
    pub(super) tokens: BTreeMap<String, String>,
    pub(super) users: BTreeMap<String, String>,
    pub(super) teams: BTreeMap<String, Team>,
    pub(super) states: BTreeMap<String, State>,
    pub(super) labels: BTreeMap<String, Label>,
    pub(super) projects: BTreeMap<String, Project>,
    pub(super) issues: BTreeMap<String, LinearIssue>,
    pub(super) relations: Vec<Relation>,
    pub(super) comments: BTreeMap<String, LinearComment>,
    /// Who asks, during a request.
    pub(super) viewer: String,
    next_id: u64,
}

/// The states of a new team.
const STATES: [(&str, &str); 8] = [
    ("Triage", "triage"),
    ("Backlog", "backlog"),
    ("Todo", "unstarted"),
    ("In Progress", "started"),
    ("In Review", "started"),
    ("Done", "completed"),
    ("Duplicate", "duplicate"),
    ("Canceled", "canceled"),
];

impl LinearWorld {
    pub(crate) fn new(token: &str) -> Self {
        let mut world = Self {
            clock: Clock::default(),
            quota: None,
            is_read_only: false,
            tokens: BTreeMap::new(),
            users: BTreeMap::new(),
            teams: BTreeMap::new(),
            states: BTreeMap::new(),
            labels: BTreeMap::new(),
            projects: BTreeMap::new(),
            issues: BTreeMap::new(),
            relations: Vec::new(),
            comments: BTreeMap::new(),
            viewer: String::new(),
            next_id: 0,
        };
        for name in ["ada", "mallory"] {
            let id = world.id();
            world.users.insert(id, name.to_owned());
        }
        for (key, name) in [("ENG", "Engineering"), ("OPS", "Operations")] {
            world.add_team(key, name);
        }
        let project = Project {
            name: "Web".to_owned(),
            slug: "web-1a2b3c".to_owned(),
            teams: world.teams.keys().cloned().collect(),
        };
        let id = world.id();
        world.projects.insert(id, project);
        let ada = world.user("ada");
        world.tokens.insert(token.to_owned(), ada);
        world
    }

    /// Makes an id; all have the form of a UUID.
    pub(super) fn id(&mut self) -> String {
        self.next_id += 1;
        format!("00000000-0000-4000-8000-{:012x}", self.next_id)
    }

    fn add_team(&mut self, key: &str, name: &str) {
        let team = self.id();
        let (key, name) = (key.to_owned(), name.to_owned());
        self.teams.insert(team.clone(), Team { key, name });
        for (place, (name, kind)) in (0_u32..).zip(STATES) {
            let id = self.id();
            let state = State {
                team: team.clone(),
                name: name.to_owned(),
                kind,
                position: f64::from(place),
            };
            self.states.insert(id, state);
        }
    }

    /// Makes a key invalid.
    pub fn revoke(&mut self, token: &str) {
        self.tokens.remove(token);
    }

    /// Gives a key to a user.
    pub fn set_token(&mut self, token: &str, user: &str) {
        let user = self.user(user);
        self.tokens.insert(token.to_owned(), user);
    }

    /// Returns the id of a user by name.
    pub fn user(&self, name: &str) -> String {
        let found = self.users.iter().find(|(_, known)| *known == name);
        found.expect("the user exists").0.clone()
    }

    /// Returns the id of a team by its key.
    pub fn team(&self, key: &str) -> String {
        let found = self.teams.iter().find(|(_, team)| team.key == key);
        found.expect("the team exists").0.clone()
    }

    /// Returns the id of the project.
    pub fn project(&self) -> String {
        self.projects
            .keys()
            .next()
            .expect("there is a project")
            .clone()
    }

    /// Returns the id of a state of a team.
    pub fn state(&self, team: &str, name: &str) -> String {
        let team = self.team(team);
        let found = self
            .states
            .iter()
            .find(|(_, state)| state.team == team && state.name == name);
        found.expect("the state exists").0.clone()
    }

    /// Adds a label to a team, or to the workspace, and returns its id.
    pub fn add_label(&mut self, name: &str, team: Option<&str>) -> String {
        let team = team.map(|key| self.team(key));
        let id = self.id();
        let name = name.to_owned();
        self.labels.insert(id.clone(), Label { name, team });
        id
    }

    /// Returns the id of a label by its name.
    pub fn label(&self, name: &str) -> String {
        let found = self.labels.iter().find(|(_, label)| label.name == name);
        found.expect("the label exists").0.clone()
    }

    /// Adds an issue to a team, in its state Todo, and returns its id.
    pub fn add_issue(&mut self, creator: &str, team: &str, title: &str, text: &str) -> String {
        let id = self.id();
        let (creator, state) = (self.user(creator), self.state(team, "Todo"));
        let team = self.team(team);
        self.insert_issue(id.clone(), &team, title, state);
        let issue = self.issues.get_mut(&id).expect("it was just added");
        issue.creator = Some(creator);
        issue.description = (!text.is_empty()).then(|| text.to_owned());
        id
    }

    pub(super) fn insert_issue(&mut self, id: String, team: &str, title: &str, state: String) {
        let now = self.clock.tick();
        let numbers = self.issues.values().filter(|issue| issue.team == team);
        let number = numbers.map(|issue| issue.number).max().unwrap_or(0) + 1;
        let issue = LinearIssue {
            id: id.clone(),
            team: team.to_owned(),
            number,
            title: title.to_owned(),
            description: None,
            priority: 0,
            state,
            labels: BTreeSet::new(),
            assignee: None,
            creator: None,
            parent: None,
            project: None,
            is_trashed: false,
            is_archived: false,
            created_at: now,
            updated_at: now,
        };
        self.issues.insert(id, issue);
    }

    /// Changes an issue, as of now.
    pub fn edit_issue(&mut self, id: &str, edit: impl FnOnce(&mut LinearIssue)) {
        let now = self.clock.tick();
        let issue = self.issues.get_mut(id).expect("the issue exists");
        edit(issue);
        issue.updated_at = now;
    }

    /// Moves an issue to a state of its team.
    pub fn move_issue(&mut self, id: &str, state: &str) {
        let key = self
            .teams
            .get(&self.issue(id).team)
            .map(|team| team.key.clone());
        let state = self.state(&key.expect("an issue has a team"), state);
        self.edit_issue(id, |issue| issue.state = state);
    }

    /// Removes an issue for ever.
    pub fn remove_issue(&mut self, id: &str) {
        self.issues.remove(id);
    }

    /// Lets one issue block another.
    pub fn block(&mut self, blocker: &str, blocked: &str) {
        let relation = Relation {
            kind: "blocks".to_owned(),
            issue: blocker.to_owned(),
            related: blocked.to_owned(),
        };
        self.relations.push(relation);
        self.edit_issue(blocked, |_| {});
    }

    /// Writes a comment, and returns its id.
    pub fn add_comment(&mut self, user: &str, issue: &str, body: &str) -> String {
        let id = self.id();
        let user = self.user(user);
        self.insert_comment(id.clone(), Some(issue), Some(user), body);
        id
    }

    /// Writes a comment that is on a project, not on an issue.
    pub fn add_comment_elsewhere(&mut self, body: &str) -> String {
        let id = self.id();
        self.insert_comment(id.clone(), None, None, body);
        id
    }

    pub(super) fn insert_comment(
        &mut self,
        id: String,
        issue: Option<&str>,
        user: Option<String>,
        body: &str,
    ) {
        let now = self.clock.tick();
        let comment = LinearComment {
            id: id.clone(),
            issue: issue.map(str::to_owned),
            body: body.to_owned(),
            user,
            created_at: now,
            updated_at: now,
            edited_at: None,
        };
        self.comments.insert(id, comment);
    }

    /// Changes a comment's text.
    pub fn edit_comment(&mut self, id: &str, body: &str) {
        let now = self.clock.tick();
        let comment = self.comments.get_mut(id).expect("the comment exists");
        body.clone_into(&mut comment.body);
        comment.updated_at = now;
        comment.edited_at = Some(now);
    }

    /// Returns an issue.
    pub fn issue(&self, id: &str) -> LinearIssue {
        self.issues.get(id).expect("the issue exists").clone()
    }

    /// Returns all issues, the oldest first.
    pub fn issues(&self) -> Vec<LinearIssue> {
        let mut issues: Vec<_> = self.issues.values().cloned().collect();
        issues.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        issues
    }

    /// Returns the comments of an issue, the oldest first.
    pub fn comments(&self, issue: &str) -> Vec<LinearComment> {
        let mut comments: Vec<_> = self
            .comments
            .values()
            .filter(|comment| comment.issue.as_deref() == Some(issue))
            .cloned()
            .collect();
        comments.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        comments
    }

    /// Returns the name of an issue's state.
    pub fn state_name(&self, issue: &str) -> String {
        let state = self.states.get(&self.issue(issue).state);
        state.expect("an issue has a state").name.clone()
    }

    /// Returns the names of an issue's labels.
    pub fn label_names(&self, issue: &str) -> BTreeSet<String> {
        let labels = self.issue(issue).labels;
        let names = labels.iter().filter_map(|id| self.labels.get(id));
        names.map(|label| label.name.clone()).collect()
    }
}
