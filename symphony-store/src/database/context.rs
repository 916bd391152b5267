//! Who writes, and when.

use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::asker::Verification;
use symphony_core::id::RunId;
use symphony_core::issue::CommentAuthor;
use symphony_core::log::LogEvent;
use symphony_core::run::{Fence, Run};
use symphony_core::user::{Attribution, Source, UserName};

use crate::database::row::to_json;
use crate::db::{OptionalExtension, Transaction, params};
use crate::error::StoreError;

/// The run in whose name something is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunKey {
    /// The run.
    pub run: RunId,
    /// Its fencing number.
    pub fence: Fence,
    /// Its agent's type.
    pub agent: AgentType,
}

impl RunKey {
    /// Returns the key of a run as it is now.
    pub fn of(run: &Run) -> Self {
        Self {
            run: run.id.clone(),
            fence: run.fence,
            agent: run.agent.clone(),
        }
    }
}

/// A person, and with what the person writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    /// Whether Symphony could tell that it is one.
    pub verification: Verification,
    /// With what, and as which user of the page.
    pub attribution: Attribution,
}

/// The author of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// A person, as far as Symphony can tell.
    Human(Person),
    /// Symphony itself.
    System,
    /// A run.
    Run(RunKey),
    /// Symphony itself, on a host that took the run from a pool: what it writes counts only while the run is that host's.
    Supervisor(RunKey),
    /// A user of a tracker, by the login where the tracker has one. Whoever that is, it is not a person whom Symphony knows.
    Tracker(Option<String>),
}

impl Actor {
    /// Returns the author as it is stored with what is written.
    pub fn author(&self) -> CommentAuthor {
        match self {
            Self::Human(_) => CommentAuthor::Human,
            Self::System | Self::Supervisor(_) => CommentAuthor::System,
            Self::Run(key) => CommentAuthor::Agent(key.agent.clone()),
            Self::Tracker(_) => CommentAuthor::Tracker,
        }
    }

    /// Returns whether it is a person.
    pub const fn is_human(&self) -> bool {
        matches!(self, Self::Human(_))
    }

    /// Returns why Symphony cannot tell that a person is acting; `None` when it can, and for all others.
    pub fn unverified(&self) -> Option<&str> {
        match self {
            Self::Human(person) => person.verification.reason(),
            Self::System | Self::Supervisor(_) | Self::Run(_) | Self::Tracker(_) => None,
        }
    }

    /// Returns with what it writes, and as which user of the page.
    pub fn attribution(&self) -> Attribution {
        match self {
            Self::Human(person) => person.attribution.clone(),
            Self::System | Self::Supervisor(_) => Attribution::default(),
            Self::Run(_) => Attribution::of(Source::Agent),
            Self::Tracker(_) => Attribution::of(Source::Tracker),
        }
    }

    /// Returns the columns `source` and `user`.
    pub(crate) fn attributed(&self) -> (Option<&'static str>, Option<&str>) {
        match self {
            Self::Human(person) => {
                let Attribution { source, user } = &person.attribution;
                (
                    source.map(Source::name),
                    user.as_ref().map(UserName::as_str),
                )
            }
            Self::System | Self::Supervisor(_) => (None, None),
            Self::Run(_) => (Some(Source::Agent.name()), None),
            Self::Tracker(_) => (Some(Source::Tracker.name()), None),
        }
    }

    /// Returns the run, if it is one.
    pub const fn run(&self) -> Option<&RunId> {
        match self {
            Self::Run(key) => Some(&key.run),
            Self::Human(_) | Self::System | Self::Supervisor(_) | Self::Tracker(_) => None,
        }
    }

    /// Returns the login of a tracker's user.
    pub fn login(&self) -> Option<&str> {
        match self {
            Self::Tracker(login) => login.as_deref(),
            Self::Human(_) | Self::System | Self::Supervisor(_) | Self::Run(_) => None,
        }
    }
}

/// Who writes, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The author.
    pub actor: Actor,
    /// The time of the write.
    pub now: Timestamp,
}

impl Context {
    /// Returns a context for a person who was seen to type the command.
    pub const fn human(now: Timestamp) -> Self {
        Self::person(Verification::Verified, now)
    }

    /// Returns a context for whoever typed a command, which may not have been a person.
    pub const fn person(verification: Verification, now: Timestamp) -> Self {
        Self {
            actor: Actor::Human(Person {
                verification,
                attribution: Attribution::of(Source::Cli),
            }),
            now,
        }
    }

    /// Returns the context of the same author at another time.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Self {
        Self {
            actor: self.actor.clone(),
            now,
        }
    }

    /// Returns a context for Symphony itself.
    pub const fn system(now: Timestamp) -> Self {
        Self {
            actor: Actor::System,
            now,
        }
    }

    /// Returns a context for a tracker, or one of its users.
    pub const fn tracker(login: Option<String>, now: Timestamp) -> Self {
        Self {
            actor: Actor::Tracker(login),
            now,
        }
    }

    /// Returns a context for Symphony itself on the host that has a run.
    pub const fn supervisor(key: RunKey, now: Timestamp) -> Self {
        Self {
            actor: Actor::Supervisor(key),
            now,
        }
    }

    /// Returns the run without which nothing is written.
    pub(crate) const fn guard(&self) -> Option<&RunKey> {
        match &self.actor {
            Actor::Run(key) | Actor::Supervisor(key) => Some(key),
            Actor::Human(_) | Actor::System | Actor::Tracker(_) => None,
        }
    }

    /// Refuses the write of a run that has ended or was superseded.
    pub(crate) fn check(&self, tx: &Transaction<'_>) -> Result<(), StoreError> {
        let Some(key) = self.guard() else {
            return Ok(());
        };
        // In the transaction of the write: a supervisor that was thought dead, or a stray with the socket, may still
        // try to write after another run has started on the issue.
        let fence: Option<i64> = tx
            .prepare_cached(
                "SELECT fence FROM run WHERE id = ?1 AND status IN ('starting', 'running')",
            )?
            .query_row([key.run.as_str()], |row| row.get(0))
            .optional()?;
        if fence == Some(key.fence.get()) {
            Ok(())
        } else {
            Err(StoreError::Superseded {
                run: key.run.clone(),
            })
        }
    }

    /// Records that a write was refused because its run has ended: once per run, however often it tries.
    pub(crate) fn record_refusal(&self, tx: &Transaction<'_>) -> Result<(), StoreError> {
        let Some(key) = self.guard() else {
            return Ok(());
        };
        let refused = LogEvent::WriteRefused {};
        tx.prepare_cached(
            "INSERT INTO event (at, project, issue, run, actor, kind, payload, source)
             SELECT ?2, project, issue, id, ?3, ?4, ?5, ?6 FROM run WHERE id = ?1
             AND NOT EXISTS (SELECT 1 FROM event WHERE run = ?1 AND kind = ?4)",
        )?
        .execute(params![
            key.run.as_str(),
            self.now.as_millisecond(),
            self.actor.author().name(),
            refused.kind(),
            to_json(&refused.payload()),
            Source::Agent.name(),
        ])?;
        Ok(())
    }
}
