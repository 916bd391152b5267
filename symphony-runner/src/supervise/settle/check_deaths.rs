//! Checks of a phase that kill the supervisor that runs them. Otherwise whoever takes over the exit handling would run
//! them again endlessly.

use symphony_core::gates::GATE_DEATHS_MAX;
use symphony_core::plan::state::PhaseWork;

use crate::error::RunnerError;
use crate::paths::{remove, write_private};
use crate::supervise::Job;

/// The file with the running check, and how often in a row it was started. If it exists when a check starts, a
/// supervisor died during the last one.
const AT_WORK_FILE: &str = "check-at-work.txt";

/// Records that a check starts. Returns a failure if it has killed its supervisor too often.
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
    // Written before the check runs: a supervisor that the check kills cannot count its own death.
    write_private(&path, &format!("{}\n{name}", begun + 1))?;
    Ok(None)
}

/// Records that the running check has ended.
pub(super) fn end_check(job: &Job<'_>) -> Result<(), RunnerError> {
    remove(&job.paths.dir.join(AT_WORK_FILE))
}

/// Returns how often supervisors started a check and died, from the file that the last one left.
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
