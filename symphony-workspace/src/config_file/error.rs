//! What can go wrong with a configuration file.

use std::path::PathBuf;

use symphony_core::config::{ConfigProblem, KeyPathError};

/// An error of finding, reading, checking or writing a configuration file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigFileError {
    /// A file that was named is not there.
    #[error("there is no configuration file {}", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// A file exists where one was to be created.
    #[error("{} already exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// What the control handed to a worker is no configuration.
    #[error("the configuration that the control handed over is not a list of objects")]
    Handed,
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The path is a folder, a pipe or a device.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is larger than any configuration.
    #[error("{} has {bytes} bytes; expected at most {bytes_max}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The largest size that is accepted.
        bytes_max: u64,
    },
    /// The file is not UTF-8.
    #[error("{} is not UTF-8 at byte {valid_up_to}", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Bytes before the first that is wrong.
        valid_up_to: usize,
    },
    /// The file changed while it was edited.
    #[error("another program has changed {} in the meantime", path.display())]
    ChangedMeanwhile {
        /// The file.
        path: PathBuf,
    },
    /// The key to set is not one.
    #[error(transparent)]
    Key(#[from] KeyPathError),
    /// The configuration, or what it would become, has problems; there is at least one.
    #[error("{}", first(problems))]
    Invalid {
        /// All of them, in the order of the files and of their lines.
        problems: Vec<ConfigProblem>,
    },
}

impl ConfigFileError {
    /// Returns the problems of the configuration, when that is what went wrong.
    pub fn problems(&self) -> &[ConfigProblem] {
        match self {
            Self::Invalid { problems } => problems,
            _ => &[],
        }
    }
}

fn first(problems: &[ConfigProblem]) -> String {
    match problems {
        [] => "no problem".to_owned(),
        [only] => only.to_string(),
        [first, more @ ..] => format!("{first} (and {} more)", more.len()),
    }
}
