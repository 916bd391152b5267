//! Agent profiles: `symphony profile`.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::profile::AgentProfile;

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::output::{List, Page, Table, View};

/// A command on profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles that hold here, the project's own over the shipped ones
    List(ProfileListArgs),
    /// Show one profile: its front matter, its tools by role, its prompt
    Show(ProfileShowArgs),
}

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
            tools: symphony_mcp::tool_names(
                profile
                    .allowed(*role)
                    .intersection(symphony_mcp::IMPLEMENTED),
            ),
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
            body: profile.body.clone(),
        }
    }
}

impl View for List<ProfileView> {
    fn write(&self, page: &mut Page) {
        let mut table = Table::new(["TYPE", "MODEL", "TURNS", "DESCRIPTION"]).right(2);
        for profile in &self.items {
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
        page.heading("Prompt");
        page.verbatim(&self.body);
    }
}

impl ProfileCommand {
    /// Runs it.
    ///
    /// # Errors
    /// When the prompts of the project can not be read, or there is no such profile.
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let config = session.installation.project_config(&session.project)?;
        let library = session
            .installation
            .library(&config)
            .context("load the profiles")?;
        match self {
            Self::List(ProfileListArgs {}) => app.out.answer(
                &library
                    .profiles
                    .iter()
                    .map(ProfileView::of)
                    .collect::<List<_>>(),
            ),
            Self::Show(args) => {
                let profile = library.profile(&args.agent).ok_or_else(|| {
                    Stop::new(
                        Exit::NotFound,
                        format!("there is no profile `{}`", args.agent),
                    )
                    .hint("`symphony profile list` names them")
                })?;
                app.out.answer(&ProfileView::of(profile))
            }
        }
    }
}
