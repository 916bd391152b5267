//! `symphony init`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use symphony_core::config::{FileRole, InitFile, IssuePrefix};
use symphony_core::id::ProjectId;
use symphony_runner::installation::{Installation, project_id_for};
use symphony_store::{NewProject, Project, Store};
use symphony_workspace::config_file::{CONFIG_FILE_NAME, detect_gates, set, write_init};
use symphony_workspace::{Repository, RepositoryOptions};

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::output::{Page, View, plural};

/// Projects of one name that are told apart by a number.
const SAME_NAME_MAX: u32 = 100;

/// What `init` takes.
#[derive(Debug, Default, Args)]
#[command(
    after_help = "It writes symphony.config.json unless there is one, registers the project, and keeps its own files out of \
                  `git status`. It changes nothing that is there already.\n\nExample:\n  symphony init --prefix API"
)]
pub(crate) struct InitArgs {
    /// The prefix of the issues' identifiers: capital letters and digits; from the folder's name without it
    #[arg(long, value_name = "PREFIX", value_parser = prefix)]
    prefix: Option<IssuePrefix>,
    /// Have an agent find gates, sensitive paths and instructions before anything else is done
    #[arg(long)]
    wizard: bool,
}

fn prefix(text: &str) -> Result<IssuePrefix, symphony_core::id::IdError> {
    IssuePrefix::parse(text)
}

/// What is set up.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct InitView {
    pub(crate) project: ProjectId,
    pub(crate) prefix: String,
    pub(crate) root: PathBuf,
    pub(crate) database: PathBuf,
    pub(crate) config: PathBuf,
    /// Whether the project was registered now.
    pub(crate) registered: bool,
    /// Whether the configuration file was written now.
    pub(crate) config_written: bool,
    /// Whether `.git/info/exclude` was changed now.
    pub(crate) excludes_added: bool,
    /// Names of the gates that hold.
    pub(crate) gates: Vec<String>,
}

impl View for InitView {
    fn write(&self, page: &mut Page) {
        if self.registered {
            page.line(&format!(
                "{} is set up: its issues are {}-1, {}-2 …",
                self.root.display(),
                self.prefix,
                self.prefix
            ));
        } else {
            page.line(&format!(
                "{} was set up already, with the prefix {}.",
                self.root.display(),
                self.prefix
            ));
        }
        if self.config_written {
            page.line(&format!(
                "Wrote {}: every setting is in it, commented.",
                self.config.display()
            ));
        }
        match self.gates.as_slice() {
            [] => {
                page.line("No gates are configured: nothing verifies what agents do. Set the command of your tests:");
                page.line("  symphony config set gates '[{\"name\": \"test\", \"command\": \"make test\"}]'");
            }
            gates => page.line(&format!(
                "{} on every change: {}.",
                plural(gates.len(), "gate"),
                gates.join(", ")
            )),
        }
        page.gap();
        page.line("Next:");
        page.line("  symphony doctor                     checks that everything is there");
        page.line("  symphony issue add 'What to do'     adds an issue");
        page.line("  symphony run                        starts agents, and shows what they do");
    }
}

impl InitArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let view = self.set_up(app).context("set up the repository")?;
        if app.out.is_quiet() && !app.out.is_json() {
            return Ok(());
        }
        app.out.answer(&view)
    }

    /// Sets the repository up as far as it is not.
    pub(crate) fn set_up(&self, app: &App) -> anyhow::Result<InitView> {
        let installation = app.surroundings.installation()?;
        let root = installation.root.clone();
        // before anything is written: a repository without commits, or without git, is refused
        let repository = Repository::open(&root, RepositoryOptions::default())?;
        let excludes_added = repository.exclude(&repository.own_excludes())?;
        let mut store = installation.open_store()?;
        let before = store.project_at(&root)?;
        let registered = before.is_none();
        let project = match before {
            Some(project) => self.same_prefix(project)?,
            None => register(
                &mut store,
                &root,
                self.wanted_prefix(&installation)?.as_str(),
            )?,
        };
        let config = installation
            .config_paths
            .explicit
            .clone()
            .unwrap_or_else(|| root.join(CONFIG_FILE_NAME));
        let config_written = !config.exists();
        if config_written {
            let prefix = IssuePrefix::parse(project.prefix.as_str())?;
            write_init(
                &root,
                &InitFile {
                    prefix,
                    gates: detect_gates(&root),
                },
            )?;
        }
        if self.wizard {
            set(&config, FileRole::Project, "wizard_enabled", "true")?;
        }
        // loaded anew: the file is there now
        let installation = app.surroundings.installation_at(root.clone())?;
        let gates = installation
            .project_config(&project)?
            .gates
            .into_iter()
            .map(|gate| gate.name)
            .collect();
        Ok(InitView {
            project: project.id,
            prefix: project.prefix,
            root,
            database: installation.config.database.clone(),
            config,
            registered,
            config_written,
            excludes_added,
            gates,
        })
    }

    fn same_prefix(&self, project: Project) -> Result<Project, Stop> {
        match &self.prefix {
            Some(wanted) if wanted.as_str() != project.prefix => {
                let message = format!(
                    "use the prefix {wanted}: the project has the prefix {} already",
                    project.prefix
                );
                Err(Stop::new(Exit::Refused, message)
                    .hint("identifiers of issues do not change; leave out --prefix"))
            }
            _ => Ok(project),
        }
    }

    /// Returns the prefix that was typed, else the configured one, which comes from the folder's name by default.
    fn wanted_prefix(&self, installation: &Installation) -> anyhow::Result<IssuePrefix> {
        if let Some(prefix) = &self.prefix {
            return Ok(prefix.clone());
        }
        Ok(installation
            .loaded()
            .project(None, &installation.root, None)?
            .config
            .prefix)
    }
}

fn register(store: &mut Store, root: &Path, prefix: &str) -> anyhow::Result<Project> {
    let projects = store.projects()?;
    if let Some(other) = projects.iter().find(|project| project.prefix == prefix) {
        let message = format!(
            "use the prefix {prefix}: it belongs to the project at {}",
            other.root.display()
        );
        return Err(Stop::new(Exit::Refused, message)
            .hint("`symphony init --prefix OTHER` chooses another one")
            .into());
    }
    let name = root.file_name().map_or_else(
        || "project".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let base = project_id_for(root);
    let is_free = |id: &ProjectId| projects.iter().all(|project| project.id != *id);
    let numbered = (2..SAME_NAME_MAX).filter_map(|n| ProjectId::parse(format!("{base}-{n}")).ok());
    let id = std::iter::once(base.clone())
        .chain(numbered)
        .find(is_free)
        .unwrap_or(base);
    let new = NewProject {
        id,
        name,
        root: root.to_path_buf(),
        prefix: prefix.to_owned(),
    };
    Ok(store.add_project(&App::as_human(), &new)?)
}
