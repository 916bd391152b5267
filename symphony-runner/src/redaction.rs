//! What is taken out of everything that a run writes down: the values of the project's copied files, and the secrets in the
//! environment of whatever runs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use symphony_workspace::{CommitId, Redactor, Repository, secret_of_variable};

use crate::error::RunnerError;

/// Makes the redactor for something that runs with an environment. `head` is where it runs; values that the base has in its own
/// files are not secret, and where no base is checked out (a plan), those of `head`.
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
    let redactor = repository.redactor(&base, secrets_of(environment))?;
    Ok(redactor.map(Arc::new))
}

/// Makes the redactor for something that runs with an environment outside of any checkout.
///
/// # Errors
/// When there are too many values to look for.
pub(crate) fn redactor_of_environment(
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Option<Arc<Redactor>>, RunnerError> {
    let redactor = Redactor::of(secrets_of(environment))?;
    Ok(redactor.map(Arc::new))
}

fn secrets_of(
    environment: &BTreeMap<OsString, OsString>,
) -> impl Iterator<Item = (String, String)> + '_ {
    environment.iter().filter_map(|(name, value)| {
        let (name, value) = (name.to_str()?, value.to_str()?);
        let secret = secret_of_variable(name, value)?;
        Some((name.to_owned(), secret.to_owned()))
    })
}
