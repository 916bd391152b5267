//! The settings of each provider, and which program `acp` means.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::provider::{AcpName, NamedProvider, ProviderName};
use super::value::{CommandLine, CommandOutput, Millis};
use crate::nearest::nearest;
use crate::wording::any_of;

/// Settings of each provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Providers {
    /// What every provider has, in the order of [`ProviderName::ALL`]; see [`Providers::settings`].
    pub each: [ProviderSettings; ProviderName::ALL.len()],
    /// What the provider `command` runs; set whenever it is the project's provider.
    pub command_line: Option<CommandLine>,
    /// What the provider `command` writes.
    pub command_output: CommandOutput,
    /// The programs that speak the Agent Client Protocol.
    pub acp: BTreeMap<AcpName, AcpProgram>,
    /// The scenario that the provider `scripted` plays.
    pub scenario: Option<PathBuf>,
}

/// What every provider has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// The program: a bare name is looked up in `PATH`.
    pub binary: Option<PathBuf>,
    /// Arguments added to Symphony's own.
    pub args: Vec<String>,
    /// Environment variables of its agents.
    pub env: BTreeMap<String, String>,
    /// First hold when no reset time was reported.
    pub hold_ms: Millis,
}

/// A program that speaks the Agent Client Protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcpProgram {
    /// What starts it; set whenever the program is used.
    pub command: Option<CommandLine>,
    /// The model that its agents use if nothing else names one.
    pub model: Option<String>,
    /// What every provider has; its program is in the command.
    pub settings: ProviderSettings,
}

/// Why no program can be meant by `acp` or `acp.NAME`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcpProblem {
    /// No program is configured at all.
    #[error("`providers.acp.command` is not set")]
    Nothing,
    /// Several programs are configured, none of them is `default`, and none was named.
    #[error("`acp` could be {}; name one of them", any_of(&forms(names)))]
    Several {
        /// The programs.
        names: Vec<AcpName>,
    },
    /// No program of this name is configured.
    #[error(
        "`providers.acp.{name}` is not set{}",
        nearest.as_ref().map_or_else(String::new, |nearest| format!("; did you mean `acp.{nearest}`?"))
    )]
    Unknown {
        /// The name.
        name: AcpName,
        /// The name that was probably meant.
        nearest: Option<AcpName>,
    },
    /// The program has settings, but no command.
    #[error("`providers.acp.{name}.command` is not set")]
    NoCommand {
        /// The program.
        name: AcpName,
    },
}

/// Returns the names as they are written elsewhere.
fn forms(names: &[AcpName]) -> Vec<String> {
    names.iter().map(|name| format!("`acp.{name}`")).collect()
}

impl Providers {
    /// Returns what every provider has.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is an element for each name, in the order of the names"
    )]
    pub const fn settings(&self, provider: ProviderName) -> &ProviderSettings {
        &self.each[provider as usize]
    }

    /// As [`Self::settings`], of one program if the provider is one of several.
    pub fn settings_of(&self, provider: &NamedProvider) -> &ProviderSettings {
        let program = self
            .program_of(provider)
            .and_then(|name| self.acp.get(name));
        program.map_or_else(
            || self.settings(provider.provider()),
            |program| &program.settings,
        )
    }

    /// Returns the program that `acp` or `acp.NAME` means, with its command.
    ///
    /// # Errors
    /// When there is no such program, or it is not clear which one is meant.
    pub fn acp_program(
        &self,
        named: Option<&AcpName>,
    ) -> Result<(&AcpName, &CommandLine), AcpProblem> {
        let name = match named {
            Some(name) => name,
            None => self.unnamed_program()?,
        };
        let Some((name, program)) = self.acp.get_key_value(name) else {
            let known = self.acp.keys().map(AcpName::as_str);
            let nearest = nearest(name.as_str(), known);
            return Err(AcpProblem::Unknown {
                name: name.clone(),
                nearest: nearest.and_then(|nearest| AcpName::parse(nearest).ok()),
            });
        };
        match &program.command {
            Some(command) => Ok((name, command)),
            None => Err(AcpProblem::NoCommand { name: name.clone() }),
        }
    }

    /// Returns the program that `acp` alone means: the one called `default`, or the only one.
    fn unnamed_program(&self) -> Result<&AcpName, AcpProblem> {
        let default = self
            .acp
            .keys()
            .find(|name| name.as_str() == AcpName::DEFAULT);
        let mut names = self.acp.keys();
        match (default, names.next(), names.next()) {
            (Some(only), _, _) | (None, Some(only), None) => Ok(only),
            (None, None, _) => Err(AcpProblem::Nothing),
            (None, Some(_), Some(_)) => Err(AcpProblem::Several {
                names: self.acp.keys().cloned().collect(),
            }),
        }
    }

    fn program_of<'n>(&'n self, provider: &'n NamedProvider) -> Option<&'n AcpName> {
        match provider {
            NamedProvider::Acp(name) => Some(name),
            NamedProvider::Plain(ProviderName::Acp) => self.unnamed_program().ok(),
            NamedProvider::Plain(_) => None,
        }
    }

    /// Returns the one name under which holds, sessions and runs of a provider are kept: `acp.NAME` where `acp` alone is
    /// written. A text that names no provider is its own name.
    pub fn full_name<'t>(&'t self, text: &'t str) -> &'t str {
        if text == ProviderName::Acp.name()
            && let Ok(name) = self.unnamed_program()
        {
            return name.as_provider();
        }
        text
    }

    /// Returns the model of a provider that is one of several programs, if its settings name one.
    pub fn model_of(&self, provider: &str) -> Option<&str> {
        let named = NamedProvider::parse(provider).ok()?;
        self.acp.get(self.program_of(&named)?)?.model.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProjectConfig;

    fn name(text: &str) -> AcpName {
        AcpName::parse(text).unwrap()
    }

    fn providers(programs: &[&str]) -> Providers {
        let mut providers = ProjectConfig::defaults("/p").providers;
        providers.acp = programs
            .iter()
            .map(|program| {
                let settings = AcpProgram {
                    command: Some(CommandLine::Shell((*program).to_owned())),
                    model: Some(format!("{program}-large")),
                    settings: ProviderSettings {
                        args: vec![(*program).to_owned()],
                        ..ProviderSettings::default()
                    },
                };
                (name(program), settings)
            })
            .collect();
        providers
    }

    #[test]
    fn acp_alone_means_the_default_program_or_the_only_one() {
        let unknown = |text, nearest: Option<&str>| AcpProblem::Unknown {
            name: name(text),
            nearest: nearest.map(name),
        };
        for (programs, asked, expected) in [
            (&[][..], None, Err(AcpProblem::Nothing)),
            (&["goose"], None, Ok("goose")),
            (&["default", "goose"], None, Ok("default")),
            (&["default", "goose"], Some("goose"), Ok("goose")),
            (
                &["goose", "kimi"],
                None,
                Err(AcpProblem::Several {
                    names: vec![name("goose"), name("kimi")],
                }),
            ),
            (&["goose", "kimi"], Some("kimi"), Ok("kimi")),
            (
                &["goose"],
                Some("gose"),
                Err(unknown("gose", Some("goose"))),
            ),
            (&["goose"], Some("default"), Err(unknown("default", None))),
            (&[], Some("goose"), Err(unknown("goose", None))),
        ] {
            let providers = providers(programs);
            let asked = asked.map(name);
            let found = providers.acp_program(asked.as_ref());
            let found = found.map(|(name, command)| (name.as_str(), command.to_string()));
            let expected = expected.map(|name| (name, name.to_owned()));
            assert_eq!(found, expected, "{programs:?} {asked:?}");
        }
        let mut providers = providers(&["goose"]);
        providers.acp.get_mut(&name("goose")).unwrap().command = None;
        let problem = AcpProblem::NoCommand {
            name: name("goose"),
        };
        assert_eq!(providers.acp_program(None), Err(problem));
    }

    #[test]
    fn a_program_has_one_name_settings_and_a_model_of_its_own() {
        for (programs, text, full, model) in [
            (&["goose"][..], "acp", "acp.goose", Some("goose-large")),
            (&["goose"], "acp.goose", "acp.goose", Some("goose-large")),
            (
                &["default", "a"],
                "acp",
                "acp.default",
                Some("default-large"),
            ),
            (&["a", "b"], "acp", "acp", None),
            (&["a"], "acp.c", "acp.c", None),
            (&["a"], "codex-cli", "codex-cli", None),
            (&["a"], "of another version", "of another version", None),
        ] {
            let providers = providers(programs);
            assert_eq!(providers.full_name(text), full, "{programs:?}");
            assert_eq!(providers.model_of(text), model, "{programs:?} {text}");
            if let Ok(named) = NamedProvider::parse(text) {
                let args = &providers.settings_of(&named).args;
                assert_eq!(args.len(), usize::from(model.is_some()), "{text}");
            }
        }
    }

    #[test]
    fn a_problem_says_what_to_write() {
        let providers = providers(&["goose", "kimi"]);
        for (asked, expected) in [
            (
                None,
                "`acp` could be `acp.goose` or `acp.kimi`; name one of them",
            ),
            (
                Some("gose"),
                "`providers.acp.gose` is not set; did you mean `acp.goose`?",
            ),
        ] {
            let asked = asked.map(name);
            let problem = providers.acp_program(asked.as_ref()).unwrap_err();
            assert_eq!(problem.to_string(), expected);
        }
    }
}
