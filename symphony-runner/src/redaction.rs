//! The secrets that are removed from everything a run writes: the values of the project's copied files, the secrets in
//! the environment of its processes, and the login tokens of the CLIs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use symphony_workspace::{CommitId, Redactor, Repository, secret_of_variable, tokens_in};

use crate::error::RunnerError;

/// Largest login file that is read: those of the CLIs have a few kilobytes.
const LOGIN_BYTES_MAX: u64 = 1024 * 1024;

/// Where a CLI keeps the tokens of its login.
#[derive(Debug)]
struct Login {
    /// The variable that overrides its folder.
    folder_variable: &'static str,
    /// The default folder, in the home folder.
    folder: &'static str,
    file: &'static str,
}

const LOGINS: [Login; 2] = [
    Login {
        folder_variable: "CLAUDE_CONFIG_DIR",
        folder: ".claude",
        file: ".credentials.json",
    },
    Login {
        folder_variable: "CODEX_HOME",
        folder: ".codex",
        file: "auth.json",
    },
];

impl Login {
    /// Reads the tokens, by names such as `claude.accessToken`; none if no one is logged in. They are kept in memory
    /// only.
    fn tokens(&self, environment: &BTreeMap<OsString, OsString>) -> Vec<(String, String)> {
        let folder = |name: &str| {
            let value = environment.get(OsStr::new(name))?;
            (!value.is_empty()).then(|| PathBuf::from(value))
        };
        let own = folder(self.folder_variable);
        let Some(folder) = own.or_else(|| Some(folder("HOME")?.join(self.folder))) else {
            return Vec::new();
        };
        let document = document_at(&folder.join(self.file)).unwrap_or_default();
        let named = |(name, token)| {
            (
                format!("{}.{name}", self.folder.trim_start_matches('.')),
                token,
            )
        };
        tokens_in(&document).into_iter().map(named).collect()
    }
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
    let logins = LOGINS.iter().flat_map(|login| login.tokens(environment));
    variables.chain(logins)
}
