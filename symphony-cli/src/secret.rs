//! Texts of a person that agents will read: one that holds the value of a secret is refused before anything is recorded.

use clap::ArgMatches;
use symphony_runner::order::SecretCheck;

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

/// Reads the secrets of the project here, and leaves its database for the command; a place without a project has none, which the command
/// itself reports.
///
/// # Errors
/// When the project's files cannot be listed.
pub(crate) fn secrets_of(surroundings: &Surroundings) -> anyhow::Result<SecretCheck> {
    let Ok(session) = surroundings.session() else {
        return Ok(SecretCheck::default());
    };
    let secrets = SecretCheck::load(&session, &surroundings.environment)
        .context("read the secrets of the project")?;
    surroundings.leave((session.installation, session.store));
    Ok(secrets)
}

/// Refuses a text with a secret value.
///
/// # Errors
/// When it has one; the value is not in the error.
pub(crate) fn check_text(secrets: &SecretCheck, text: &str) -> anyhow::Result<()> {
    secrets.check(text).map_err(|refusal| {
        Stop::new(Exit::Refused, refusal.to_string())
            .hint("write the name instead of the value; a value that a file on the base branch contains is not \
                   treated as a secret")
            .into()
    })
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
    let secrets = secrets_of(surroundings)?;
    texts.iter().try_for_each(|text| check_text(&secrets, text))
}
