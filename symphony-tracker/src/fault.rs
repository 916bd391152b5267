//! How a tracker refuses, in one form for all trackers.

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;

/// Why a request to a tracker came to nothing. No text has a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// There is no token: nothing was asked.
    #[error("there is no token: {detail}")]
    NoToken {
        /// Why not.
        detail: String,
    },
    /// The configuration, or the repository here, names no place that can be asked: nothing was asked.
    #[error("{detail}")]
    Misconfigured {
        /// What is missing, as a whole sentence, with what to do.
        detail: String,
    },
    /// The configuration names another place than the one whose issues are linked: nothing was asked.
    #[error(
        "it mirrored {from} until now, and the configuration says {to}; if {from} was renamed, run `symphony tracker sync {tracker} --moved`; if not, give {to} another name in `trackers`"
    )]
    Moved {
        /// The name of the tracker. A hold that was recorded before this field has none.
        #[serde(default = "any_name")]
        tracker: String,
        /// The place whose issues are linked.
        from: String,
        /// The place of the configuration.
        to: String,
    },
    /// The token is wrong, expired or revoked (401).
    #[error("the token is not accepted: {detail}")]
    Unauthorised {
        /// The tracker's words.
        detail: String,
    },
    /// Git cannot exchange commits with the remote. It has a login of its own: nothing is wrong with the token.
    #[error("{why}: {detail}")]
    Git {
        /// What keeps git from it.
        why: GitFault,
        /// What git did, and what it was answered.
        detail: String,
    },
    /// The token may not do this (403 without a rate limit).
    #[error("the token may not {action}: {detail}")]
    Forbidden {
        /// What was asked for, such as `write comments`.
        action: String,
        /// The tracker's words, with the scopes that it asks for.
        detail: String,
    },
    /// The token may read and not write: what is new there still comes in, and what is new here waits.
    #[error("the token may not {action}: {detail}; what is new there is still read")]
    ReadOnly {
        /// What was asked for, such as `write comments`.
        action: String,
        /// The tracker's words, with the scopes that it asks for.
        detail: String,
    },
    /// The repository, team, issue or comment does not exist, or the token may not see it (404, 410).
    #[error("{what} does not exist, or the token may not see it")]
    NotFound {
        /// What was asked for, such as `issue 12 of acme/web`.
        what: String,
    },
    /// The tracker asks to wait (429, a secondary limit, an empty quota). Waiting is not failing.
    #[error("the rate limit is used up")]
    RateLimited {
        /// Until when; missing when it did not say.
        until: Option<Timestamp>,
    },
    /// No answer: no connection, a broken one, or a time-out.
    #[error("there is no answer: {detail}")]
    Unreachable {
        /// What the network said.
        detail: String,
    },
    /// The tracker failed (5xx).
    #[error("the server failed with status {status}: {detail}")]
    Failed {
        /// The status of HTTP.
        status: u16,
        /// The beginning of its answer.
        detail: String,
    },
    /// Something on this machine keeps Symphony from going on: git, a lock, a folder.
    #[error("on this machine, {detail}")]
    Here {
        /// What failed, with its causes, as the end of a sentence.
        detail: String,
    },
    /// The tracker refuses this change for what it is (422 and the like): another attempt would be refused too.
    #[error("the change is refused: {detail}")]
    Refused {
        /// The tracker's words.
        detail: String,
    },
    /// The answer is not what the tracker's API promises.
    #[error("the answer cannot be read: {detail}")]
    Unreadable {
        /// What was found, and where.
        detail: String,
    },
}

/// What a command's help calls a tracker's name.
fn any_name() -> String {
    "NAME".to_owned()
}

/// What keeps git from a remote that it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum GitFault {
    /// It has no login that the remote accepts without a question.
    #[error("git cannot sign in at the remote")]
    Login,
    /// The server's key or certificate is not one that git knows.
    #[error("git does not trust the server of the remote")]
    Trust,
    /// The remote has no such repository or branch, or hides it from git's login.
    #[error("git does not find the repository or the branch at the remote")]
    Missing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracker_that_moved_is_named_in_the_command_to_type() {
        let stored = r#"{"fault": "moved", "from": "github:a/b", "to": "github:a/c""#;
        for (more, command) in [
            (
                r#", "tracker": "web"}"#,
                "`symphony tracker sync web --moved`",
            ),
            // as an earlier version recorded it
            ("}", "`symphony tracker sync NAME --moved`"),
        ] {
            let fault: Fault = serde_json::from_str(&format!("{stored}{more}")).unwrap();
            let said = fault.to_string();
            assert!(said.contains(command), "{said}");
        }
    }
}
