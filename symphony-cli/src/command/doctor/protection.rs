//! What keeps agents from what is yours, and what does not.

use symphony_runner::process::CgroupParent;

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

/// Says how the processes of agents and gates are ended.
pub(super) fn check_cgroups() -> CheckView {
    const CHECK: &str = "cgroups";
    let found = CgroupParent::own();
    match found.and_then(|parent| parent.check().map(|()| parent)) {
        Ok(parent) => CheckView::ok(
            CHECK,
            format!(
                "each agent and gate gets its own in {}, and what is left in it ends with `cgroup.kill`",
                parent.folder().display()
            ),
        ),
        Err(error) => CheckView::absent(
            CHECK,
            format!(
                "none can be made here ({error}): processes of agents and gates are found and ended one by one"
            ),
        ),
    }
}
