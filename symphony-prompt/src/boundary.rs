//! The boundary layer: where the agent may work, said first and in capitals because everything else depends on it.

use symphony_core::agent::AgentType;

use crate::hidden::one_line;
use crate::input::Workspace;

/// Writes the layer. A judge runs nothing, so its version asks for no command.
pub(crate) fn boundary(workspace: &Workspace, agent: &AgentType) -> String {
    let branch = workspace.branch.as_deref().unwrap_or("(detached)");
    let path = one_line(&workspace.path);
    let mut head = format!(
        "## CRITICAL: Workspace Boundary\n\n\
         - Worktree: `{path}`\n\
         - Identifier: {}\n\
         - Branch: `{}`\n",
        one_line(&workspace.identifier),
        one_line(branch)
    );
    if let Some(base) = &workspace.base {
        head += &format!("- Base branch: `{}`\n", one_line(base));
    }
    head.push('\n');
    let rules = if *agent == AgentType::Judge {
        "Change nothing, and run nothing from this branch. Read only files below the worktree path above, and the file \
         with the whole diff if your prompt names one. If your CLI can read files only through a shell, use the shell for \
         nothing else. Name all paths relative to the worktree root."
            .to_owned()
    } else {
        format!(
            "FIRST ACTION: run `pwd` and compare the result with `{path}`. If they differ, change nothing, stop at once \
             and say so.\n\n\
             - Never `cd` outside the worktree, and never read or write files outside it.\n\
             - All paths are relative to the worktree root.\n\
             - Other agents work at the same time in their own worktrees: leave other branches and worktrees alone."
        )
    };
    head + &rules
}

/// Writes the layer for a phase of a plan, whose worktree is merged when the phase completes.
pub(crate) fn plan_boundary(workspace: &Workspace) -> String {
    boundary(workspace, &AgentType::Worker)
        + "\n- This worktree is isolated: other phases run in parallel in theirs, and see your work only once this \
           phase is complete and merged."
}
