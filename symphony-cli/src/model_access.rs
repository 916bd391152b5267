//! What a run of a provider gets in a sandbox, as `doctor` and `init` say it.

use symphony_core::config::{ProjectConfig, ProviderName, SandboxNetwork};
use symphony_core::id::RunId;
use symphony_core::listing::list_few;
use symphony_runner::environment::agent_environment;
use symphony_runner::installation::Installation;
use symphony_runner::network::{ModelReach, NetworkError, model_reach};
use symphony_runner::provider::agent_cli;

/// Servers and hosts that are named.
const NAMES_MAX: usize = 4;

/// What a run of a provider gets in a sandbox.
#[derive(Debug)]
pub(crate) struct ModelAccess {
    /// What it gets, in sentences.
    pub(crate) words: String,
    /// What it does not get although its settings name it.
    pub(crate) warning: Option<String>,
}

/// Finds out; `None` where nothing keeps a run from its settings and its models.
///
/// # Errors
/// When a base URL or a credential cannot be used. No run starts then.
pub(crate) fn model_access(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> Result<Option<ModelAccess>, NetworkError> {
    let is_shut = config.sandbox.is_on() && config.sandbox.network != SandboxNetwork::Host;
    let Some(cli) = agent_cli(provider).filter(|_| is_shut) else {
        return Ok(None);
    };
    let reach = reach_of(installation, config, provider)?;
    Ok(Some(access(cli.title, &reach, &config.sandbox.hosts)))
}

/// Returns the servers that a provider's settings and credentials lead to, as far as their keys can stay outside.
pub(crate) fn servers_of_models(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> Vec<String> {
    reach_of(installation, config, provider).map_or_else(|_| Vec::new(), |reach| reach.outside)
}

fn reach_of(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> Result<ModelReach, NetworkError> {
    let nobody = RunId::parse("none").expect("a name without spaces is an id");
    let own = &config.providers.settings(provider).env;
    let environment = agent_environment(&installation.environment, &config.env, own, &nobody);
    model_reach(provider, &environment)
}

/// Returns it in one text; `None` where nothing keeps a run from its settings and its models.
pub(crate) fn access_of(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> Option<String> {
    match model_access(installation, config, provider) {
        Ok(found) => {
            let ModelAccess { words, warning } = found?;
            let warning = warning.map_or_else(String::new, |warning| format!(". {warning}"));
            Some(format!("in the sandbox, {words}{warning}"))
        }
        Err(error) => Some(format!("no agent can start in the sandbox: {error}")),
    }
}

fn access(title: &str, reach: &ModelReach, hosts: &[String]) -> ModelAccess {
    let few = |names: &[String]| list_few(names.iter().map(String::as_str), NAMES_MAX);
    let mut parts = Vec::new();
    if !reach.outside.is_empty() {
        parts.push(format!(
            "reaches {} through Symphony, which keeps the key outside and counts the tokens",
            few(&reach.outside)
        ));
    }
    if !reach.hosts.is_empty() {
        parts.push(format!("may reach {}", few(&reach.hosts)));
    }
    if !reach.files.is_empty() {
        parts.push(format!("gets a copy of {}", few(&reach.files)));
    }
    let words = if parts.is_empty() {
        format!("{title} cannot reach a model: it needs a key or a login")
    } else {
        format!("{title} {}", parts.join("; "))
    };
    let warning = (!reach.unknown.is_empty() && hosts.is_empty()).then(|| {
        format!(
            "Symphony does not know the server of {} in the settings of {title}, so a run in the sandbox cannot reach it",
            few(&reach.unknown)
        )
    });
    ModelAccess { words, warning }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_gets_is_said_and_what_it_lacks_is_a_warning() {
        let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let reach =
            |outside: &[&str], hosts: &[&str], files: &[&str], unknown: &[&str]| ModelReach {
                outside: texts(outside),
                hosts: texts(hosts),
                files: texts(files),
                unknown: texts(unknown),
            };
        for (reach, hosts, words, has_warning) in [
            (
                reach(
                    &["https://a.example/v1"],
                    &["b.example"],
                    &["~/.x/y.json"],
                    &[],
                ),
                &[][..],
                "opencode reaches https://a.example/v1 through Symphony, which keeps the key outside and counts the tokens; \
                 may reach b.example; gets a copy of ~/.x/y.json",
                false,
            ),
            (
                reach(&[], &["b.example"], &[], &["c"]),
                &[],
                "opencode may reach b.example",
                true,
            ),
            (
                reach(&[], &["b.example"], &[], &["c"]),
                &["c.example"],
                "opencode may reach b.example",
                false,
            ),
            (
                reach(&[], &[], &[], &[]),
                &[],
                "opencode cannot reach a model: it needs a key or a login",
                false,
            ),
        ] {
            let found = access("opencode", &reach, &texts(hosts) as &Vec<String>);
            assert_eq!(found.words, words);
            assert_eq!(found.warning.is_some(), has_warning, "{reach:?}");
        }
    }
}
