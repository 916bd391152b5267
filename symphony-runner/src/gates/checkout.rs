//! A pristine checkout in which commands of the configuration run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use symphony_core::config::{CommandLine, Millis, ProjectConfig};
use symphony_core::gates::ConfiguredGate;
use symphony_core::id::RunId;
use symphony_core::listing::list_few;
use symphony_core::pull_request::{SET_UP_GATE, VerifiedGate};
use symphony_core::warm::Mount;
use symphony_core::watchdog::Step;
use symphony_store::Project;
use symphony_workspace::{
    CommitId, PackageMarks, Planted, Pristine, Redactor, Repository, WorktreeKey,
};
use tokio::sync::OnceCell;

use super::key::Ground;
use super::request::CheckoutRequest;
use super::result::{GateCommand, gate_result};
use super::running::Running;
use super::sandbox::ground_of;
use crate::environment::{agent_environment, name_committers};
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::process::{Supervision, sweep_marked};
use crate::redaction::redactor_for;
use crate::repository::open_repository;
use crate::sandbox::{CommandSandbox, CommandsOf, RunSandbox};
use crate::supervise::{CommandCall, Company, LiveLog, run_command};

/// The prefix of the folders of pristine checkouts, which no issue's worktree has.
const MARK: &str = "_gates-";
/// The log of the set-up command, in the folder of the checkout's logs.
pub(super) const SETUP_LOG: &str = "setup.log";
/// How many files of each kind the output of a gate names.
const NAMED_MAX: usize = 10;

/// The circumstances in which a command of a checkout runs.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    /// Whether other commands run at the same time.
    pub(super) company: Company,
    /// What Symphony reports about the checkout in the command's output.
    pub(super) remark: Option<String>,
}

/// A pristine checkout of a commit, in which commands run.
#[derive(Debug)]
pub struct GateCheckout<'a> {
    pub(super) request: CheckoutRequest<'a>,
    pub(super) pristine: Pristine,
    /// The whole environment of its commands.
    environment: BTreeMap<OsString, OsString>,
    /// Removes secret values from the output of its commands.
    redactor: Option<Arc<Redactor>>,
    /// What confines its commands, without a network.
    sandbox: RunSandbox,
    /// What confines them, made for the first of them.
    confined: OnceCell<CommandSandbox>,
    /// Where they see the checkout.
    pub(super) mount: Mount,
    /// What the folders of packages looked like after the set-up.
    pub(super) after_set_up: Mutex<PackageMarks>,
}

/// A checkout whose files are not there yet.
pub(super) struct Begun<'a> {
    pub(super) request: CheckoutRequest<'a>,
    environment: BTreeMap<OsString, OsString>,
    sandbox: RunSandbox,
    pub(super) mount: Mount,
}

impl<'a> Begun<'a> {
    /// Writes its files, and copies the project's configuration files to them.
    pub(super) fn finish(
        self,
        check_out: impl FnOnce(&Repository, &WorktreeKey) -> Result<Pristine, RunnerError>,
    ) -> Result<GateCheckout<'a>, RunnerError> {
        let Self {
            request,
            environment,
            sandbox,
            mount,
        } = self;
        let repository = request.repository;
        let pristine = check_out(repository, &checkout_key(request.id))?;
        for problem in repository.copy_into_pristine(&pristine)?.problems {
            let (path, reason) = (problem.path.display(), &problem.reason);
            tracing::warn!(%path, reason, "a configuration file was not copied into the checkout");
        }
        let redactor = redactor_for(repository, pristine.commit(), &environment)?;
        Ok(GateCheckout {
            request,
            pristine,
            environment,
            redactor,
            sandbox,
            confined: OnceCell::new(),
            mount,
            after_set_up: Mutex::default(),
        })
    }
}

impl<'a> GateCheckout<'a> {
    /// Checks out a commit, and copies the project's configuration files into it.
    ///
    /// # Errors
    /// When the machine cannot confine its commands as the configuration asks, the repository does not have the commit, or the checkout
    /// cannot be written.
    pub fn make(request: CheckoutRequest<'a>, commit: &CommitId) -> Result<Self, RunnerError> {
        Self::begin(request)?.finish(|repository, key| Ok(repository.create_pristine(key, commit)?))
    }

    /// Chooses what confines the commands of a checkout, before anything is made: without it nothing may run there.
    pub(super) fn begin(request: CheckoutRequest<'a>) -> Result<Begun<'a>, RunnerError> {
        let environment = request.environment();
        let path = checkout_path(request.repository, request.id)?;
        let (sandbox, mount) = request.sandbox(&path, &environment)?;
        Ok(Begun {
            request,
            environment,
            sandbox,
            mount,
        })
    }

    /// Returns its folder.
    pub fn path(&self) -> &Path {
        self.pristine.path()
    }

    /// Returns its commit.
    pub fn commit(&self) -> &CommitId {
        self.pristine.commit()
    }

    /// Runs the project's set-up command. Returns its result like that of a gate, or `None` if none is configured.
    ///
    /// # Errors
    /// When processes cannot be supervised. A command that cannot be started is a red result.
    pub async fn set_up(
        &self,
        supervision: &Supervision,
    ) -> Result<Option<VerifiedGate>, RunnerError> {
        let limit = self.request.config.worktree.setup_timeout_ms;
        self.set_up_within(supervision, limit).await
    }

    /// Runs the set-up within a time limit. It must be the first command in the checkout: what exists after it is what
    /// gates find.
    ///
    /// # Errors
    /// As [`GateCheckout::set_up`].
    pub async fn set_up_within(
        &self,
        supervision: &Supervision,
        limit: Millis,
    ) -> Result<Option<VerifiedGate>, RunnerError> {
        let Some(line) = &self.request.config.worktree.setup else {
            return Ok(None);
        };
        let command = GateCommand {
            name: SET_UP_GATE,
            required: true,
            line,
            limit,
        };
        self.request.steps.enter_commands(Step::SetUp, limit);
        let alone = Surroundings {
            company: Company::Alone,
            remark: None,
        };
        let _running = Running::note(&self.request.logs, [SET_UP_GATE].into_iter());
        let log = SETUP_LOG.to_owned();
        let result = self
            .run_in(supervision, &command, SET_UP_GATE, log, alone)
            .await?;
        self.note_packages();
        Ok(Some(result))
    }

    /// Runs one command, alone.
    ///
    /// # Errors
    /// When processes cannot be supervised. A command that cannot be started is a red result.
    pub async fn run(
        &self,
        supervision: &Supervision,
        name: &str,
        line: &CommandLine,
        limit: Millis,
    ) -> Result<VerifiedGate, RunnerError> {
        let command = GateCommand {
            name,
            required: true,
            line,
            limit,
        };
        self.request.steps.enter_commands(Step::Gates, limit);
        let alone = Surroundings {
            company: Company::Alone,
            remark: self.restore()?,
        };
        let result = self.run_in(supervision, &command, name, log_of(name), alone);
        result.await
    }

    /// Restores tracked files to their committed content, since the set-up and earlier commands may have changed them,
    /// and removes what these left beside them and git does not ignore. Returns what the output of the next command has
    /// to report about it.
    ///
    /// # Errors
    /// When git fails, or a file cannot be written or removed.
    pub(super) fn restore(&self) -> Result<Option<String>, RunnerError> {
        self.require_in_place()?;
        let repository = self.request.repository;
        let in_git_folder = repository.restore_git_folder(&self.pristine)?;
        let restored = repository.restore_tracked(&self.pristine)?;
        // After the tracked files: the commit's own `.gitignore` files decide, and one that a command changed would
        // keep its files.
        let Planted {
            removed,
            restored: beside,
            changed,
        } = repository.remove_planted(&self.pristine)?;
        let said = [
            (
                &in_git_folder,
                "changed the git folder of the checkout; Symphony restored it",
            ),
            (
                &restored,
                "changed files of the commit; Symphony restored them",
            ),
            (
                &removed,
                "left files that git does not ignore; they were removed, because the commit does not have them",
            ),
            (
                &beside,
                "changed files that the set-up left or that were copied; Symphony restored them",
            ),
            (
                &changed,
                "changed files that the set-up left; Symphony could not restore them",
            ),
        ];
        let remarks: Vec<String> = said
            .into_iter()
            .filter(|(names, _)| !names.is_empty())
            .map(|(names, what)| {
                let names = list_few(names.iter().map(String::as_str), NAMED_MAX);
                tracing::info!(files = %names, "what ran before in the checkout of gates {what}");
                format!("[Symphony: what ran before in this checkout {what}: {names}]")
            })
            .collect();
        Ok((!remarks.is_empty()).then(|| remarks.join("\n")))
    }

    /// Checks that it is still the checkout that was made. If not, no change is at fault.
    ///
    /// # Errors
    /// When it was removed or replaced, or cannot be read.
    pub(crate) fn require_in_place(&self) -> Result<(), RunnerError> {
        Ok(self.pristine.require_in_place()?)
    }

    /// Runs a command unchanged, and returns its result only if it ran to its end in the checkout. `title` names it in
    /// the log of the run, `log` is the file of its own log.
    pub(super) async fn run_in(
        &self,
        supervision: &Supervision,
        command: &GateCommand<'_>,
        title: &str,
        log: String,
        Surroundings { company, remark }: Surroundings,
    ) -> Result<VerifiedGate, RunnerError> {
        let opening = self.confined.get_or_try_init(|| self.open());
        let confined = Box::pin(opening).await?;
        let call = CommandCall {
            executable: &self.request.installation.executable,
            line: command.line,
            limit: command.limit,
            environment: confined.environment.clone(),
            directory: self.path(),
            input: None,
            redactor: self.redactor.clone(),
            log: self.request.logs.join(log),
            live: Some(LiveLog {
                path: self.request.logs.join("log.txt"),
                name: title.to_owned(),
            }),
            company,
            remark,
            sandbox: Some(&confined.sandbox),
        };
        let ran = run_command(supervision, call).await;
        // Also after a red result: a command that finds no files proves nothing about them.
        self.require_in_place()?;
        gate_result(command, ran)
    }

    /// Serves the network of its commands.
    async fn open(&self) -> Result<CommandSandbox, RunnerError> {
        let request = &self.request;
        let opened = CommandSandbox::open(
            self.sandbox.clone(),
            self.environment.clone(),
            CommandsOf {
                installation: request.installation,
                config: request.config,
                project: request.repository.root(),
                used: &request.network,
            },
        );
        Ok(opened.await?)
    }

    /// Removes the checkout. Its processes must have ended.
    ///
    /// # Errors
    /// When something cannot be removed. The next tick tries again.
    pub fn remove(self) -> Result<(), RunnerError> {
        remove_checkout(self.request.repository, self.request.id)
    }
}

/// Returns the name of a gate's log file, given the gate's title.
pub(super) fn log_of(title: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let plain: String = title
        .chars()
        .map(|c| if is_plain(&c) { c } else { '_' })
        .take(64)
        .collect();
    format!("gate-{plain}.log")
}

impl CheckoutRequest<'_> {
    /// Returns the environment of its commands.
    pub(super) fn environment(&self) -> BTreeMap<OsString, OsString> {
        gate_environment(self.installation, self.config, self.id)
    }

    /// Returns what the results of gates depend on now, besides the files of a commit.
    pub(super) fn ground(&self) -> Result<Ground, RunnerError> {
        let environment = self.environment();
        let sandbox = ground_of(
            self.installation,
            self.config,
            self.repository.root(),
            &environment,
        );
        Ground::of(self.repository, self.config, &environment, &sandbox)
    }
}

/// Returns the gates that a project has now, with everything that their results depend on besides the files of a
/// commit. While that is equal, recorded results and cached green ones count.
///
/// # Errors
/// When the files that a checkout gets copied cannot be listed.
pub fn configured_gates(
    installation: &Installation,
    config: &ProjectConfig,
    repository: &Repository,
) -> Result<Vec<ConfiguredGate>, RunnerError> {
    // The marker is not part of what results depend on.
    let nobody = RunId::parse(uuid::Uuid::nil().to_string()).expect("a UUID is a run id");
    let environment = gate_environment(installation, config, &nobody);
    let sandbox = ground_of(installation, config, repository.root(), &environment);
    Ok(Ground::of(repository, config, &environment, &sandbox)?.configured(&config.gates))
}

/// Returns the gates that a project has now, for views that compare them with recorded results. Empty if its repository cannot be read,
/// which is reported elsewhere.
pub fn shown_gates(
    installation: &Installation,
    project: &Project,
    config: &ProjectConfig,
) -> Vec<ConfiguredGate> {
    open_repository(project, config)
        .map_err(RunnerError::from)
        .and_then(|repository| configured_gates(installation, config, &repository))
        .unwrap_or_default()
}

/// The environment of the project's agents, without a provider's settings and without a socket. A private clone has no
/// settings of the repository, so the committer is read from git outside of it.
fn gate_environment(
    installation: &Installation,
    config: &ProjectConfig,
    id: &RunId,
) -> BTreeMap<OsString, OsString> {
    let mut environment =
        agent_environment(&installation.environment, &config.env, &BTreeMap::new(), id);
    name_committers(&mut environment, Path::new("/"));
    environment
}

/// Returns the path of the checkout of a run or job.
///
/// # Errors
/// When the folder of worktrees cannot be created, or was replaced by a link.
pub(super) fn checkout_path(repository: &Repository, id: &RunId) -> Result<PathBuf, RunnerError> {
    Ok(repository.worktree_path(&checkout_key(id))?)
}

/// Removes the checkout of a run or job whose processes have ended.
///
/// # Errors
/// When something cannot be removed.
pub(crate) fn remove_checkout(repository: &Repository, id: &RunId) -> Result<(), RunnerError> {
    repository.remove_pristine(&checkout_key(id))?;
    Ok(())
}

/// Returns the id of the run or job whose checkout has this folder name, or `None` for any other folder.
pub(crate) fn checkout_owner(folder: &str) -> Option<RunId> {
    RunId::parse(folder.strip_prefix(MARK)?).ok()
}

pub(super) fn checkout_key(id: &RunId) -> WorktreeKey {
    WorktreeKey::of(&format!("{MARK}{id}"))
}

/// Cleans up what a dead process left under an id: its processes, then its checkout.
///
/// # Errors
/// When a process survives, or something cannot be removed.
pub(crate) fn clear_left_checkout(
    installation: &Installation,
    project: &Project,
    id: &RunId,
) -> Result<(), RunnerError> {
    let config = installation.project_config(project)?;
    let key = checkout_key(id);
    // Most runs that were never claimed have no checkout, and searching all processes takes a while.
    if !config.workspaces_dir.join(key.as_str()).exists() {
        return Ok(());
    }
    // Processes first: one that is still alive could write into the checkout while it is being removed.
    sweep_marked(id)?;
    open_repository(project, &config)?.remove_pristine(&key)?;
    Ok(())
}
