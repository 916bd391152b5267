//! Supervisors that ended while the command that started them lives on.

use rustix::process::{WaitOptions, wait};

/// Takes note of the end of children, so that they do not stay in the table of processes. To be called between ticks
/// only, when no other child is waited for.
pub(crate) fn reap_supervisors() {
    while let Ok(Some(_ended)) = wait(WaitOptions::NOHANG) {}
}
