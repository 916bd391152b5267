//! `symphony scripted-agent`, hidden: the offline agent, started as an agent's CLI would be.

use std::ffi::OsString;
use std::process::ExitCode;

use symphony_scripted::{ScriptedOptions, Surroundings, run};

use crate::failure::{Context as _, report};

/// The word that starts it.
pub(crate) const SCRIPTED_AGENT_COMMAND: &str = "scripted-agent";

/// Plays a scenario on standard output.
pub(crate) fn scripted_agent(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match play(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => report(&error),
    }
}

fn play(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<u8> {
    let options = ScriptedOptions::parse_args(arguments)?;
    let current = std::env::current_dir().context("find the working directory")?;
    let surroundings = Surroundings::new(current, |name| std::env::var_os(name));
    Ok(run(&options, &surroundings, &mut std::io::stdout().lock()))
}
