//! `symphony profile list` and `symphony profile show`.

use clap::Args;
use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::profile::{AgentProfile, ProfileSet};
use symphony_runner::session::Session;
use symphony_view::OverrideView;
use symphony_view::text::{List, Listed, Page, Table, View};

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop, did_you_mean};

/// What `profile list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony profile list")]
pub(crate) struct ProfileListArgs {}

/// What `profile show` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony profile show worker")]
pub(crate) struct ProfileShowArgs {
    /// The type, such as worker or judge
    #[arg(value_name = "TYPE", value_parser = AgentType::parse)]
    agent: AgentType,
}

/// A profile as it is shown.
#[derive(Debug, Serialize)]
struct ProfileView {
    #[serde(rename = "type")]
    agent: AgentType,
    name: String,
    description: String,
    model: String,
    max_turns: Option<u32>,
    background: bool,
    tools: Vec<RoleTools>,
    /// What the database adds, the project's before that of all; in lists left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overrides: Vec<OverrideView>,
    body: String,
}

/// What a run of a profile may call in a role.
#[derive(Debug, Serialize)]
struct RoleTools {
    role: String,
    tools: Vec<&'static str>,
}

impl ProfileView {
    fn of(profile: &AgentProfile) -> Self {
        let tools = profile.roles().iter().map(|role| RoleTools {
            role: role.to_string(),
            tools: profile.allowed(*role).names(),
        });
        Self {
            agent: profile.agent.clone(),
            name: profile.name.clone(),
            description: profile.description.clone(),
            model: profile
                .model
                .named()
                .map_or("inherit", |model| model.as_str())
                .to_owned(),
            max_turns: profile.turns_max,
            background: profile.background,
            tools: tools.collect(),
            overrides: Vec::new(),
            body: profile.body.clone(),
        }
    }
}

impl Listed for ProfileView {
    fn write_all(items: &[Self], page: &mut Page) {
        let mut table = Table::new(["TYPE", "MODEL", "TURNS", "DESCRIPTION"]).right(2);
        for profile in items {
            table.row([
                profile.agent.to_string(),
                profile.model.clone(),
                profile
                    .max_turns
                    .map_or_else(String::new, |turns| turns.to_string()),
                profile.description.clone(),
            ]);
        }
        page.table(&table);
    }
}

impl View for ProfileView {
    fn write(&self, page: &mut Page) {
        page.field("type", self.agent.name());
        page.field("name", &self.name);
        page.field("description", &self.description);
        page.field("model", &self.model);
        page.field(
            "turns",
            &self
                .max_turns
                .map_or_else(String::new, |turns| turns.to_string()),
        );
        for role in &self.tools {
            page.field(&role.role, &role.tools.join(", "));
        }
        for layer in &self.overrides {
            layer.write(page);
        }
        page.heading("Prompt");
        page.verbatim(&self.body);
    }
}

impl ProfileListArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Self {} = self;
        let session = app.session()?;
        let profiles = profiles(&session)?;
        app.out
            .answer_long(&profiles.iter().map(ProfileView::of).collect::<List<_>>())
    }
}

impl ProfileShowArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let profile = known_profile(&session, &self.agent)?;
        let layers = session.store.overrides(&self.agent, &session.project.id)?;
        let mut view = ProfileView::of(&profile);
        view.overrides = OverrideView::layers(&self.agent, &session.project.id, &layers);
        app.out.answer_long(&view)
    }
}

/// Returns the profile of a type; `what` is what fails without one.
///
/// # Errors
/// When there is none, or the prompt files cannot be read.
pub(crate) fn known_profile(session: &Session, agent: &AgentType) -> anyhow::Result<AgentProfile> {
    let profiles = profiles(session)?;
    profiles.get(agent).cloned().ok_or_else(|| {
        let problem = format!("there is no profile `{agent}`");
        let names = profiles.iter().map(|profile| profile.agent.name());
        Stop::new(Exit::NotFound, problem)
            .hint(did_you_mean(
                agent.name(),
                names,
                "`symphony profile list` shows them",
            ))
            .into()
    })
}

fn profiles(session: &Session) -> anyhow::Result<ProfileSet> {
    let config = session.config()?;
    let library = session
        .installation
        .library(&config)
        .context("load the profiles")?;
    Ok(library.profiles)
}
