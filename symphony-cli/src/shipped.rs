//! The prompts that ship with Symphony, compiled in.

use symphony_runner::prompts::library::{PromptText, ShippedPrompts};

macro_rules! prompt {
    ($file:literal) => {
        PromptText {
            file: $file,
            text: include_str!(concat!("../../prompts/", $file)),
        }
    };
}

/// All of them; a project's files in its `prompts_dir` override them.
pub(crate) const SHIPPED: ShippedPrompts = ShippedPrompts {
    profiles: &[
        prompt!("profiles/architect.md"),
        prompt!("profiles/intake.md"),
        prompt!("profiles/judge.md"),
        prompt!("profiles/planner.md"),
        prompt!("profiles/researcher.md"),
        prompt!("profiles/scanner.md"),
        prompt!("profiles/worker.md"),
    ],
    contracts: &[
        prompt!("phases/architecture.md"),
        prompt!("phases/grooming.md"),
        prompt!("phases/ready.md"),
        prompt!("phases/research.md"),
    ],
    wizard: prompt!("setup-wizard-system-prompt.md"),
    background_research: prompt!("background-research.md"),
    background_scan: prompt!("background-scan.md"),
    plan_worker: prompt!("plan-worker.md"),
};
