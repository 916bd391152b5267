//! Why a remote does not answer, by what git and ssh say.

/// Why a remote does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// It does not accept the user's credentials, or there are none that work without a question.
    Credentials,
    /// It is not the server that is known, or its certificate is not trusted.
    Trust,
    /// It has no such repository or branch, or the user may not see it.
    Missing,
    /// It cannot be reached, or something else failed.
    Unreachable,
}

/// What git and ssh say, in lower case, and what it means. The order matters: a server says "not found" for what the user may not see.
const WORDS: &[(&str, NoAnswer)] = &[
    ("host key verification failed", NoAnswer::Trust),
    ("remote host identification has changed", NoAnswer::Trust),
    ("certificate", NoAnswer::Trust),
    ("permission denied (publickey", NoAnswer::Credentials),
    ("authentication failed", NoAnswer::Credentials),
    ("could not read username", NoAnswer::Credentials),
    ("could not read password", NoAnswer::Credentials),
    ("terminal prompts disabled", NoAnswer::Credentials),
    ("invalid username or", NoAnswer::Credentials),
    ("returned error: 401", NoAnswer::Credentials),
    ("returned error: 403", NoAnswer::Credentials),
    (
        "write access to repository not granted",
        NoAnswer::Credentials,
    ),
    ("couldn't find remote ref", NoAnswer::Missing),
    ("repository not found", NoAnswer::Missing),
    ("does not appear to be a git repository", NoAnswer::Missing),
    ("returned error: 404", NoAnswer::Missing),
    ("not found", NoAnswer::Missing),
];

impl NoAnswer {
    /// Reads why from git's error output.
    pub(super) fn of(stderr: &str) -> Self {
        let text = stderr.to_lowercase();
        WORDS
            .iter()
            .find(|(words, _)| text.contains(words))
            .map_or(Self::Unreachable, |(_, why)| *why)
    }
}
