//! The hold of a project whose gates or set-up are red on its base.

use std::path::Path;

use symphony_core::config::ProjectConfig;
use symphony_core::failure::ErrorClass;
use symphony_core::gates::{RedOnBase, base_red_text, no_result_text, with_setup_log};
use symphony_core::id::ProjectId;
use symphony_core::pull_request::{SET_UP_GATE, VerifiedGate};
use symphony_core::tick::HoldScope;
use symphony_core::trial::{Trial, TrialVerdict};
use symphony_store::{Context, NewHold, Project, Store};
use symphony_workspace::{Base, CommitId};

use super::checkout::SETUP_LOG;
use super::digest::tried_digest;
use super::untried::note_green;
use crate::error::RunnerError;
use crate::trial::logs_of_trial;

/// The first wait before the base is probed again. It doubles with each failed probe.
const PROBE_DELAY_MS: u64 = 5 * 60 * 1000;
/// The first wait when the gates had no result: the time between two ticks of cron.
const NO_RESULT_DELAY_MS: u64 = 60 * 1000;

/// Returns the hold of a project whose gates are red on its base; `text` describes which.
pub(crate) fn base_hold(
    project: &ProjectId,
    config: &ProjectConfig,
    base: &CommitId,
    text: String,
) -> NewHold {
    NewHold {
        scope: HoldScope::Gates(project.clone()),
        class: ErrorClass::BaseGatesFailed,
        reason: text,
        until: None,
        first_ms: PROBE_DELAY_MS,
        tried: Some(tried_digest(config, base)),
    }
}

/// Returns the hold of a project whose gates had no result on its base: an agent would be paid for work that nothing
/// checks. It is probed sooner than a red base, since a restarted machine is no reason to wait.
pub(crate) fn no_result_hold(
    project: &ProjectId,
    config: &ProjectConfig,
    base: &Base,
    running: &[String],
    why: &str,
) -> NewHold {
    let running = known_commands(config, running.to_vec());
    let running: Vec<(&str, String)> = running
        .iter()
        .map(|name| (name.as_str(), command_of(config, name)))
        .collect();
    let text = no_result_text(base.branch.as_str(), base.commit.as_str(), &running, why);
    NewHold {
        first_ms: NO_RESULT_DELAY_MS,
        ..base_hold(project, config, &base.commit, text)
    }
}

/// Keeps only the names of gates and of the set-up, because commands of the gates can write the file that they come
/// from.
pub(super) fn known_commands(config: &ProjectConfig, mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| name == SET_UP_GATE || config.gates.iter().any(|gate| gate.name == *name));
    names
}

/// Returns the command of a gate or of the set-up, to show it.
fn command_of(config: &ProjectConfig, name: &str) -> String {
    let configured = config.gates.iter().find(|gate| gate.name == name);
    let line = configured.map(|configured| &configured.command);
    let line = line.or(config.worktree.setup.as_ref());
    line.map_or_else(String::new, ToString::to_string)
}

/// Returns the message about what is red on a base, with the configured commands.
pub(crate) fn red_text<'r>(
    config: &ProjectConfig,
    base: &Base,
    red: impl Iterator<Item = &'r VerifiedGate>,
) -> String {
    let red: Vec<(&VerifiedGate, String)> = red
        .map(|gate| (gate, command_of(config, &gate.name)))
        .collect();
    let red: Vec<RedOnBase<'_>> = red
        .iter()
        .map(|(gate, command)| RedOnBase {
            name: &gate.name,
            command,
            exit_code: gate.exit_code,
            output: &gate.output,
        })
        .collect();
    base_red_text(base.branch.as_str(), base.commit.as_str(), &red)
}

/// Adds the path of the log of a red set-up, relative to the project.
pub(crate) fn naming_setup_log(text: String, root: &Path, folder: &Path) -> String {
    let log = folder.join(SETUP_LOG);
    let log = log.strip_prefix(root).unwrap_or(&log);
    with_setup_log(text, &log.display().to_string())
}

/// Records a person's trial of the gates: a red result holds the project before its first worker, a green one ends the
/// hold.
///
/// # Errors
/// When the database cannot be written, or the trial ran on no commit.
pub fn record_trial(
    store: &mut Store,
    context: &Context,
    project: &Project,
    config: &ProjectConfig,
    trial: &Trial,
) -> Result<TrialVerdict, RunnerError> {
    let verdict = trial.verdict();
    let tried = || RunnerError::commit(&trial.commit, "the tried commit");
    let hold = match verdict {
        TrialVerdict::Unknown => return Ok(verdict),
        TrialVerdict::Green => None,
        TrialVerdict::Red => {
            let red: Vec<RedOnBase<'_>> = trial.blocking().map(RedOnBase::from).collect();
            let text = base_red_text(&trial.base, &trial.commit, &red);
            let text = naming_setup_log(text, &project.root, &logs_of_trial(&project.root));
            Some(base_hold(&project.id, config, &tried()?, text))
        }
    };
    store.record_base_trial(context, &project.id, hold.as_ref())?;
    if verdict == TrialVerdict::Green {
        note_green(store, context, project, config, &tried()?)?;
    }
    Ok(verdict)
}
