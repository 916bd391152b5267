//! `symphony profile set`.

use anyhow::Context as _;
use clap::{ArgGroup, Args};
use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::id::ProjectId;
use symphony_core::profile::{ModelChoice, ProfileOverride};
use symphony_store::{OverrideEdit, OverrideLayers};

use super::show::known_profile;
use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::output::{Page, View};

/// What `profile set` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Instructions stand in the prompt of every run of the profile as `### Project Instructions`. The project's win over \
                  those of all projects, and so does its model; a model in the profile's front matter wins over both.\n\n\
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

/// What the database adds to a profile, in one layer.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OverrideView {
    #[serde(rename = "type")]
    agent: AgentType,
    /// The project; null for all.
    project: Option<ProjectId>,
    custom_instructions: Option<String>,
    model: Option<String>,
}

impl OverrideView {
    fn of(agent: &AgentType, project: Option<&ProjectId>, layer: &ProfileOverride) -> Self {
        Self {
            agent: agent.clone(),
            project: project.cloned(),
            custom_instructions: layer.custom_instructions.clone(),
            model: layer.model.named().map(|model| model.as_str().to_owned()),
        }
    }

    /// Returns the layers that say something, the project's first.
    pub(crate) fn layers(
        agent: &AgentType,
        project: &ProjectId,
        layers: &OverrideLayers,
    ) -> Vec<Self> {
        let of_project = layers.project.iter().map(|layer| (Some(project), layer));
        let of_all = layers.global.iter().map(|layer| (None, layer));
        of_project
            .chain(of_all)
            .map(|(scope, layer)| Self::of(agent, scope, layer))
            .collect()
    }

    fn scope(&self) -> String {
        self.project
            .as_ref()
            .map_or_else(|| "all projects".to_owned(), |id| format!("project {id}"))
    }
}

impl View for OverrideView {
    fn write(&self, page: &mut Page) {
        page.heading(&format!("{} in {}", self.agent, self.scope()));
        page.field("model", self.model.as_deref().unwrap_or("-"));
        match &self.custom_instructions {
            Some(text) => page.block(text),
            None => page.field("instructions", "-"),
        }
    }
}

impl ProfileSetArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        if self.agent == AgentType::Wizard {
            return Err(
                Stop::new(Exit::Refused, "change the setup wizard: it has no profile")
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
        known_profile(
            &session,
            &self.agent,
            &format!("change the profile {}", self.agent),
        )?;
        let here = session.project.id.clone();
        let project = (!self.global).then_some(self.project.as_ref().unwrap_or(&here));
        let now = session
            .store
            .set_override(&App::as_human(), &self.agent, project, &edit)
            .with_context(|| format!("change the profile {}", self.agent))?;
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
            .with_context(|| format!("read the instructions {}", path.display()))?;
        app.secrets()?.check(&text)?;
        if text.trim().is_empty() {
            let message = format!("take the instructions of {}: it is empty", path.display());
            return Err(Stop::new(Exit::Usage, message)
                .hint("`--no-instructions` clears them")
                .into());
        }
        Ok(Some(text))
    }
}
