//! Texts of a person that agents will read: one that holds the value of a secret is refused before anything is recorded.

use std::sync::Arc;

use clap::ArgMatches;
use symphony_runner::redaction::redactor_for_person;
use symphony_runner::repository::open_repository;
use symphony_workspace::Redactor;

use crate::failure::{Context as _, Exit, Stop};
use crate::place::Surroundings;

/// The groups of commands whose texts get into prompts, or beside the work of agents.
const GROUPS: &[&str] = &[
    "done",
    "issue",
    "learnings",
    "phase",
    "plan",
    "point",
    "pr",
    "profile",
];

/// What finds the project's secret values in a text.
#[derive(Debug)]
pub(crate) struct SecretCheck {
    /// None where there is no secret, or no project.
    redactor: Option<Redactor>,
}

impl SecretCheck {
    /// Reads the secrets of the project here.
    ///
    /// # Errors
    /// When the project's files cannot be listed.
    pub(crate) fn load(surroundings: &Surroundings) -> anyhow::Result<Self> {
        let repository = surroundings.session().ok().and_then(|session| {
            let config = session.config().ok()?;
            open_repository(&session.project, &config).ok()
        });
        let redactor = match repository {
            Some(repository) => redactor_for_person(&repository, &surroundings.environment)
                .context("read the secrets of the project")?,
            // The command itself reports that it has no project.
            None => None,
        };
        Ok(Self { redactor })
    }

    /// Returns what takes the values out of the words of a person's own MCP client.
    pub(crate) fn into_redactor(self) -> Option<Arc<Redactor>> {
        self.redactor.map(Arc::new)
    }

    /// Names the secret values in a text; none when it has none.
    pub(crate) fn named_in(&self, text: &str) -> Option<String> {
        let held = self.redactor.as_ref()?.sources_in(text.as_bytes());
        (!held.is_empty()).then(|| held.join(", "))
    }

    /// Refuses a text with a secret value.
    ///
    /// # Errors
    /// When it has one; the value is not in the error.
    pub(crate) fn check(&self, text: &str) -> anyhow::Result<()> {
        let Some(held) = self.named_in(text) else {
            return Ok(());
        };
        let message = format!(
            "nothing was recorded: the text contains the value of {held}, and agents would read it"
        );
        Err(Stop::new(Exit::Refused, message)
            .hint("write the name instead of the value; a value that a file on the base branch contains is not \
                   treated as a secret")
            .into())
    }
}

/// Returns the texts that were typed for a command, when agents may get to read them: the arguments that are no path, number
/// or name of a choice.
pub(crate) fn typed_texts(command: &str, matches: &ArgMatches) -> Vec<String> {
    let group = command.split(' ').next().unwrap_or_default();
    if !GROUPS.contains(&group) {
        return Vec::new();
    }
    let mut texts = Vec::new();
    for id in matches.ids() {
        // Other types are an error here, and what was not typed is none.
        if let Ok(Some(values)) = matches.try_get_many::<String>(id.as_str()) {
            texts.extend(values.cloned());
        }
    }
    texts
}

/// Refuses a command of a person one of whose typed texts holds a secret value.
///
/// # Errors
/// When one does, or the secrets cannot be read.
pub(crate) fn check_typed(surroundings: &Surroundings, texts: &[String]) -> anyhow::Result<()> {
    if texts.iter().all(String::is_empty) {
        return Ok(());
    }
    let secrets = SecretCheck::load(surroundings)?;
    texts.iter().try_for_each(|text| secrets.check(text))
}
