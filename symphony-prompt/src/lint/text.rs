//! The texts that are looked at, and who reads each.

use symphony_core::agent::AgentType;

/// What a text is for, which decides who reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextKind {
    /// An agent profile with its front matter.
    Profile,
    /// A phase contract with its front matter; a blank one takes the phase out.
    Contract,
    /// The addition for one profile in one phase.
    Override,
    /// The setup wizard's prompt.
    Wizard,
    /// The instruction of the scanner.
    BackgroundScan,
    /// The instruction of background research.
    BackgroundResearch,
    /// The system prompt of a plan's phase.
    PlanWorker,
    /// WORKFLOW.md of the project's root, which replaces the worker's profile.
    WorkflowMd,
    /// CLAUDE.md of the project's root.
    ClaudeMd,
    /// The project's own instructions for a type of agent (`symphony profile set`).
    Instructions(AgentType),
    /// A file in the prompts folder that nothing reads.
    Unread,
}

impl TextKind {
    /// Returns what a file of the prompts folder is, by its path below the folder.
    pub fn of_path(path: &str) -> Self {
        let is_markdown = path.strip_suffix(".md").is_some();
        match path.split_once('/') {
            Some((folder, file)) if is_markdown && !file.contains('/') => match folder {
                "profiles" => Self::Profile,
                "phases" => Self::Contract,
                "overrides" => Self::Override,
                _ => Self::Unread,
            },
            Some(_) => Self::Unread,
            None => match path {
                "setup-wizard-system-prompt.md" => Self::Wizard,
                "background-scan.md" => Self::BackgroundScan,
                "background-research.md" => Self::BackgroundResearch,
                "plan-worker.md" => Self::PlanWorker,
                _ => Self::Unread,
            },
        }
    }
}

/// A text that an agent gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptText<'a> {
    /// How findings name it; its stem is the name of a profile, a contract or an override.
    pub file: &'a str,
    /// What it is for.
    pub kind: TextKind,
    /// The text.
    pub text: &'a str,
}

impl PromptText<'_> {
    /// Returns the file's name without folder and ending.
    pub(super) fn stem(&self) -> &str {
        let name = self.file.rsplit('/').next().unwrap_or(self.file);
        name.strip_suffix(".md").unwrap_or(name)
    }
}
