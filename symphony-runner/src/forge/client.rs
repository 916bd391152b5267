//! A forge that can be asked.

use symphony_core::config::{ForgeRepository, ForgeSettings, ProjectConfig};
use symphony_forge::unseen::meant;
use symphony_store::Project;
use symphony_sync::{Access, AccessProblem, Forge, Options, connect_forge};
use symphony_tracker::fault::Fault;
use symphony_workspace::{Remote, WorkspaceError, read_address};

use super::base::missing_base;
use super::fault::no_remote;
use crate::error::RunnerError;
use crate::installation::Installation;
use crate::repository::open_repository;
use crate::runtime::block_on;
use crate::tracker::read_token;

/// What a forge said of the token.
pub type ForgeAccess = Access;

/// Why a forge cannot be asked.
pub type ForgeFault = Fault;

/// What keeps a token, a forge's repository or git from being used.
pub type ForgeProblem = AccessProblem;

/// Returns the repository of a forge: as configured, or as the address of the remote says.
pub(super) fn repository_of(
    installation: &Installation,
    project: &Project,
    config: &ProjectConfig,
    settings: &ForgeSettings,
) -> Result<ForgeRepository, Fault> {
    if let Some(repository) = &settings.repository {
        return Ok(repository.clone());
    }
    let repository = open_repository(project, config).map_err(here)?;
    let remote = Remote::new(&repository, &settings.remote, &installation.environment);
    let address = remote.address().map_err(|error| match error {
        WorkspaceError::NoRemote { .. } => no_remote(&error),
        error => here(error),
    })?;
    let read = read_address(&address).ok_or_else(|| Fault::Misconfigured {
        detail: format!(
            "the address of the remote `{}` has no owner and name: run `symphony config set forge.repository OWNER/NAME`",
            settings.remote
        ),
    })?;
    Ok(ForgeRepository {
        owner: read.owner,
        name: read.name,
    })
}

/// What the repository here fails with before the forge is asked.
fn here(error: WorkspaceError) -> Fault {
    Fault::Here {
        detail: RunnerError::from(error).with_causes(),
    }
}

/// Returns the name of a forge's place.
pub(super) fn place_of(settings: &ForgeSettings, repository: &ForgeRepository) -> String {
    format!("{}:{}/{}", settings.kind, repository.owner, repository.name)
}

/// Prepares requests to a forge. No request is sent.
///
/// A missing token is a fault like a wrong one: the forge is held, and everything else goes on.
pub(super) fn client_of(
    installation: &Installation,
    settings: &ForgeSettings,
    repository: &ForgeRepository,
) -> Result<Box<dyn Forge>, Fault> {
    let token = read_token(installation, &settings.token)?;
    connect_forge(settings, repository, token, &Options::default()).map_err(|error| {
        Fault::Unreachable {
            detail: error.to_string(),
        }
    })
}

/// Asks a forge who the token is and what it may do, and whether git reaches the remote. Returns the forge's place with it.
///
/// # Errors
/// When the runtime cannot be started.
pub fn check_forge(
    installation: &Installation,
    project: &Project,
    config: &ProjectConfig,
    settings: &ForgeSettings,
) -> Result<Result<ForgeAccess, Fault>, RunnerError> {
    let repository = match repository_of(installation, project, config, settings) {
        Ok(repository) => repository,
        Err(fault) => return Ok(Err(fault)),
    };
    let client = match client_of(installation, settings, &repository) {
        Ok(client) => client,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut access = match block_on(&installation.root, client.check())? {
        Ok(access) => access,
        Err(fault) => return Ok(Err(fault)),
    };
    let git = open_repository(project, config).and_then(|repository| {
        let base = repository.base()?.branch;
        let remote = Remote::new(&repository, &settings.remote, &installation.environment);
        Ok((remote.head(&base)?, base))
    });
    match git {
        Ok((Some(head), _)) => {
            let checks = block_on(&installation.root, client.checks(head.as_str()))?;
            // what the token may not read is among the problems already
            let reported = checks.unwrap_or_default();
            let names: Vec<&str> = reported.iter().map(|check| check.name.as_str()).collect();
            let misspelt = misspelt(&settings.checks, &names);
            access
                .problems
                .extend(misspelt.into_iter().map(AccessProblem::Place));
        }
        Ok((None, base)) => {
            let missing = missing_base(base.as_str(), &settings.remote);
            access.problems.push(AccessProblem::Place(missing));
        }
        Err(error) => access.problems.push(AccessProblem::Git(format!(
            "{error}; `git push` must work without asking for anything: set up an ssh agent, or a credential helper such as `gh auth setup-git`"
        ))),
    }
    Ok(Ok(access))
}

/// Returns the configured checks that nothing reports under their name, and something under a similar one. Others may be of workflows
/// that run for pull requests alone.
fn misspelt(configured: &[String], reported: &[&str]) -> Vec<String> {
    let near = |name: &String| Some((name.clone(), meant(name, reported)?));
    configured
        .iter()
        .filter_map(near)
        .map(|(name, near)| {
            format!("`forge.checks` has `{name}`, which nothing reports on the base branch; did you mean `{near}`?")
        })
        .collect()
}
