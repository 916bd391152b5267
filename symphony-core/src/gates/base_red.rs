//! A base on which gates or the set-up are red: the text of the hold, and when it is due.

use super::base_text::{MISSING, lacks_program, misses_program, named_gate};
use super::need::BaseGates;
use super::repair::{KnownGates, fixes_gate};
use super::telling::telling_line;
use crate::Timestamp;
use crate::hold::Hold;
use crate::listing::list_few;
use crate::pull_request::{SET_UP_GATE, is_missing_program};
use crate::run::RunTarget;

/// Gates that a hold names; the rest is counted.
const NAMES_MAX: usize = 3;
/// Most characters of output that a hold quotes for each red gate.
const QUOTE_CHARS_MAX: usize = 200;

/// The remark on a hold whose base has changed since the trial.
pub const BASE_HAS_CHANGED: &str =
    "the base or its gates have changed since then: the next tick tries them";

/// A gate, or the set-up, that is red on the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedOnBase<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its command; empty if it is not known.
    pub command: &'a str,
    /// Exit code; `None` if it did not end on its own.
    pub exit_code: Option<i32>,
    /// What it printed.
    pub output: &'a str,
}

/// Describes what is red on a base: gate, command, exit code and the line of output with the reason.
pub fn base_red_text(branch: &str, commit: &str, red: &[RedOnBase<'_>]) -> String {
    let red: Vec<String> = red.iter().map(describe).collect();
    format!(
        "on `{branch}` at {}: {}",
        commit.get(..7).unwrap_or(commit),
        list_few(red.iter().map(String::as_str), NAMES_MAX)
    )
}

/// Adds to what [`base_red_text`] says of a set-up the file with its whole output: one line of an installer seldom says
/// enough.
pub fn with_setup_log(text: String, log: &str) -> String {
    if named_gate(&text) == Some(SET_UP_GATE) {
        format!("{text} (its whole output is in `{log}`)")
    } else {
        text
    }
}

/// Returns the commands by which a person ends a hold of this text, the likeliest first.
pub fn ways_on(text: &str, gates: &KnownGates) -> Vec<String> {
    let ways = [
        gates.has_moved.then(|| "symphony tick".to_owned()),
        Some("symphony doctor --gates".to_owned()),
        gates.change_command(text),
        way_to_repair(text, gates),
        Some("symphony resume".to_owned()),
    ];
    ways.into_iter().flatten().collect()
}

/// Returns the command that lets someone repair what is red; `None` if a program is missing, which no agent installs.
pub fn way_to_repair(text: &str, gates: &KnownGates) -> Option<String> {
    Some(match named_gate(text) {
        _ if let Some(repair) = gates.repair_under_way(text) => {
            format!("symphony issue show {}", repair.issue)
        }
        // no agent can repair it: it would need the set-up first
        Some(SET_UP_GATE) => "symphony config set worktree.setup 'COMMAND'".to_owned(),
        // the next tick finds out whether anything is left to repair
        _ if gates.has_moved => return None,
        Some(name) if lacks_program(text, name) => return None,
        Some(name) => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            let name = if name.chars().all(is_plain) {
                name.to_owned()
            } else {
                format!("'{name}'")
            };
            format!("symphony issue add \"Repair the gate\" --fixes-gate {name}")
        }
        None => "symphony issue add \"Repair the gate\" --fixes-gate NAME".to_owned(),
    })
}

/// Describes what only a person can do about what is red; `None` if an agent may repair it.
pub fn persons_part(text: &str) -> Option<&'static str> {
    let gate = named_gate(text)?;
    (gate != SET_UP_GATE && misses_program(text, gate))
        .then_some("no agent can install a program: install it, or change the command of the gate")
}

fn describe(gate: &RedOnBase<'_>) -> String {
    let command = if gate.command.is_empty() {
        String::new()
    } else {
        format!(" (`{}`)", gate.command)
    };
    let how = gate.exit_code.map_or_else(
        || "did not end on its own".to_owned(),
        |code| {
            let missing = if is_missing_program(Some(code)) {
                MISSING
            } else {
                ""
            };
            format!("failed with exit code {code}{missing}")
        },
    );
    let quote = match telling_line(gate.output) {
        Some(line) => format!(
            ": {}",
            line.chars().take(QUOTE_CHARS_MAX).collect::<String>()
        ),
        None => String::new(),
    };
    format!("`{}`{command} {how}{quote}", gate.name)
}

/// Makes a hold for a red base due as soon as something has changed: the base moved, or gates, set-up or `env` changed.
pub fn retry_when_changed(hold: &mut Hold, known: &BaseGates, now: Timestamp) {
    if *known == BaseGates::Untried {
        hold.until = hold.until.min(now);
    }
}

/// The result on the base of a set-up that failed in a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUpOnBase {
    /// It fails there, too.
    Fails,
    /// It passes there.
    Passes,
    /// It was not tried there.
    NotTried,
}

/// Whose fault a failed set-up is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUpFault {
    /// The base's, or the machine's: it would fail for every issue, so that the project is held.
    Base,
    /// That of the work in the checkout: it counts as an attempt.
    Work,
}

/// Returns whether a set-up that fails for this run may put the project on hold. Only runs that a hold for red gates
/// covers may place one: otherwise such a run would be started again at once, over and over.
pub fn may_hold_for_set_up(target: &RunTarget, labels: &[String]) -> bool {
    matches!(target, RunTarget::Issue(_)) && !fixes_gate(labels)
}

/// Decides whose fault a failed set-up is.
pub fn set_up_fault(target: &RunTarget, labels: &[String], base: SetUpOnBase) -> SetUpFault {
    if base == SetUpOnBase::Fails && may_hold_for_set_up(target, labels) {
        SetUpFault::Base
    } else {
        SetUpFault::Work
    }
}
