//! `symphony init`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use symphony_core::config::{FileRole, InitFile, IssuePrefix, KeyPath, Source};
use symphony_core::id::ProjectId;
use symphony_core::project::WizardState;
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
    /// How far the setup wizard came, where it was asked for.
    pub(crate) wizard: Option<WizardState>,
    /// Names of the gates that hold.
    pub(crate) gates: Vec<String>,
    /// Why no agent can be started yet: for a person who begins, `doctor` tells programs.
    #[serde(skip)]
    pub(crate) provider_problem: Option<String>,
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
        let wizard_comes = self.wizard == Some(WizardState::Pending);
        if wizard_comes {
            page.line("The setup wizard comes first: at the next tick it finds gates, sensitive paths and instructions.");
        }
        match self.gates.as_slice() {
            [] if wizard_comes => {}
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
        if let Some(problem) = &self.provider_problem {
            page.line(&format!("No agent can be started yet: {problem}."));
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

    /// Asks for a set-up with these options.
    pub(crate) const fn new(prefix: Option<IssuePrefix>, wizard: bool) -> Self {
        Self { prefix, wizard }
    }

    /// Sets the repository up as far as it is not.
    pub(crate) fn set_up(&self, app: &App) -> anyhow::Result<InitView> {
        let root = app.surroundings.root()?;
        self.set_up_at(app, root, None)
    }

    /// Sets a repository up, in the installation with this database where one is given.
    ///
    /// # Errors
    /// When it is no repository with a commit, or belongs to another installation.
    pub(crate) fn set_up_at(
        &self,
        app: &App,
        root: PathBuf,
        database: Option<&Path>,
    ) -> anyhow::Result<InitView> {
        let installation = app.surroundings.installation_at(root.clone())?;
        // before anything is written: a repository without commits, or without git, is refused
        let repository = Repository::open(&root, RepositoryOptions::default())?;
        let joins = database.filter(|database| **database != installation.config.database);
        if joins.is_some() {
            refuse_other_installation(&installation)?;
        }
        let excludes_added = repository.exclude(&repository.own_excludes())?;
        let mut store = match joins {
            Some(database) => Store::open_existing(database)?,
            None => installation.open_store()?,
        };
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
        let (config, config_written) = self.write_config(&installation, &project, joins)?;
        let project = self.ask_wizard(&mut store, project, &config)?;
        // loaded anew: the file is there now
        let installation = app.surroundings.installation_at(root.clone())?;
        let config_now = installation.project_config(&project)?;
        let provider_problem = installation.provider(&config_now).err();
        let gates = config_now.gates.into_iter().map(|gate| gate.name).collect();
        Ok(InitView {
            project: project.id,
            prefix: project.prefix,
            root,
            database: installation.config.database.clone(),
            config,
            registered,
            config_written,
            excludes_added,
            wizard: self.wizard.then_some(project.wizard),
            gates,
            provider_problem: provider_problem.map(|error| error.to_string()),
        })
    }

    /// Writes the configuration file unless there is one, and names the database in it that the project joins.
    fn write_config(
        &self,
        installation: &Installation,
        project: &Project,
        joins: Option<&Path>,
    ) -> anyhow::Result<(PathBuf, bool)> {
        let config = installation
            .config_paths
            .explicit
            .clone()
            .unwrap_or_else(|| project.root.join(CONFIG_FILE_NAME));
        let missing = !config.exists();
        if missing {
            let file = InitFile {
                prefix: IssuePrefix::parse(project.prefix.as_str())?,
                // what stands in the file wins over what the wizard will find
                gates: if self.wizard {
                    Vec::new()
                } else {
                    detect_gates(&project.root)
                },
            };
            write_init(&project.root, &file)?;
        }
        if let Some(database) = joins {
            let value = serde_json::to_string(&database.display().to_string())?;
            set(&config, FileRole::Project, "database", &value)?;
        }
        Ok((config, missing))
    }

    /// Switches the setup wizard on where it is wanted. The gates that were detected hold until it has found better ones,
    /// and when it finds none.
    fn ask_wizard(
        &self,
        store: &mut Store,
        project: Project,
        config: &Path,
    ) -> anyhow::Result<Project> {
        if !self.wizard {
            return Ok(project);
        }
        set(config, FileRole::Project, "wizard_enabled", "true")?;
        let gates = detect_gates(&project.root);
        if project.settings != json!({}) || gates.is_empty() {
            return Ok(project);
        }
        let settings = json!({ "gates": gates });
        Ok(store.set_project_settings(&App::as_human(), &project.id, &settings)?)
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

/// Refuses a repository that is set up with a database of its own.
fn refuse_other_installation(installation: &Installation) -> Result<(), Stop> {
    let database = &installation.config.database;
    let named = installation
        .loaded()
        .inspect_installation()
        .effective
        .get(&KeyPath::of("database"))
        .is_some_and(|entry| entry.source != Source::Default);
    if !named && !database.exists() {
        return Ok(());
    }
    let message = format!(
        "join the installation: {} has the database {}",
        installation.root.display(),
        database.display()
    );
    Err(Stop::new(Exit::Refused, message).hint(
        "a repository belongs to one installation: name the same `database` in both configuration files, then run `symphony init` there",
    ))
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
