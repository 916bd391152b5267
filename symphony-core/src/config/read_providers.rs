//! Reads the settings of the providers, and checks whether the one that is chosen can be used.

use std::collections::BTreeMap;

use super::defaults;
use super::path::KeyPath;
use super::provider::{AcpName, NamedProvider, ProviderName};
use super::providers::{AcpProblem, AcpProgram, ProviderSettings, Providers};
use super::read::ConfigReader;
use super::settings::ProjectConfig;
use super::value::{CommandOutput, Millis};
use crate::wording::any_of;

impl ConfigReader<'_> {
    #[expect(
        clippy::indexing_slicing,
        reason = "the array is as long as the list of names"
    )]
    pub(super) fn providers(&mut self) -> Providers {
        Providers {
            each: std::array::from_fn(|at| self.provider(ProviderName::ALL[at].name())),
            command_line: self.get("providers.command.command"),
            command_output: self.get_or("providers.command.output", CommandOutput::ClaudeStream),
            acp: self.acp_programs(),
            scenario: self.path("providers.scripted.scenario"),
        }
    }

    /// Reads the settings of a provider, or of one of several programs, by its name below `providers`.
    fn provider(&mut self, name: &str) -> ProviderSettings {
        ProviderSettings {
            binary: self.program(&format!("providers.{name}.binary")),
            args: self.get_or(&format!("providers.{name}.args"), Vec::new()),
            env: self.map(&format!("providers.{name}.env")),
            // a program below `providers.acp` has no defaults in the table, since its name is free
            hold_ms: self.get_or(
                &format!("providers.{name}.hold_ms"),
                Millis::new(defaults::HOLD_MS),
            ),
        }
    }

    fn acp_programs(&mut self) -> BTreeMap<AcpName, AcpProgram> {
        let above = KeyPath::of("providers.acp");
        let names = self.effective.names_below(&above).into_iter();
        let names: Vec<AcpName> = names.filter_map(|name| AcpName::parse(name).ok()).collect();
        let programs = names.into_iter().map(|name| {
            let program = AcpProgram {
                command: self.get(&format!("providers.acp.{name}.command")),
                model: self.get(&format!("providers.acp.{name}.model")),
                settings: self.provider(&format!("acp.{name}")),
            };
            (name, program)
        });
        programs.collect()
    }

    pub(super) fn check_provider(&mut self, config: &ProjectConfig) {
        let providers = &config.providers;
        let Some(named) = config.provider.named() else {
            return;
        };
        let instead = match named.provider() {
            ProviderName::Command if providers.command_line.is_none() => {
                "`providers.command.command` to be set".to_owned()
            }
            ProviderName::Acp => match providers.acp_program(named.program()) {
                Ok(_) => return,
                Err(problem) => acp_instead(&problem),
            },
            _ => return,
        };
        let is_unknown = named
            .program()
            .is_some_and(|name| !providers.acp.contains_key(name));
        let found = if is_unknown {
            format!("`{named}`, which is not configured")
        } else {
            format!("`{named}` alone")
        };
        let expected = format!("another provider, or {instead}");
        self.problem(&KeyPath::of("provider"), found, expected);
    }
}

/// Returns what makes a program usable by its name, as the end of "expected another provider, or".
fn acp_instead(problem: &AcpProblem) -> String {
    match problem {
        AcpProblem::Nothing => "`providers.acp.command` to be set".to_owned(),
        AcpProblem::Several { names } => {
            let names = names.iter().cloned().map(NamedProvider::Acp);
            any_of(&names.map(|name| format!("`{name}`")).collect::<Vec<_>>())
        }
        AcpProblem::Unknown {
            nearest: Some(nearest),
            ..
        } => format!("`{}`", NamedProvider::Acp(nearest.clone())),
        AcpProblem::Unknown { name, .. } | AcpProblem::NoCommand { name } => {
            format!("`providers.acp.{name}.command` to be set")
        }
    }
}
