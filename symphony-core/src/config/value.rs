//! The small types that configured values have: durations, commands, gates, closed sets.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::id::{IdError, is_prefix};
pub use crate::issue::BreakerTarget;

/// A duration in milliseconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(u64);

impl Millis {
    /// Wraps a number of milliseconds.
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the number of milliseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the same as a standard duration.
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// A command of the configuration: a text runs with `sh -c`, a list is an argv.
///
/// Serialises as it is in the file. An argv has at least one word, a text at least one
/// character that is not white space.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandLine {
    /// Run as `sh -c TEXT`.
    Shell(String),
    /// Run as given, without a shell.
    Argv(Vec<String>),
}

impl CommandLine {
    /// Returns the words to execute: `sh -c TEXT` for a text.
    pub fn to_argv(&self) -> Vec<String> {
        match self {
            Self::Shell(text) => vec!["sh".to_owned(), "-c".to_owned(), text.clone()],
            Self::Argv(words) => words.clone(),
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(text) => f.write_str(text),
            Self::Argv(words) => f.write_str(&words.join(" ")),
        }
    }
}

/// A quality gate: a command that must succeed on the recorded commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// Its name, unique in the project.
    pub name: String,
    /// What is run, in a pristine checkout of the commit.
    pub command: CommandLine,
    /// Whether a failure sends the issue back; otherwise it is only shown.
    #[serde(default = "gate_required_default")]
    pub required: bool,
    /// The time limit.
    #[serde(default = "gate_timeout_default")]
    pub timeout_ms: Millis,
    /// Whether it may run beside the gates next to it that may, too.
    #[serde(default)]
    pub parallel: bool,
    /// How often it runs again on the same files when it is red.
    #[serde(default = "gate_retries_default")]
    pub retries: u64,
    /// What of the commit its result depends on.
    #[serde(default)]
    pub reads: GateReads,
}

const fn gate_required_default() -> bool {
    super::defaults::GATE_REQUIRED
}

const fn gate_timeout_default() -> Millis {
    Millis::new(super::defaults::GATE_TIMEOUT_MS)
}

const fn gate_retries_default() -> u64 {
    super::defaults::GATE_RETRIES
}

impl Gate {
    /// Creates a required gate with the default time limit.
    pub fn new(name: impl Into<String>, command: CommandLine) -> Self {
        Self {
            name: name.into(),
            command,
            required: gate_required_default(),
            timeout_ms: gate_timeout_default(),
            parallel: false,
            retries: gate_retries_default(),
            reads: GateReads::default(),
        }
    }
}

/// The prefix of a project's issue identifiers: `SYM` of `SYM-12`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IssuePrefix(String);

impl IssuePrefix {
    /// Parses a prefix (`^[A-Z][A-Z0-9]{0,9}$`).
    ///
    /// # Errors
    /// When the text has another form.
    pub fn parse(text: impl Into<String>) -> Result<Self, IdError> {
        let text = text.into();
        if is_prefix(&text) {
            Ok(Self(text))
        } else {
            Err(IdError {
                found: text,
                expected: "a prefix (a capital letter, then up to nine capital letters or digits)",
            })
        }
    }

    /// Derives the default from a project folder's name: its first four ASCII letters in capitals,
    /// `PROJ` for a name that has none.
    pub fn from_folder(name: &str) -> Self {
        let letters: String = name
            .chars()
            .filter(char::is_ascii_alphabetic)
            .take(super::defaults::PREFIX_LETTERS_MAX)
            .map(|letter| letter.to_ascii_uppercase())
            .collect();
        Self(if letters.is_empty() {
            "PROJ".to_owned()
        } else {
            letters
        })
    }

    /// Returns the prefix as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IssuePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for IssuePrefix {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

impl From<IssuePrefix> for String {
    fn from(prefix: IssuePrefix) -> Self {
        prefix.0
    }
}

closed_set!(
    /// What of a commit the result of a gate depends on.
    #[derive(Default)]
    GateReads, "what a gate reads", {
        /// Its files, and its git history: messages, authors, commits, tags.
        #[default]
        History = "history",
        /// Its files alone.
        Tree = "tree",
    }
);

closed_set!(
    /// Whether a run resumes the session of an earlier one.
    #[derive(Default)]
    ResumeMode, "way to resume", {
        /// Where that is possible and safe.
        #[default]
        Auto = "auto",
        /// Every run starts a new session.
        Never = "never",
    }
);

closed_set!(
    /// What a configured command writes to its standard output.
    CommandOutput, "output format", {
        /// The stream format of Anthropic's CLI.
        ClaudeStream = "claude-stream",
        /// Plain text.
        Text = "text",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_come_from_the_first_four_letters() {
        for (folder, prefix) in [
            ("symphony", "SYMP"),
            ("my-api", "MYAP"),
            ("a", "A"),
            ("2048", "PROJ"),
            ("", "PROJ"),
            ("größe", "GRE"),
        ] {
            assert_eq!(
                IssuePrefix::from_folder(folder).as_str(),
                prefix,
                "{folder}"
            );
            assert!(is_prefix(prefix));
        }
    }

    #[test]
    fn commands_run_with_a_shell_or_as_argv() {
        let shell: CommandLine = serde_json::from_str("\"a | b\"").unwrap();
        assert_eq!(shell.to_argv(), ["sh", "-c", "a | b"]);
        let argv: CommandLine = serde_json::from_str(r#"["a", "b c"]"#).unwrap();
        assert_eq!(argv.to_argv(), ["a", "b c"]);
    }

    #[test]
    fn gates_have_defaults() {
        let gate: Gate = serde_json::from_str(r#"{"name": "test", "command": "make"}"#).unwrap();
        assert_eq!(gate, Gate::new("test", CommandLine::Shell("make".into())));
        assert!(gate.required);
        assert_eq!(gate.timeout_ms.duration(), Duration::from_mins(10));
    }
}
