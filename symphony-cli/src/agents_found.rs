//! Which agents' CLIs are installed, and with which provider workers and judges would run.

use std::path::PathBuf;

use serde::Serialize;
use symphony_core::agent::AgentType;
use symphony_core::config::{ProjectConfig, ProviderName};
use symphony_core::profile::ProviderSource;
use symphony_runner::RunnerError;
use symphony_runner::environment::agent_search_path;
use symphony_runner::installation::Installation;
use symphony_runner::models::{ChosenProvider, provider_of_agent};
use symphony_runner::provider::{AgentCli, agent_clis, program_version};

/// The CLI of an agent that is installed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FoundAgent {
    /// The providers that start it: some CLIs can be talked to in more than one way.
    pub(crate) providers: Vec<ProviderName>,
    /// What people call it.
    #[serde(skip)]
    pub(crate) title: &'static str,
    /// Where it is.
    pub(crate) program: PathBuf,
    /// Its version; none if it did not print one.
    pub(crate) version: Option<String>,
}

/// The program of one or more providers: some CLIs can be talked to in more than one way.
#[derive(Debug)]
pub(crate) struct LookedFor {
    /// The providers, the first one before those that share its program.
    pub(crate) clis: Vec<&'static AgentCli>,
    /// The program that the configuration names, if it names one.
    pub(crate) configured: Option<PathBuf>,
    /// Where it is; none if it is not installed.
    pub(crate) program: Option<PathBuf>,
}

/// Looks for the CLI of each agent.
pub(crate) fn look_for_agents(
    installation: &Installation,
    config: &ProjectConfig,
) -> Vec<LookedFor> {
    let path = agent_search_path(&installation.environment, &config.env);
    let looked = agent_clis().map(|cli| {
        let configured = config.providers.settings(cli.name).binary.clone();
        let program = cli.find(configured.as_deref(), &path);
        (cli, configured, program)
    });
    grouped(looked)
}

/// Joins the providers that have the same program, found or not.
fn grouped(
    looked: impl Iterator<Item = (&'static AgentCli, Option<PathBuf>, Option<PathBuf>)>,
) -> Vec<LookedFor> {
    let mut all: Vec<LookedFor> = Vec::new();
    for (cli, configured, program) in looked {
        let same = all.iter_mut().find(|known| {
            let has_its_name = || known.clis.iter().any(|other| other.program == cli.program);
            let is_missing_too = || known.configured == configured && has_its_name();
            known.program == program && (program.is_some() || is_missing_too())
        });
        match same {
            Some(known) => known.clis.push(cli),
            None => all.push(LookedFor {
                clis: vec![cli],
                configured,
                program,
            }),
        }
    }
    all
}

/// Looks for the CLI of each agent, and asks those that are there for their versions.
pub(crate) fn found_agents(installation: &Installation, config: &ProjectConfig) -> Vec<FoundAgent> {
    let path = agent_search_path(&installation.environment, &config.env);
    let looked = look_for_agents(installation, config).into_iter();
    looked
        .filter_map(|LookedFor { clis, program, .. }| {
            let program = program?;
            Some(FoundAgent {
                providers: clis.iter().map(|cli| cli.name).collect(),
                title: clis.first()?.title,
                version: program_version(&program, &path).ok(),
                program,
            })
        })
        .collect()
}

/// With what the agents of a project would run.
#[derive(Debug)]
pub(crate) struct UsedProviders {
    worker: ChosenProvider,
    /// None if no judges review.
    judge: Option<ChosenProvider>,
}

impl UsedProviders {
    /// Finds out.
    ///
    /// # Errors
    /// When the project's prompts cannot be read.
    pub(crate) fn of(
        installation: &Installation,
        config: &ProjectConfig,
    ) -> Result<Self, RunnerError> {
        let library = installation.library(config)?;
        let of = |agent| provider_of_agent(installation, config, &library, &agent);
        Ok(Self {
            worker: of(AgentType::Worker),
            judge: config.judge_enabled.then(|| of(AgentType::Judge)),
        })
    }

    /// Returns why workers or judges cannot start, if so.
    pub(crate) fn problem(&self) -> Option<String> {
        let worker = self.worker.provider.as_ref().err();
        let worker = worker.map(|problem| format!("workers cannot start: {problem}"));
        let judge = self.judge.as_ref().and_then(|j| j.provider.as_ref().err());
        worker.or_else(|| judge.map(|problem| format!("judges cannot start: {problem}")))
    }

    /// Returns what is used, and why, as the end of a sentence: `workers and judges run with …`. `None` if one of them
    /// cannot start.
    pub(crate) fn in_words(&self) -> Option<String> {
        let worker = named(&self.worker)?;
        let Some(judge) = &self.judge else {
            return Some(format!("workers run with {worker}"));
        };
        let judge = named(judge)?;
        Some(if worker == judge {
            format!("workers and judges run with {worker}")
        } else {
            format!("workers run with {worker}, and judges with {judge}")
        })
    }
}

fn named(chosen: &ChosenProvider) -> Option<String> {
    let provider = chosen.provider.as_ref().ok()?;
    let place = chosen.source.map(ProviderSource::words)?;
    Some(format!("{provider} ({place})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_with_the_same_program_are_looked_for_once() {
        type Places = (Option<PathBuf>, Option<PathBuf>);
        let path = |text: &str| Some(PathBuf::from(text));
        let groups = |place: &dyn Fn(&AgentCli) -> Places| {
            let all = agent_clis().map(|cli| {
                let (configured, program) = place(cli);
                (cli, configured, program)
            });
            let groups = grouped(all).into_iter();
            let sizes: Vec<usize> = groups.map(|group| group.clis.len()).collect();
            sizes
        };
        // Codex and its app-server are one program
        assert_eq!(groups(&|_| (None, None)), [1, 2, 1, 1, 1, 1]);
        assert_eq!(groups(&|cli| (None, path(cli.program))), [1, 2, 1, 1, 1, 1]);
        let another = |cli: &AgentCli| match cli.name {
            ProviderName::CodexAppServer => (path("/opt/codex"), path("/opt/codex")),
            _ => (None, path(cli.program)),
        };
        assert_eq!(groups(&another), [1, 1, 1, 1, 1, 1, 1]);
        let gone = |cli: &AgentCli| match cli.name {
            ProviderName::CodexAppServer => (path("/opt/codex"), None),
            _ => (None, None),
        };
        assert_eq!(groups(&gone), [1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn what_is_used_is_said_once_where_it_is_the_same() {
        use ProviderSource::{Found, Profile, Project};
        let chosen = |name: &str, source| ChosenProvider {
            provider: Ok(name.to_owned()),
            source: Some(source),
        };
        let missing = || ChosenProvider {
            provider: Err("no CLI".to_owned()),
            source: None,
        };
        for (worker, judge, words, problem) in [
            (
                chosen("claude-cli", Found),
                Some(chosen("claude-cli", Found)),
                Some("workers and judges run with claude-cli (the first one that is installed)"),
                None,
            ),
            (
                chosen("codex-cli", Profile),
                Some(chosen("claude-cli", Project)),
                Some(
                    "workers run with codex-cli (set in the profile), and judges with claude-cli (set in the \
                     configuration)",
                ),
                None,
            ),
            (
                chosen("codex-cli", Project),
                None,
                Some("workers run with codex-cli (set in the configuration)"),
                None,
            ),
            (
                missing(),
                Some(missing()),
                None,
                Some("workers cannot start: no CLI"),
            ),
            (
                chosen("codex-cli", Project),
                Some(missing()),
                None,
                Some("judges cannot start: no CLI"),
            ),
        ] {
            let used = UsedProviders { worker, judge };
            assert_eq!(used.in_words().as_deref(), words);
            assert_eq!(used.problem().as_deref(), problem);
        }
    }
}
