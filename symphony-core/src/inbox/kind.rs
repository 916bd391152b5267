//! Kinds of things that wait for a person.

use crate::closed_set::closed_set;

closed_set!(
    /// What kind of thing waits.
    InboxKind, "inbox kind", {
        /// A pull request, or what a phase made.
        Review = "review",
        /// An issue that an agent, a judge, a cap or tampering blocked.
        Blocked = "blocked",
        /// An open circuit breaker.
        Breaker = "breaker",
        /// An issue whose dependency was cancelled, or is one of a project that was removed.
        Dependency = "dependency",
        /// An issue whose sub-tasks were all cancelled.
        Subtasks = "subtasks",
        /// An issue that no agent is started for, as the project is configured.
        Undispatched = "undispatched",
        /// An issue of the backlog that intake left as it was.
        Intake = "intake",
        /// A pull request whose gates could not be run, again and again.
        Gates = "gates",
        /// A pull request that could not be published.
        Publication = "publication",
        /// A branch that the database did not know, saved before a run began.
        Rescue = "rescue",
        /// A phase of a plan that needs a decision, or a plan that has ended with work that was not merged.
        Plan = "plan",
        /// A provider, a project or everything is on hold.
        Hold = "hold",
        /// A project that nothing is started for.
        Project = "project",
        /// Commits of an agent that reached the base branch without Symphony, or a base branch that is gone.
        Base = "base",
        /// Configuration that changed while an agent or gates were running.
        Settings = "settings",
        /// A run that left work in no commit.
        LeftBehind = "left_behind",
        /// An accepted document that is no longer in the repository.
        Document = "document",
        /// A supervisor or a tick that makes no progress.
        Stuck = "stuck",
        /// An issue of the backlog that others wait for.
        Needed = "needed",
        /// Issues that agents proposed, in the backlog.
        Proposals = "proposals",
        /// An issue whose runs cannot be prepared, again and again.
        Preparation = "preparation",
        /// Something that fails every probe of a hold, with nothing else to compare it with.
        Probe = "probe",
        /// A tracker that cannot be used, or that refused changes.
        Tracker = "tracker",
        /// A forge that cannot be used, or a pull request that is not mirrored.
        Forge = "forge",
    }
);

impl InboxKind {
    /// Returns what a person reads.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Undispatched => "not started",
            Self::LeftBehind => "left behind",
            Self::Subtasks => "sub-tasks",
            other => other.name(),
        }
    }

    /// Returns whether an entry of this kind means that its issue goes on only when a person answers. The others report
    /// something beside it: it is judged, worked on and retried nevertheless.
    pub const fn is_about_the_issue_itself(self) -> bool {
        match self {
            Self::Review
            | Self::Blocked
            | Self::Breaker
            | Self::Dependency
            | Self::Subtasks
            | Self::Undispatched
            | Self::Intake
            | Self::Needed => true,
            Self::Gates
            | Self::Publication
            | Self::Tracker
            | Self::Forge
            | Self::Rescue
            | Self::Plan
            | Self::Hold
            | Self::Project
            | Self::LeftBehind
            | Self::Document
            | Self::Stuck
            | Self::Base
            | Self::Settings
            | Self::Preparation
            | Self::Probe
            | Self::Proposals => false,
        }
    }
}
