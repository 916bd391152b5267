//! What keeps a pull request from being merged, as facts: the command line says what to type next.

use std::path::PathBuf;

use symphony_core::id::PrId;
use symphony_core::listing::list_few;
use symphony_core::outside::MergeObstacle;
use symphony_core::pull_request::{PullRequest, PullRequestOf, noun};

/// Patterns of files, and changed settings, that a text names.
const NAMES_MAX: usize = 5;

/// A pull request that is not merged, or a proposal that is not confirmed, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {}{why}", self.subject(), self.how())]
pub struct NotMerged {
    /// The pull request.
    pub pr: PrId,
    /// What it finishes.
    pub of: PullRequestOf,
    /// Whether it proposes that nothing is left to do.
    pub is_proposal: bool,
    /// What is in the way.
    pub why: MergeRefusal,
}

/// What is in the way of a merge, in words that follow "is not merged:".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
#[non_exhaustive]
pub enum MergeRefusal {
    /// Another process has the turn at it.
    #[error("another process is merging it")]
    UnderWay,
    /// It is merged in another host's repository.
    #[error("host {host} is merging it, or was cut off while it did")]
    UnderWayAt { host: String },
    /// Review points ask for something that is not done.
    #[error("{0} must be closed first")]
    OpenPoints(String),
    /// What the base, the branch or their commits show.
    #[error("{}", .0.text())]
    Obstacle(Box<MergeObstacle>),
    /// It brings a filter into the base that Symphony may not run.
    #[error("its `.gitattributes` apply the git filter `{name}` to {}, and Symphony may not run that filter (`git.trusted_filters`)",
        list_few(patterns.iter().map(String::as_str), NAMES_MAX))]
    Filter { name: String, patterns: Vec<String> },
    /// Required gates failed.
    #[error("required gates are red on commit {commit}: {}{}", gates.join(", "), output_in(logs.as_ref()))]
    RedGates {
        commit: String,
        gates: Vec<String>,
        /// The folder of their output, where no command prints it.
        logs: Option<PathBuf>,
    },
    /// The gates changed what all checkouts share, or another checkout.
    #[error("{} changed while its gates ran the code of the change",
        list_few(.0.iter().map(String::as_str), NAMES_MAX))]
    ChangedByGates(Vec<String>),
    /// Its commits have values of the project's configuration files.
    #[error("its commits {0}")]
    Secrets(String),
    /// Required checks at the forge have not passed.
    #[error("required checks at the forge have not passed on its head: {0}")]
    Checks(String),
    /// A person at the forge demands something that Symphony could not take in.
    #[error("{0}")]
    Objection(String),
    /// The forge has not got its head yet.
    #[error("the forge does not have its head {commit} yet{}", .problem.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default())]
    NotAtForge {
        commit: String,
        /// What is in the way.
        problem: Option<String>,
    },
    /// The forge does not merge it, or cannot be asked.
    #[error("the forge does not merge it: {0}")]
    Forge(String),
    /// The forge merged it, and the base here could not follow.
    #[error("it is merged at the forge as {commit}, but the base here cannot follow yet: {waits}")]
    MergedThere {
        commit: String,
        /// What is in the way.
        waits: String,
    },
    /// It is for another branch at the forge than here.
    #[error("its base is `{there}` at the forge, but `{here}` here")]
    OtherBase { there: String, here: String },
    /// The forge takes no push to its base, which a merge here needs.
    #[error("`{0}` is protected at the forge, which would refuse a merge made here")]
    ProtectedBase(String),
    /// Its base has commits here that the forge lacks, so it could not follow a merge there.
    #[error(
        "`{base}` has commits here that `{remote}` lacks, so it could not follow a merge there"
    )]
    BaseAhead { base: String, remote: String },
    /// A person stopped it.
    #[error("you stopped the command")]
    Stopped,
}

impl NotMerged {
    pub(crate) fn new(pr: &PullRequest, why: MergeRefusal) -> Self {
        Self {
            pr: pr.id,
            of: pr.of.clone(),
            is_proposal: pr.proposal.is_some(),
            why,
        }
    }

    pub(crate) fn found(pr: &PullRequest, obstacle: MergeObstacle) -> Self {
        Self::new(pr, MergeRefusal::Obstacle(Box::new(obstacle)))
    }

    /// Says what it is not, in words that the reason follows.
    fn how(&self) -> &'static str {
        match self.why {
            // it is merged, only not here
            MergeRefusal::MergedThere { .. } => "is not recorded as merged: ",
            _ if self.is_proposal => "is not confirmed: ",
            _ => "is not merged: ",
        }
    }

    fn subject(&self) -> String {
        format!("{} {}", noun(self.is_proposal), self.pr)
    }
}

/// Names the folder of output that no command prints: `pr show` prints that of gates on the branch only.
fn output_in(logs: Option<&PathBuf>) -> String {
    logs.map_or_else(String::new, |logs| {
        format!("; their output is in {}", logs.display())
    })
}
