//! What keeps agents from what is yours, and what does not.

use super::check::CheckView;

/// Says what protection level `none` recognises, and what it does not.
pub(super) fn check_protection() -> CheckView {
    CheckView::absent(
        "protection",
        "no sandbox (level none): agents run as you, and can read your files and what your other programs hold; a command \
         of yours that an agent types is recognised by the run's marker, its supervisor or its worktree, and by nothing else",
    )
}
