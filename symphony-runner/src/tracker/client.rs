//! A tracker that can be asked: its token is read here, at the last moment, and kept nowhere.

use std::path::Path;
use std::time::Duration;

use symphony_core::config::{CommandLine, TokenSource, TrackerSettings};
use symphony_sync::token::{TOKEN_BYTES_MAX, TOKEN_COMMAND_MS_MAX, TokenStep, token};
use symphony_sync::{Access, AccessProblem, Options, Token, Tracker, connect};
use symphony_tracker::fault::Fault;

use crate::environment::RUN_MARKER;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::Question;
use crate::runtime::block_on;

/// What is wrong with a token that may not write.
const READS_ONLY: &str = "the token may read issues but not write them, so the tracker would not show what happens here; give it the right to write issues";

/// What a tracker said of the token.
pub type TrackerAccess = Access;
/// How long and how large a tracker's answers may be; the default is right for every real one.
pub type TrackerLimits = Options;

/// Prepares requests to a tracker. No request is sent.
///
/// A missing token is a fault like a wrong one: the tracker is held, and everything else goes on.
pub(super) fn client_of(
    installation: &Installation,
    settings: &TrackerSettings,
    limits: &Options,
) -> Result<Box<dyn Tracker>, Fault> {
    let token = read_token(installation, &settings.token)?;
    connect(settings, token, limits).map_err(|error| Fault::Unreachable {
        detail: error.to_string(),
    })
}

/// Returns what is risky about the settings of a tracker, as a sentence.
pub fn filter_risk(settings: &TrackerSettings) -> Option<&'static str> {
    symphony_tracker::filter::risk(settings)
}

/// Asks a tracker who the token is and what it may do.
///
/// # Errors
/// When the runtime cannot be started.
pub fn check_tracker(
    installation: &Installation,
    settings: &TrackerSettings,
) -> Result<Result<TrackerAccess, Fault>, RunnerError> {
    let client = match client_of(installation, settings, &Options::default()) {
        Ok(client) => client,
        Err(fault) => return Ok(Err(fault)),
    };
    block_on(&installation.root, asked(client.as_ref()))
}

async fn asked(client: &dyn Tracker) -> Result<Access, Fault> {
    let mut access = client.check().await?;
    // What a role or a scope already shows needs no question.
    if access.can_write != Some(false) {
        let may_write = client.may_write().await?;
        access.can_write = may_write.or(access.can_write);
        if may_write == Some(false) {
            access
                .problems
                .push(AccessProblem::Token(READS_ONLY.to_owned()));
        }
    }
    Ok(access)
}

/// Reads the token of a tracker or a forge.
pub(crate) fn read_token(
    installation: &Installation,
    source: &TokenSource,
) -> Result<Token, Fault> {
    let variable = |name: &str| {
        let value = installation.variable(name)?;
        Some(value.to_str()?.to_owned())
    };
    let missing = |detail: String| Fault::NoToken { detail };
    match token(source, variable).map_err(|error| missing(error.to_string()))? {
        TokenStep::Have(token) => Ok(token),
        TokenStep::Run(line) => {
            let printed = printed_by(installation, line).map_err(missing)?;
            Token::first_line(&printed)
                .map_err(|error| missing(format!("`{line}` printed no token: {error}")))
        }
    }
}

/// Runs the command that prints a token. What it prints is written to no log, and its errors name the command alone.
fn printed_by(installation: &Installation, line: &CommandLine) -> Result<String, String> {
    let words = line.to_argv();
    let Some((program, arguments)) = words.split_first() else {
        return Err("the command that prints the token is empty".to_owned());
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut environment = installation.environment.clone();
    environment.remove(std::ffi::OsStr::new(RUN_MARKER));
    let question = Question {
        program: Path::new(program),
        arguments: &arguments,
        directory: &installation.root,
        environment,
        time_max: Duration::from_millis(TOKEN_COMMAND_MS_MAX),
        answer_bytes_max: TOKEN_BYTES_MAX + 2,
    };
    let (status, answer) = question
        .ask()
        .map_err(|error| format!("`{line}`, which prints the token, cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!(
            "`{line}`, which prints the token, ended with {status}"
        ));
    }
    String::from_utf8(answer).map_err(|_bytes| format!("`{line}` printed no text"))
}
