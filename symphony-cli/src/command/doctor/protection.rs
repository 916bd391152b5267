//! What keeps agents from what is yours, and what does not.

use symphony_core::config::SandboxSettings;
use symphony_runner::process::CgroupParent;

use super::check::CheckView;

/// Says what keeps agents from what is yours; without a sandbox, what protection level `none` recognises, and what it does not.
pub(super) fn check_protection(sandbox: &SandboxSettings) -> CheckView {
    const CHECK: &str = "protection";
    if sandbox.is_on() {
        return CheckView::ok(
            CHECK,
            "agents run in a sandbox: they reach their worktree, the objects of the repository and what `sandbox` adds",
        );
    }
    CheckView::absent(
        CHECK,
        "agents are not sandboxed: they run with your permissions and can read your files\n\
         Symphony refuses agents the commands that are meant for people, as far as it can tell who runs a command\n\
         Where it cannot tell, as in scripts, cron and CI, such commands run and are recorded as not verified\n\
         The README lists which tricks of an agent go unnoticed (\"What it promises, and what it does not\")",
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
                "each agent and gate gets its own in {}; leftover processes are killed with it",
                parent.folder().display()
            ),
        ),
        Err(error) => CheckView::absent(
            CHECK,
            format!(
                "none can be created here ({error}): Symphony finds and ends the processes of agents and gates one by one"
            ),
        ),
    }
}
