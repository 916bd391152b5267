//! What can go wrong in a script, and in the command line.

use std::io;
use std::path::PathBuf;

use crate::unmatched::Unmatched;

/// The command line of the scripted agent is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// An argument is not known.
    #[error("the scripted agent has no argument `{found}`; expected one of {expected}")]
    Unknown {
        /// The argument.
        found: String,
        /// The flags there are.
        expected: &'static str,
    },
    /// A flag has no value.
    #[error("the scripted agent's argument `{flag}` has no value")]
    NoValue {
        /// The flag.
        flag: String,
    },
    /// A value is of the wrong kind.
    #[error("the scripted agent's argument `{flag}` is `{found}`; expected {expected}")]
    BadValue {
        /// The flag.
        flag: String,
        /// Its value.
        found: String,
        /// What it takes.
        expected: &'static str,
    },
    /// A flag is missing.
    #[error("the scripted agent's argument `{flag}` is missing")]
    Missing {
        /// The flag.
        flag: &'static str,
    },
}

/// Why a script does not go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScriptError {
    /// A file cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The scenario file is not of its format.
    #[error("scenario {}: {what}", path.display())]
    Scenario { path: PathBuf, what: String },
    /// A regular expression is wrong.
    #[error("regex {regex:?} is not valid: {what}")]
    Regex { regex: String, what: String },
    /// No scenario fits the prompts.
    #[error("{0}")]
    NoMatch(Box<Unmatched>),
    /// The last tool result is not what the turn expects.
    #[error("expected {expected:?}, last tool result: {found:?}")]
    Expectation { expected: String, found: String },
    /// A placeholder has no value.
    #[error("{0}")]
    Placeholder(String),
    /// A fault is not known.
    #[error("unknown fault {0:?}")]
    Fault(String),
    /// A content block is wrong.
    #[error("content block: {0}")]
    Block(String),
    /// The output cannot be written: nobody reads it any more.
    #[error("cannot write output: {0}")]
    Output(#[from] io::Error),
}
