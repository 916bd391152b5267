//! What every command is given.

use symphony_core::Timestamp;
use symphony_runner::order::SecretCheck;
use symphony_runner::person::as_person;
use symphony_runner::session::Session;
use symphony_store::Context;

use crate::global::GlobalArgs;
use crate::output::Output;
use crate::permission::admit;
use crate::place::Surroundings;
use crate::secret::{check_text, secrets_of};
use crate::value::text_or_stdin;

/// The surroundings of a command, and where its answer goes.
#[derive(Debug, Clone)]
pub(crate) struct App {
    /// What surrounds the process.
    pub(crate) surroundings: Surroundings,
    /// Where the answer goes.
    pub(crate) out: Output,
}

impl App {
    /// Makes it from the global flags.
    ///
    /// # Errors
    /// When the folder to run in is not there.
    pub(crate) fn new(globals: &GlobalArgs) -> anyhow::Result<Self> {
        let surroundings = Surroundings::read(globals)?;
        Ok(Self {
            surroundings,
            out: Output::new(globals.json, globals.quiet, globals.paging()),
        })
    }

    /// Opens the database and finds the repository's project.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn session(&self) -> anyhow::Result<Session> {
        self.surroundings.session()
    }

    /// Refuses to an agent what only a person may do, where a part of a command is open to agents.
    ///
    /// # Errors
    /// When an agent asks.
    pub(crate) fn admit(&self, what: &str) -> anyhow::Result<()> {
        admit(&self.surroundings, what).map(drop)
    }

    /// Returns a text that agents will read, as it was typed; `-` reads it from standard input.
    ///
    /// # Errors
    /// When standard input cannot be read, is longer than any text field, or holds a secret value. What was typed was checked
    /// before the command began.
    pub(crate) fn text(&self, typed: &str) -> anyhow::Result<String> {
        let text = text_or_stdin(typed)?;
        if typed == "-" {
            check_text(&self.secrets()?, &text)?;
        }
        Ok(text)
    }

    /// Reads the secrets that no text for agents may hold.
    ///
    /// # Errors
    /// When the project's files cannot be listed.
    pub(crate) fn secrets(&self) -> anyhow::Result<SecretCheck> {
        secrets_of(&self.surroundings)
    }

    /// The context of a write by whoever typed the command, now.
    pub(crate) fn as_human() -> Context {
        as_person(Timestamp::now())
    }
}
