//! The configuration file that `init` writes.

use std::path::{Path, PathBuf};

use serde_json::Value;
use symphony_core::config::{
    Config, Database, FileReaders, FileRole, InitChecks, InitFile, IssuePrefix,
};
use symphony_core::project::WizardState;
use symphony_core::trial::{Quote, Trial, TrialStep};
use symphony_runner::installation::Installation;
use symphony_store::{Project, Store};
use symphony_workspace::config_file::{CONFIG_FILE_NAME, rewrite_init, set, write_init};
use symphony_workspace::proposal::Proposal;
use symphony_workspace::{BranchName, Repository, WorkspaceError};

use super::wizard::ask_wizard;
use crate::failure::{Exit, Stop};

/// How the configuration file is to be.
#[derive(Debug)]
pub(super) struct ConfigFile<'a> {
    /// Who reads it.
    pub(super) readers: FileReaders,
    /// The configuration of the installation that the project joins.
    pub(super) joins: Option<&'a Config>,
    /// Whether the setup wizard is to find gates.
    pub(super) asks_wizard: bool,
    /// The base branch, where the repository has one: a new file names it.
    pub(super) base: Option<&'a BranchName>,
}

/// What happened to it.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) path: PathBuf,
    /// Whether it was written now.
    pub(super) is_new: bool,
    /// Its text, if it was written now and nothing was added.
    pub(super) file: Option<InitFile>,
    /// The project, with what the database keeps of it.
    pub(super) project: Project,
    /// What a person may want to do.
    pub(super) advice: Option<String>,
}

/// Tells who reads the file: everybody, where it is committed already.
pub(super) fn readers_of(repository: &Repository) -> Result<FileReaders, WorkspaceError> {
    Ok(if repository.tracks(CONFIG_FILE_NAME)? {
        FileReaders::Team
    } else {
        FileReaders::OnePerson
    })
}

/// Writes the configuration file unless there is one, names the database in it that the project joins, and switches the
/// setup wizard on where it is wanted.
pub(super) fn write_config(
    file: &ConfigFile<'_>,
    installation: &Installation,
    store: &mut Store,
    project: Project,
    proposal: &Proposal,
) -> anyhow::Result<Written> {
    let path = installation
        .config_paths
        .explicit
        .clone()
        .unwrap_or_else(|| project.root.join(CONFIG_FILE_NAME));
    let is_new = !path.exists();
    // what the file says wins over the database: it leaves to the wizard what is the wizard's
    let is_wizards = file.asks_wizard || wizard_gates(&project).is_some();
    let mut content = None;
    if is_new {
        let prefix = IssuePrefix::parse(project.prefix.as_str())?;
        let new = new_file(prefix, file, is_wizards, proposal);
        write_init(&project.root, &new)?;
        content = Some(new);
    }
    if let Some(joined) = file.joins {
        join(file.readers, joined, &path)?;
    }
    let (project, advice) = if file.asks_wizard {
        ask_wizard(store, project, &path, proposal)?
    } else {
        (project, None)
    };
    Ok(Written {
        path,
        is_new,
        file: content,
        project,
        advice,
    })
}

fn new_file(
    prefix: IssuePrefix,
    file: &ConfigFile<'_>,
    is_wizards: bool,
    proposal: &Proposal,
) -> InitFile {
    let checks = if is_wizards {
        InitChecks::Wizard
    } else {
        InitChecks::Proposed {
            setup: proposal.setup.clone().map(Into::into),
            gates: proposal.gates.iter().cloned().map(Into::into).collect(),
        }
    };
    InitFile {
        prefix,
        checks,
        readers: file.readers,
        base_branch: file.base.map(ToString::to_string),
    }
}

/// Adds what a trial found to the file that was written before it, as comments: a gate that is red is still a gate, and who
/// opens the file sees why it is red.
pub(super) fn remark_in_file(root: &Path, file: &InitFile, trial: &Trial) -> anyhow::Result<()> {
    let mut remarked = file.clone();
    let InitChecks::Proposed { setup, gates } = &mut remarked.checks else {
        return Ok(());
    };
    // what a command printed may be private
    let quote = match file.readers {
        FileReaders::OnePerson => Quote::TellingLine,
        FileReaders::Team => Quote::Nothing,
    };
    let remark = |step: Option<&TrialStep>| step?.remark(&trial.commit, quote);
    if let Some(setup) = setup {
        setup.remark = remark(trial.setup.as_ref());
    }
    for gate in gates {
        gate.remark = remark(trial.gate(&gate.value.name));
    }
    // a person who edits the file while the gates run keeps what they wrote
    rewrite_init(root, file, &remarked)?;
    Ok(())
}

/// Returns the gates that the setup wizard left in the database.
fn wizard_gates(project: &Project) -> Option<&Value> {
    let is_done = project.wizard == WizardState::Completed;
    project.settings.get("gates").filter(|_| is_done)
}

/// Names the database of the installation that the project joins, and its state on this machine where that is not beside the
/// database.
fn join(readers: FileReaders, joined: &Config, path: &Path) -> anyhow::Result<()> {
    refuse_in_shared(readers, &joined.database)?;
    let quoted = |text: String| serde_json::to_string(&text);
    let database = quoted(joined.database.to_string())?;
    set(path, FileRole::Project, "database", &database)?;
    if joined.database.server().is_some() {
        let folder = quoted(joined.state_dir.display().to_string())?;
        set(path, FileRole::Project, "state_dir", &folder)?;
    }
    Ok(())
}

/// A path of this machine has no place in a file that is committed.
fn refuse_in_shared(readers: FileReaders, database: &Database) -> Result<(), Stop> {
    if readers == FileReaders::OnePerson {
        return Ok(());
    }
    let message = format!(
        "{CONFIG_FILE_NAME} cannot name the database {database} of the installation: the file is committed, so it must not contain \
         a path of this machine"
    );
    Err(Stop::new(Exit::Refused, message).hint(
        "name the `database` in ~/.config/symphony/config.json, then run `symphony init` in the repository",
    ))
}
