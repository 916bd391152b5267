//! What `init` takes, and its steps.

use std::path::PathBuf;

use clap::Args;
use symphony_core::config::{
    Config, FileReaders, InitFile, IssuePrefix, ProjectConfig, SandboxSetting,
};
use symphony_prompt::lint::Finding;
use symphony_runner::installation::Installation;
use symphony_runner::prompts::lint::lint_project;
use symphony_runner::trial::kept_trial;
use symphony_store::Project;
use symphony_workspace::proposal::Proposal;
use symphony_workspace::{Repository, RepositoryOptions};

use super::file::{ConfigFile, readers_of, remark_in_file, write_config};
use super::ignore::ignore_own_files;
use super::register::{refuse_other_installation, register};
use super::sandbox::{LevelAsked, choose_level};
use super::view::{AcpView, InitView, Tried};
use crate::agents_found::{UsedProviders, found_agents};
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop, sentence};
use crate::model_access::access_of;
use crate::trial::{BaseHold, SECONDS_DEFAULT, SECONDS_MAX, copy_advice, note_trial, try_gates};
use crate::value::named;

/// What `init` takes.
#[derive(Debug, Default, Args)]
#[command(
    after_help = "It writes symphony.config.json unless there is one, proposes gates and a set-up command based on your \
                  committed files, registers the project, and keeps Symphony's files out of `git status`. It never changes an \
                  existing configuration. Then it tries the set-up and the gates in a fresh checkout of the base branch, so that \
                  you see what fails before you pay for an agent.\n\n\
                  Examples:\n  symphony init --prefix API\n  symphony init --no-try       do not run the project's commands\n  symphony init --shared       write a configuration that your team commits"
)]
pub(crate) struct InitArgs {
    /// Prefix of issue identifiers: capital letters and digits; taken from the folder's name by default
    #[arg(long, value_name = "PREFIX", value_parser = prefix)]
    prefix: Option<IssuePrefix>,
    /// Have an agent find gates, sensitive paths and instructions before any other work starts
    #[arg(long)]
    wizard: bool,
    /// Write a configuration file to commit, for everyone who clones the repository
    #[arg(long)]
    shared: bool,
    /// How agents are confined; by default a new project gets the strongest level that this machine supports
    #[arg(long, value_name = "LEVEL", value_parser = named(SandboxSetting::NAMES, SandboxSetting::parse))]
    sandbox: Option<SandboxSetting>,
    #[command(flatten)]
    trial: TrialArgs,
}

/// Whether and how long set-up and gates are tried.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct TrialArgs {
    /// Do not try the set-up command or the gates
    #[arg(long)]
    no_try: bool,
    /// Time limit for the whole trial, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = SECONDS_DEFAULT, value_parser = clap::value_parser!(u64).range(1..=SECONDS_MAX), conflicts_with = "no_try")]
    try_limit: u64,
}

impl Default for TrialArgs {
    fn default() -> Self {
        Self {
            no_try: false,
            try_limit: SECONDS_DEFAULT,
        }
    }
}

fn prefix(text: &str) -> Result<IssuePrefix, symphony_core::id::IdError> {
    IssuePrefix::parse(text)
}

/// The repository that is set up.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// Its root.
    pub(crate) root: PathBuf,
    /// The configuration of the installation that it joins; its own without one.
    pub(crate) joins: Option<&'a Config>,
}

/// A repository that is set up.
#[derive(Debug)]
struct SetUp {
    view: InitView,
    installation: Installation,
    project: Project,
    config: ProjectConfig,
    /// What was written to the configuration file, when that was now.
    file: Option<InitFile>,
}

impl InitArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let root = app.surroundings.root();
        let joins = None;
        let view = root
            .and_then(|root| self.set_up_and_try(app, Place { root, joins }))
            .context("set up the repository")?;
        if app.out.is_quiet() && !app.out.is_json() {
            return Ok(());
        }
        app.out.answer(&view)
    }

    /// Asks for a set-up with these options.
    pub(crate) const fn new(prefix: Option<IssuePrefix>, wizard: bool, trial: TrialArgs) -> Self {
        Self {
            prefix,
            wizard,
            shared: false,
            sandbox: None,
            trial,
        }
    }

    /// Sets a repository up, and tries its gates where nothing is known of them: a second `init` is quick.
    ///
    /// # Errors
    /// As [`InitArgs::set_up_at`]. A trial that fails, or cannot be made, is part of the answer.
    pub(crate) fn set_up_and_try(&self, app: &App, place: Place<'_>) -> anyhow::Result<InitView> {
        let SetUp {
            mut view,
            installation,
            project,
            config,
            file,
        } = self.set_up_at(app, place)?;
        if config.worktree.setup.is_none() && config.gates.is_empty() {
            return Ok(view);
        }
        // a repository without a base has none, and `doctor` says so
        if let Ok(Some(trial)) = kept_trial(&project, &config) {
            view.tried = Some(Tried::Before(trial));
            return Ok(view);
        }
        if self.trial.no_try {
            view.tried = Some(Tried::Not);
            return Ok(view);
        }
        let tried = try_gates(
            app.out,
            &installation,
            &project,
            &config,
            self.trial.try_limit,
        );
        view.tried = Some(match tried {
            Ok(trial) => {
                if let Some(file) = file {
                    remark_in_file(&project.root, &file, &trial)?;
                }
                note_trial(app, &installation, &project, &config, &trial)?;
                view.base_hold = BaseHold::load(&installation, &project.id)?;
                view.notes.extend(copy_advice(&project, &config, &trial));
                Tried::Ran(trial)
            }
            Err(error) => Tried::Failed {
                problem: sentence(&error),
            },
        });
        Ok(view)
    }

    /// Sets the repository up as far as it is not, and tries nothing.
    pub(crate) fn set_up(&self, app: &App) -> anyhow::Result<InitView> {
        let root = app.surroundings.root()?;
        let joins = None;
        Ok(self.set_up_at(app, Place { root, joins })?.view)
    }

    /// Sets a repository up, in the installation with this database where one is given.
    ///
    /// # Errors
    /// When it is no repository with a commit, or belongs to another installation.
    fn set_up_at(&self, app: &App, place: Place<'_>) -> anyhow::Result<SetUp> {
        let Place { root, joins } = place;
        let installation = app.surroundings.installation_at(root.clone())?;
        // before anything is written: a repository without commits, or without git, is refused
        let repository = Repository::open(&root, options(&installation))?;
        let joins = joins.filter(|joined| joined.database != installation.config.database);
        if joins.is_some() {
            refuse_other_installation(&installation)?;
        }
        let readers = if self.shared {
            FileReaders::Team
        } else {
            readers_of(&repository)?
        };
        let proposal = propose(&repository);
        // `doctor` and every tick say what is wrong where there is none
        let base = repository.base().ok();
        let excludes = ignore_own_files(&repository, readers, &proposal.fills)?;
        let mut store = match joins {
            Some(joined) => installation.with_database_of(joined).require_store()?,
            None => installation.create_store()?,
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
        let file = ConfigFile {
            readers,
            joins,
            asks_wizard: self.wizard,
            base: base.as_ref().map(|base| &base.branch),
        };
        let written = write_config(&file, &installation, &mut store, project, &proposal)?;
        let numbers = store.issue_numbers(&written.project.id)?;
        drop(store);
        // loaded again: the file is there now
        let installation = app.surroundings.installation_at(root.clone())?;
        // the repository notes which database it is worked on with
        let mut store = installation.require_store()?;
        let asked = LevelAsked {
            wanted: self.sandbox,
            is_new: registered,
            is_partial: repository.is_partial_clone(),
        };
        let (project, sandbox) = choose_level(asked, &installation, &mut store, written.project)?;
        drop(store);
        let config = installation.project_config(&project)?;
        let (provider, provider_problem) = match installation.provider(&config) {
            Ok(call) => (Some(call.name()), None),
            Err(error) => (None, Some(error)),
        };
        let view = InitView {
            project: project.id.clone(),
            prefix: project.prefix.clone(),
            root,
            database: installation.config.database.clone(),
            config: written.path,
            registered,
            numbers,
            config_written: written.is_new,
            excludes_added: excludes.added,
            config_shown: excludes.config_shown && !written.is_new,
            shared: readers == FileReaders::Team,
            wizard: self.wizard.then_some(project.wizard),
            gates: config.gates.iter().map(|gate| gate.name.clone()).collect(),
            gate_commands: config.gates.clone(),
            setup: config.worktree.setup.clone(),
            base_branch: base.map(|base| base.branch.to_string()),
            base_pinned: config.base_branch.is_some(),
            notes: proposal.notes.iter().map(ToString::to_string).collect(),
            advice: written.advice,
            sandbox_level: config.sandbox.level,
            sandbox,
            tried: None,
            base_hold: BaseHold::load(&installation, &project.id)?,
            agents: found_agents(&installation, &config),
            acp: AcpView::all(&installation, &config),
            runs_with: UsedProviders::of(&installation, &config)
                .ok()
                .and_then(|used| used.in_words()),
            model_access: provider.and_then(|name| access_of(&installation, &config, name)),
            provider_problem: provider_problem.map(|error| error.to_string()),
            prompts: lint(&installation, &config, &project),
        };
        Ok(SetUp {
            view,
            installation,
            project,
            config,
            file: written.file,
        })
    }

    fn same_prefix(&self, project: Project) -> Result<Project, Stop> {
        match &self.prefix {
            Some(wanted) if wanted.as_str() != project.prefix => {
                let message = format!(
                    "the project already has the prefix {}, so it cannot have the prefix {wanted}",
                    project.prefix
                );
                Err(Stop::new(Exit::Refused, message)
                    .hint("issue identifiers do not change; leave out --prefix"))
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

/// What the configuration that is there says of the repository. One that is wrong is reported where it matters.
fn options(installation: &Installation) -> RepositoryOptions {
    let loaded = installation.loaded();
    let configured = loaded.project(None, &installation.root, None);
    RepositoryOptions {
        base_branch: configured
            .ok()
            .and_then(|settings| settings.config.base_branch),
        ..RepositoryOptions::default()
    }
}

/// Checks the texts that agents will get. Files that cannot be read do not prevent the set-up: `doctor` reports them.
fn lint(installation: &Installation, config: &ProjectConfig, project: &Project) -> Vec<Finding> {
    lint_project(installation, config, &project.root, None).unwrap_or_else(|error| {
        tracing::warn!(%error, "the prompts were not checked");
        Vec::new()
    })
}

/// Proposes gates from the base branch, where agents' work starts and ends. Without one nothing is proposed: `doctor` and
/// every tick say what is wrong with it.
pub(crate) fn propose(repository: &Repository) -> Proposal {
    let proposal = repository
        .base()
        .and_then(|base| repository.propose(&base.commit));
    proposal.unwrap_or_else(|error| {
        tracing::warn!(%error, "no gates were proposed");
        Proposal::default()
    })
}
