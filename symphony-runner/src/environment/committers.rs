//! A committer name for agents, set-up commands and gates, if git has none for them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use symphony_core::config::ProjectConfig;
use symphony_core::git_identity::{Answer, Committers};
use symphony_core::id::RunId;
use symphony_workspace::{GitProgram, Identity};

use super::agent::agent_environment;
use crate::installation::Installation;

/// Gives a command that works in a folder Symphony's name for its commits, if git would refuse them without one.
/// Variables override every configuration, so that a command has no reason to write a name into the user's.
pub(crate) fn name_committers(environment: &mut BTreeMap<OsString, OsString>, folder: &Path) {
    let answers = ask(environment, folder);
    let Identity { name, email } = Identity::symphony();
    let missing = answers.missing_variables(&name, &email, |variable| {
        environment.contains_key(OsStr::new(variable))
    });
    for (variable, value) in missing {
        environment.insert(variable.into(), value.into());
    }
}

/// Asks git whether it would refuse the commits of a project's agents because they have no name.
pub fn agents_committers(
    installation: &Installation,
    config: &ProjectConfig,
    folder: &Path,
) -> Committers {
    let nobody = RunId::parse("none").expect("a name without spaces is an id");
    let environment = agent_environment(
        &installation.environment,
        &config.env,
        &BTreeMap::new(),
        &nobody,
    );
    ask(&environment, folder)
}

fn ask(environment: &BTreeMap<OsString, OsString>, folder: &Path) -> Committers {
    match GitProgram::find() {
        Ok(git) => git.committers(folder, environment),
        // Everything else reports that git is missing.
        Err(_) => Committers {
            author: Answer::Known,
            committer: Answer::Known,
        },
    }
}
