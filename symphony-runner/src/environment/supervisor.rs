//! What a supervisor gets from the environment, and what may be visible in its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use symphony_workspace::is_secret_name;

use super::agent::{RUN_MARKER, clouds, is_passed, is_plain, is_session_marker};

/// Variables that a supervisor reads for itself and git.
const SUPERVISOR_PASSED: [&str; 6] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "LD_LIBRARY_PATH",
    "RUST_BACKTRACE",
    "RUST_LOG",
];

/// Where systemd puts the credentials of a service. A supervisor on a worker finds secrets there; it is not shown in its own environment.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";
/// How git reaches a hub over SSH. A supervisor on a worker brings results there; it is not shown in its own environment either, since
/// agents have no business with the hub.
const WAYS_TO_HUB: [&str; 2] = ["GIT_SSH", "GIT_SSH_COMMAND"];

/// Returns whether a variable may be in the environment of a supervisor, where the agent below it can read it: who and
/// where the user is, and Symphony's own settings. Keys are passed separately.
pub fn is_public(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let is_own = name.starts_with("SYMPHONY_") && name != RUN_MARKER;
    (is_plain(name) || SUPERVISOR_PASSED.contains(&name) || is_own) && !is_secret_name(name)
}

/// Selects what a supervisor gets: what may be visible in it, and what agents may get. The rest of the user's
/// environment (tokens of forges, sockets of key agents) stays with the user's own commands and the helpers that
/// publish and notify.
pub fn supervisor_environment(
    inherited: &BTreeMap<OsString, OsString>,
) -> BTreeMap<OsString, OsString> {
    // The project's `env` may switch to a cloud API later, so the variables of all clouds pass.
    let clouds: Vec<&str> = clouds()
        .flat_map(|(switch, prefixes)| std::iter::once(*switch).chain(prefixes.iter().copied()))
        .collect();
    let is_for_agents = |name: &OsStr| {
        name.to_str()
            .is_some_and(|name| is_passed(name, &clouds) && !is_session_marker(name))
    };
    inherited
        .iter()
        .filter(|(name, _)| {
            let is_own = |own: &str| name.as_os_str() == own;
            is_public(name)
                || is_for_agents(name)
                || is_own(CREDENTIALS)
                || WAYS_TO_HUB.into_iter().any(is_own)
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_supervisor_shows_no_keys() {
        for name in [
            "HOME",
            "PATH",
            "LC_ALL",
            "SYMPHONY_CONFIG",
            "RUST_LOG",
            "GIT_CONFIG_GLOBAL",
        ] {
            assert!(is_public(OsStr::new(name)), "{name}");
        }
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "DATABASE_URL",
            "GITHUB_TOKEN",
            "GIT_CONFIG_VALUE_0",
            "GIT_SSH_COMMAND",
            "SYMPHONY_RUN_ID",
            "SYMPHONY_API_TOKEN",
        ] {
            assert!(!is_public(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_supervisor_is_handed_what_agents_may_get_and_no_token_of_the_user() {
        let all: BTreeMap<OsString, OsString> = [
            ("ANTHROPIC_API_KEY", "k"),
            ("AWS_SECRET_ACCESS_KEY", "k"),
            ("CARGO_HOME", "/c"),
            ("CLAUDECODE", "1"),
            ("DATABASE_URL", "postgres://u:p@db"),
            ("GH_TOKEN", "t"),
            ("GIT_SSH_COMMAND", "ssh -i key"),
            ("GITHUB_TOKEN", "t"),
            ("HOME", "/h"),
            ("NPM_TOKEN", "t"),
            ("SSH_AUTH_SOCK", "/s"),
            ("SYMPHONY_CONFIG", "/x"),
            ("SYMPHONY_RUN_ID", "run-1"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let handed = supervisor_environment(&all);
        let names: Vec<&str> = handed.keys().filter_map(|name| name.to_str()).collect();
        assert_eq!(
            names,
            [
                "ANTHROPIC_API_KEY",
                "AWS_SECRET_ACCESS_KEY",
                "CARGO_HOME",
                "GIT_SSH_COMMAND",
                "HOME",
                "SYMPHONY_CONFIG"
            ]
        );
    }
}
