//! What has to be there before work starts (section 6.3).

use super::model::Config;

/// Kinds of tracker that work starts with.
pub const TRACKER_KINDS: [&str; 1] = ["linear"];

/// Why no work starts with these settings. [`class`](Self::class) is the specification's name where it has one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Preflight {
    /// No kind of tracker is named.
    #[error("tracker.kind is missing; set it to `linear`")]
    MissingTrackerKind,
    /// The kind of tracker is not supported.
    #[error("tracker.kind is `{kind}`, which is not supported; set it to `linear`")]
    UnsupportedTrackerKind {
        /// The kind that is named.
        kind: String,
    },
    /// There is no token.
    #[error("the tracker's token is missing; set the variable LINEAR_API_KEY, or tracker.api_key")]
    MissingTrackerApiKey,
    /// No project is named.
    #[error("tracker.project_slug is missing; set it to the slug of the project in Linear")]
    MissingTrackerProjectSlug,
    /// The command that starts the agent is blank.
    #[error("codex.command is blank; remove it, or set it to a command such as `codex app-server`")]
    MissingCodexCommand,
}

impl Preflight {
    /// Returns the name by which logs find it.
    pub const fn class(&self) -> &'static str {
        match self {
            Self::MissingTrackerKind => "missing_tracker_kind",
            Self::UnsupportedTrackerKind { .. } => "unsupported_tracker_kind",
            Self::MissingTrackerApiKey => "missing_tracker_api_key",
            Self::MissingTrackerProjectSlug => "missing_tracker_project_slug",
            Self::MissingCodexCommand => "missing_codex_command",
        }
    }
}

impl Config {
    /// Returns everything that keeps work from starting; values of secrets are in none of it.
    pub fn preflight(&self) -> Vec<Preflight> {
        let mut found = Vec::new();
        match self.tracker.kind.as_deref() {
            None => found.push(Preflight::MissingTrackerKind),
            Some(kind) if TRACKER_KINDS.contains(&kind) => {
                if self.tracker.api_key.is_none() {
                    found.push(Preflight::MissingTrackerApiKey);
                }
                if self.tracker.project_slug.is_none() {
                    found.push(Preflight::MissingTrackerProjectSlug);
                }
            }
            Some(kind) => found.push(Preflight::UnsupportedTrackerKind {
                kind: kind.to_owned(),
            }),
        }
        if self.codex.command.trim().is_empty() {
            found.push(Preflight::MissingCodexCommand);
        }
        found
    }
}
