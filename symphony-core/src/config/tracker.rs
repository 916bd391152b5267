//! What the section `trackers` says: where a project's issues are mirrored, which of them, and how.

use std::collections::BTreeMap;

use super::value::{CommandLine, Millis};
use crate::closed_set::closed_set;
use crate::issue::{IssueStatus, Priority};
use crate::user::UserName;

closed_set!(
    /// A tracker that Symphony can mirror.
    TrackerKind, "kind of tracker", {
        /// The issues of a repository on GitHub.
        Github = "github",
        /// The issues of a team on Linear.
        Linear = "linear",
    }
);

/// Where a tracker's issues are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackerPlace {
    /// A repository on GitHub.
    Github {
        /// Whose it is.
        owner: String,
        /// Its name.
        name: String,
    },
    /// A team on Linear.
    Linear {
        /// The key of the team: the `ENG` of `ENG-12`.
        team: String,
        /// Only issues of the project with this slug id, where set.
        project: Option<String>,
    },
}

impl TrackerPlace {
    /// Returns which kind of tracker it is.
    pub const fn kind(&self) -> TrackerKind {
        match self {
            Self::Github { .. } => TrackerKind::Github,
            Self::Linear { .. } => TrackerKind::Linear,
        }
    }
}

/// Where the token of a tracker comes from. It is read when the tracker is, and kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    /// A variable of the environment.
    Variable(String),
    /// The first line that a command prints, such as `gh auth token`.
    Command(CommandLine),
}

/// Which issues of a tracker are mirrored. All that is set must match; names are compared without case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrackerFilter {
    /// An issue needs each of these labels.
    pub labels: Vec<String>,
    /// An issue is assigned to one of these users, by login or id.
    pub assignees: Vec<String>,
    /// An issue is in one of these states when it is first seen.
    pub states: Vec<String>,
}

/// What the status of a new issue can be.
pub(super) const IMPORT_STATUSES: &[&str] = &["todo", "backlog"];

/// The label that an issue needs where the configuration names none: whoever may label an issue decides that agents are
/// paid for it, not whoever may write one.
pub const TRACKER_LABEL: &str = "symphony";

/// One tracker of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackerSettings {
    /// Its name in the configuration.
    pub name: String,
    /// Where its issues are.
    pub place: TrackerPlace,
    /// The address of its API, without a slash at the end.
    pub endpoint: String,
    /// Where its token comes from.
    pub token: TokenSource,
    /// Which issues are mirrored.
    pub filter: TrackerFilter,
    /// The status of a new issue: `backlog` or `todo`.
    pub import_status: IssueStatus,
    /// What a status is called at the tracker: the name of a state (Linear) or of a label (GitHub).
    pub states: BTreeMap<IssueStatus, String>,
    /// The label that means a priority, for trackers without priorities (GitHub).
    pub priorities: BTreeMap<Priority, String>,
    /// Who may give commands in comments: a name here, and the user's id at the tracker, which no rename changes.
    pub commanders: BTreeMap<UserName, String>,
    /// Whether milestones are written there as comments.
    pub comments: bool,
    /// Whether sub-tasks of mirrored issues are made there too.
    pub subtasks: bool,
    /// Least time between two looks.
    pub poll: Millis,
}
