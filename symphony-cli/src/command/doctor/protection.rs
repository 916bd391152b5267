//! What keeps agents from what is yours, and what does not.

use symphony_runner::process::CgroupParent;

use super::check::CheckView;

/// Says what protection level `none` recognises, and what it does not.
pub(super) fn check_protection() -> CheckView {
    CheckView::absent(
        "protection",
        "agents are not sandboxed: they work with your permissions, and can read your files\n\
         Commands that only a person may run are refused to agents, as far as Symphony can tell who asks\n\
         Where it cannot, as in scripts, cron and CI, they run and are recorded as not verified\n\
         The README says which tricks of an agent are not noticed (\"What it promises, and what it does not\")",
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
                "each agent and gate gets its own in {}, and leftover processes are killed with it",
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
