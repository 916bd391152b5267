//! What `init` prints.

use std::path::PathBuf;

use serde::Serialize;
use symphony_core::config::{CommandLine, Database, Gate, ProjectConfig, SandboxSetting};
use symphony_core::id::ProjectId;
use symphony_core::project::WizardState;
use symphony_core::trial::Trial;
use symphony_core::wording::capitalised;
use symphony_prompt::lint::Finding;
use symphony_runner::installation::Installation;
use symphony_store::IssueNumbers;
use symphony_view::counted;
use symphony_view::text::{Page, View, plural};

use super::sandbox::LevelChoice;
use crate::agents_found::FoundAgent;
use crate::command::acp_programs;
use crate::trial::{BaseHold, write_trial};

/// Findings on prompts that are shown; the rest is counted.
const FINDINGS_MAX: usize = 5;

/// What is set up.
#[derive(Debug, Clone, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of the JSON answer, by its name there"
)]
pub(crate) struct InitView {
    pub(crate) project: ProjectId,
    pub(crate) prefix: String,
    pub(crate) root: PathBuf,
    pub(crate) database: Database,
    pub(crate) config: PathBuf,
    /// Whether the project was registered now.
    pub(crate) registered: bool,
    /// How many issues it has already, and the number of the next one.
    #[serde(skip)]
    pub(crate) numbers: IssueNumbers,
    /// Whether the configuration file was written now.
    pub(crate) config_written: bool,
    /// Whether `.git/info/exclude` was changed now.
    pub(crate) excludes_added: bool,
    /// Whether git shows from now on a configuration file that it did not show.
    pub(crate) config_shown: bool,
    /// Whether the configuration file is for everyone who clones the repository.
    pub(crate) shared: bool,
    /// How far the setup wizard came, where it was asked for.
    pub(crate) wizard: Option<WizardState>,
    /// Names of the gates that are configured.
    pub(crate) gates: Vec<String>,
    #[serde(skip)]
    pub(crate) gate_commands: Vec<Gate>,
    /// The branch that work starts from and is merged into; none where the repository does not tell which it is.
    pub(crate) base_branch: Option<String>,
    /// Whether the configuration names it.
    #[serde(skip)]
    pub(crate) base_pinned: bool,
    /// The command that makes a fresh checkout ready.
    pub(crate) setup: Option<CommandLine>,
    /// What was seen in the project's files and not used.
    pub(crate) notes: Vec<String>,
    /// What a person may want to do about the setup wizard.
    #[serde(skip)]
    pub(crate) advice: Option<String>,
    /// The level of protection that the configuration asks for.
    pub(crate) sandbox_level: SandboxSetting,
    /// Where that level comes from.
    #[serde(skip)]
    pub(crate) sandbox: LevelChoice,
    /// What happened to the trial of set-up and gates; none where there is nothing to try.
    #[serde(rename = "trial")]
    pub(crate) tried: Option<Tried>,
    /// Whether a red base keeps agents from being started now.
    pub(crate) base_hold: BaseHold,
    /// The agents' CLIs that are installed.
    pub(crate) agents: Vec<FoundAgent>,
    /// The programs that speak the Agent Client Protocol, as they are configured.
    pub(crate) acp: Vec<AcpView>,
    /// What workers and judges would run with, and why; none if they cannot start.
    #[serde(skip)]
    pub(crate) runs_with: Option<String>,
    /// What a run gets of its models and settings in the sandbox, and what it lacks; none where nothing is kept from it.
    #[serde(skip)]
    pub(crate) model_access: Option<String>,
    /// Why no agent can be started yet; `doctor` says it of programs.
    #[serde(skip)]
    pub(crate) provider_problem: Option<String>,
    /// Problems of the texts that agents of the project get.
    pub(crate) prompts: Vec<Finding>,
}

/// A program that speaks the Agent Client Protocol.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AcpView {
    /// The provider that it is.
    pub(crate) provider: String,
    /// What starts it; none if that cannot be started.
    pub(crate) command: Option<CommandLine>,
    /// Why it cannot be started.
    pub(crate) problem: Option<String>,
}

impl AcpView {
    /// Looks for each program that the configuration names.
    pub(crate) fn all(installation: &Installation, config: &ProjectConfig) -> Vec<Self> {
        let programs = acp_programs(installation, config).into_iter();
        let views = programs.map(|(name, found)| {
            let (command, problem) = match found {
                Ok(command) => (Some(command), None),
                Err(problem) => (None, Some(problem)),
            };
            Self {
                provider: name.as_provider().to_owned(),
                command,
                problem,
            }
        });
        views.collect()
    }
}

/// What happened to a trial.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Tried {
    /// None was made.
    Not,
    /// It could not be made.
    Failed {
        /// Why.
        problem: String,
    },
    /// It was made.
    Ran(Trial),
    /// It was made earlier, and would come out alike.
    Before(Trial),
}

/// Says which issues a project has or gets, after "is set up": one that was removed returns with its issues.
fn of_its_issues(prefix: &str, numbers: IssueNumbers) -> String {
    let IssueNumbers { existing, next } = numbers;
    if existing == 0 {
        let second = next.saturating_add(1);
        return format!(": its issues are {prefix}-{next}, {prefix}-{second} …");
    }
    let count = usize::try_from(existing).unwrap_or(usize::MAX);
    format!(
        " again: it has {}, and the next is {prefix}-{next}.",
        plural(count, "issue")
    )
}

impl View for InitView {
    fn write(&self, page: &mut Page) {
        self.write_set_up(page);
        self.write_gates(page);
        for note in &self.notes {
            page.line(&format!("Note: {note}."));
        }
        if let Some(advice) = &self.advice {
            page.line(advice);
        }
        page.line(&self.sandbox.sentence(self.sandbox_level));
        self.write_agents(page);
        if let Some(problem) = &self.provider_problem {
            page.line(&format!("No agent can be started yet: {problem}."));
        }
        self.write_prompts(page);
        self.write_tried(page);
        page.gap();
        page.line("Next:");
        if self.shared && (self.config_written || self.config_shown) {
            page.line("  git add symphony.config.json        then commit it, for everyone who clones the repository");
        }
        let doctor = if self.provider_problem.is_some() {
            "shows what is missing before agents can start"
        } else {
            "checks that nothing is missing"
        };
        page.line(&format!("  symphony doctor                     {doctor}"));
        page.line("  symphony issue add 'What to do'     adds an issue");
        let run = if self.provider_problem.is_some() {
            "starts agents as soon as one can start"
        } else {
            "starts agents and shows what they do"
        };
        page.line(&format!("  symphony run                        {run}"));
    }
}

impl InitView {
    fn write_agents(&self, page: &mut Page) {
        for agent in &self.agents {
            let version = agent.version.as_deref().unwrap_or("version unknown");
            let program = agent.program.display();
            page.line(&format!("Found {}: {program} ({version})", agent.title));
        }
        for program in &self.acp {
            let provider = &program.provider;
            match (&program.command, &program.problem) {
                (Some(command), _) => page.line(&format!("Configured {provider}: {command}")),
                (None, Some(problem)) => page.line(&format!("{provider} cannot start: {problem}.")),
                (None, None) => {}
            }
        }
        if let Some(words) = &self.runs_with {
            page.line(&format!("{}.", capitalised(words)));
        }
        if let Some(words) = &self.model_access {
            page.line(&format!("{}.", capitalised(words)));
        }
    }

    fn write_prompts(&self, page: &mut Page) {
        if self.prompts.is_empty() {
            return;
        }
        let counted = counted(&self.prompts);
        page.line(&format!(
            "Your own texts for agents have {counted}; `symphony prompt lint` suggests fixes:"
        ));
        for finding in self.prompts.iter().take(FINDINGS_MAX) {
            page.hanging(4, &format!("  {finding}"));
        }
        let more = self.prompts.len().saturating_sub(FINDINGS_MAX);
        if more > 0 {
            page.line(&format!("  and {more} more"));
        }
    }

    fn write_set_up(&self, page: &mut Page) {
        let root = self.root.display();
        if self.registered {
            let issues = of_its_issues(&self.prefix, self.numbers);
            page.line(&format!("{root} is set up{issues}"));
        } else {
            page.line(&format!(
                "{root} is already set up, with the prefix {}.",
                self.prefix
            ));
        }
        if self.config_written {
            page.line(&format!(
                "Wrote {}, with a comment on every setting.",
                self.config.display()
            ));
        }
        if self.config_shown {
            page.line(&format!(
                "{} is now visible to git. Check that it contains nothing that is only for you, such as a path of \
                 this machine, before you commit it.",
                self.config.display()
            ));
        }
        if let Some(branch) = &self.base_branch {
            let pin = if self.base_pinned {
                String::new()
            } else {
                // an older file: it may follow what is checked out
                format!(" (`symphony config set base_branch {branch}` fixes this choice)")
            };
            page.line(&format!(
                "Work starts from `{branch}` and is merged into it{pin}."
            ));
        }
        if self.wizard == Some(WizardState::Pending) {
            page.line("The setup wizard runs first: at the next tick it looks for gates, sensitive paths and \
                       instructions.");
        }
    }

    fn write_tried(&self, page: &mut Page) {
        match &self.tried {
            None => {}
            Some(Tried::Not) => {
                page.line("Run `symphony doctor --gates` to try set-up and gates on the base branch before any agent \
                           does.");
            }
            Some(Tried::Failed { problem }) => {
                page.line(&format!("Set-up and gates could not be tried: {problem}."));
                page.line("Run `symphony doctor --gates` to try again.");
            }
            Some(Tried::Ran(trial)) => write_trial(trial, &self.base_hold, page),
            Some(Tried::Before(trial)) => {
                page.line(
                    "Set-up, gates and the base branch have not changed since they were last tried.",
                );
                write_trial(trial, &self.base_hold, page);
            }
        }
    }

    fn write_gates(&self, page: &mut Page) {
        let wizard_comes = self.wizard == Some(WizardState::Pending);
        if let Some(setup) = &self.setup {
            page.line(&format!("Set-up of a fresh checkout: {setup}"));
        }
        if self.gate_commands.is_empty() {
            if !wizard_comes {
                page.line("No gates are configured: nothing verifies what agents do, so their changes are marked \
                           `unverified`.");
                page.line("Set the command that runs your tests, or let an agent find it with `symphony init \
                           --wizard`:");
                page.line("  symphony config set gates '[{\"name\": \"test\", \"command\": \"make test\"}]'");
            }
            return;
        }
        let count = plural(self.gate_commands.len(), "gate");
        page.line(&format!("{count} on every change:"));
        let names = self.gates.iter().map(|name| name.chars().count());
        let width = names.max().unwrap_or_default();
        for gate in &self.gate_commands {
            let optional = if gate.required { "" } else { " (optional)" };
            page.line(&format!(
                "  {:<width$}  {}{optional}",
                gate.name, gate.command
            ));
        }
        if self.gate_commands.iter().all(|gate| !gate.required) {
            page.line("None of them is required: changes are marked `unverified` even where all of them pass.");
        }
    }
}
