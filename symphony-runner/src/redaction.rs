//! The secrets that are removed from everything a run writes: the values of the project's copied files, the secrets in
//! the environment of its processes, and the login tokens of the CLIs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use symphony_workspace::{CommitId, Redactor, Repository, secret_of_variable, tokens_in};

use crate::error::RunnerError;
use crate::provider::{Credentials, agent_clis};

/// Largest login file that is read: those of the CLIs have a few kilobytes.
const LOGIN_BYTES_MAX: u64 = 1024 * 1024;

/// Reads the tokens of a CLI's login, by names such as `claude.accessToken`; none if no one is logged in. They are kept
/// in memory only.
fn tokens_of(
    credentials: &Credentials,
    environment: &BTreeMap<OsString, OsString>,
) -> Vec<(String, String)> {
    let variable = |name: &str| environment.get(OsStr::new(name)).cloned();
    let Some(path) = credentials.path(variable) else {
        return Vec::new();
    };
    let document = document_at(&path).unwrap_or_default();
    let cli = credentials.folder.trim_start_matches('.');
    let named = |(name, token)| (format!("{cli}.{name}"), token);
    tokens_in(&document).into_iter().map(named).collect()
}

fn document_at(path: &Path) -> Option<Value> {
    // A named pipe in its place must not block the run.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    let file = File::open(path).ok()?;
    file.take(LOGIN_BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Creates the redactor for processes with an environment. `head` is where they run. Values in files of the base are
/// not secret; without a base checked out (a plan), those in files of `head`.
///
/// # Errors
/// When the project's files cannot be listed.
pub(crate) fn redactor_for(
    repository: &Repository,
    head: &CommitId,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Option<Arc<Redactor>>, RunnerError> {
    let base = repository
        .base()
        .map_or_else(|_| head.clone(), |base| base.commit);
    let redactor = repository.redactor(Some(&base), secrets_of(environment))?;
    Ok(redactor.map(Arc::new))
}

/// Creates the redactor for a text that a person gives to agents. If the base cannot be found, no value of a copied
/// file counts as public.
///
/// # Errors
/// When the project's files cannot be listed.
pub fn redactor_for_person(
    repository: &Repository,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Option<Redactor>, RunnerError> {
    let base = repository.base().ok();
    let commit = base.as_ref().map(|base| &base.commit);
    Ok(repository.redactor(commit, secrets_of(environment))?)
}

/// Creates the redactor for processes with an environment, outside of any checkout.
///
/// # Errors
/// When there are too many values to look for.
pub(crate) fn redactor_of_environment(
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Option<Arc<Redactor>>, RunnerError> {
    let redactor = Redactor::of(secrets_of(environment))?;
    Ok(redactor.map(Arc::new))
}

/// The secrets among the variables, and the login tokens of the CLIs that use these variables.
fn secrets_of(
    environment: &BTreeMap<OsString, OsString>,
) -> impl Iterator<Item = (String, String)> + '_ {
    let variables = environment.iter().filter_map(|(name, value)| {
        let (name, value) = (name.to_str()?, value.to_str()?);
        let secret = secret_of_variable(name, value)?;
        Some((name.to_owned(), secret.to_owned()))
    });
    let logins = agent_clis().flat_map(|cli| tokens_of(&cli.credentials, environment));
    variables.chain(logins)
}
