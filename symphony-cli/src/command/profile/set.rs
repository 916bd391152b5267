//! `symphony profile set`.

use clap::{ArgGroup, Args};
use symphony_core::agent::AgentType;
use symphony_core::id::ProjectId;
use symphony_core::profile::ModelChoice;
use symphony_store::OverrideEdit;
use symphony_view::OverrideView;

use super::show::known_profile;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::secret::check_text;

/// What `profile set` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The instructions appear in the prompt of every run of the profile as `### Project Instructions`. \
                  Instructions and a model for the project override those for all projects; a model in the profile's \
                  front matter overrides both.\n\n\
                  Examples:\n  symphony profile set worker --instructions worker.md\n  symphony profile set judge --model opus --global\n  \
                  symphony profile set worker --no-instructions",
    group = ArgGroup::new("change").required(true).multiple(true)
)]
pub(crate) struct ProfileSetArgs {
    /// The type, such as worker or judge
    #[arg(value_name = "TYPE", value_parser = AgentType::parse)]
    agent: AgentType,
    /// For this project; without it, the one you are in
    #[arg(long, value_name = "PROJECT", conflicts_with = "global")]
    project: Option<ProjectId>,
    /// For all projects
    #[arg(long)]
    global: bool,
    /// A file with the instructions; `-` reads them from standard input
    #[arg(long, value_name = "FILE", group = "change")]
    instructions: Option<String>,
    /// Clear the instructions
    #[arg(long, group = "change", conflicts_with = "instructions")]
    no_instructions: bool,
    /// The model
    #[arg(long, value_name = "MODEL", group = "change", value_parser = ModelChoice::parse)]
    model: Option<ModelChoice>,
    /// Clear the model
    #[arg(long, group = "change", conflicts_with = "model")]
    no_model: bool,
}

impl ProfileSetArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        if self.agent == AgentType::Wizard {
            return Err(
                Stop::new(Exit::Refused, "the setup wizard has no profile to change")
                    .hint(
                        "its prompt is `setup-wizard-system-prompt.md` in the folder `prompts_dir`",
                    )
                    .into(),
            );
        }
        let edit = OverrideEdit {
            custom_instructions: self.instructions(app)?,
            model: if self.no_model {
                Some(ModelChoice::Inherit)
            } else {
                self.model.clone()
            },
        };
        let mut session = app.session()?;
        let what = || format!("change the profile {}", self.agent);
        known_profile(&session, &self.agent).with_context(what)?;
        let here = session.project.id.clone();
        let project = (!self.global).then_some(self.project.as_ref().unwrap_or(&here));
        let now = session
            .store
            .set_override(&App::as_human(), &self.agent, project, &edit)
            .with_context(what)?;
        let view = OverrideView::of(&self.agent, project, &now);
        let sentence = format!(
            "{} in {}: {}, model {}",
            self.agent,
            view.scope(),
            if view.custom_instructions.is_some() {
                "instructions"
            } else {
                "no instructions"
            },
            view.model.as_deref().unwrap_or("as before")
        );
        app.out.done(&view, &sentence)
    }

    fn instructions(&self, app: &App) -> anyhow::Result<Option<String>> {
        if self.no_instructions {
            return Ok(Some(String::new()));
        }
        let Some(file) = &self.instructions else {
            return Ok(None);
        };
        if file == "-" {
            return app.text("-").map(Some);
        }
        let path = app.surroundings.current.join(file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("read the instructions in {}", path.display()))?;
        check_text(&app.secrets()?, &text)?;
        if text.trim().is_empty() {
            let message = format!("the file of instructions {} is empty", path.display());
            return Err(Stop::new(Exit::Usage, message)
                .hint("`--no-instructions` clears them")
                .into());
        }
        Ok(Some(text))
    }
}
