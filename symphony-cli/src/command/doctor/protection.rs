//! What keeps agents from what is yours, and what does not.

use super::check::CheckView;

/// Says what protection level `none` recognises, and what it does not.
pub(super) fn check_protection() -> CheckView {
    CheckView::absent(
        "protection",
        "no sandbox (level none): agents run as you, and can read your files and what your other programs hold. A command that \
         only a person may run is refused below a run's supervisor, with a run's marker and in its worktree. Where Symphony \
         cannot tell who runs it, as without a terminal (scripts, cron, CI), it runs and is recorded as not verified. Symphony \
         does not notice an agent that types into your terminal, or that outlives its supervisor and opens a terminal later",
    )
}
