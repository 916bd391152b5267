//! Checks of a phase that end the supervisor which runs them: whoever takes the exit handling over would run them again without end.

use symphony_core::gates::GATE_DEATHS_MAX;
use symphony_core::plan::state::PhaseWork;

use crate::error::RunnerError;
use crate::paths::{remove, write_private};
use crate::supervise::Job;

/// File that holds the check at work, and how often in a row it was begun: one that is there when a check begins was left by a death.
const AT_WORK_FILE: &str = "check-at-work.txt";

/// Notes that a check begins; returns the failure that it counts as when it has ended its supervisor too often.
pub(super) fn begin_check(job: &Job<'_>, name: &str) -> Result<Option<PhaseWork>, RunnerError> {
    let path = job.paths.dir.join(AT_WORK_FILE);
    let left = symphony_workspace::read_own_text(&path).unwrap_or_default();
    let begun = begun_before(&left, name);
    if begun >= GATE_DEATHS_MAX {
        return Ok(Some(PhaseWork::CheckFailed {
            check: name.to_owned(),
            output: format!(
                "The supervisor that ran it died {begun} times in a row while it was running: it may use up the memory, or end processes \
                 that are not its own."
            ),
        }));
    }
    write_private(&path, &format!("{}\n{name}", begun + 1))?;
    Ok(None)
}

/// Notes that the check at work has ended.
pub(super) fn end_check(job: &Job<'_>) -> Result<(), RunnerError> {
    remove(&job.paths.dir.join(AT_WORK_FILE))
}

/// Returns how often a check was begun by supervisors that died, from what the last one left.
fn begun_before(left: &str, name: &str) -> u32 {
    match left.split_once('\n') {
        Some((begun, of)) if of == name => begun.parse().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_deaths_of_one_check_count() {
        for (left, expected) in [
            ("", 0),
            ("2\ntests", 2),
            ("2\nlint", 0),
            ("x\ntests", 0),
            ("2", 0),
        ] {
            assert_eq!(begun_before(left, "tests"), expected, "{left}");
        }
    }
}
