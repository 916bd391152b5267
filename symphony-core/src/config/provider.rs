//! The providers of agents, and how the configuration, an issue, a profile and a run name one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::closed_set::{UnknownName, closed_set};
use crate::id::IdError;

/// Longest name of a program that speaks the Agent Client Protocol, in characters: it is shown beside each of its runs.
pub(super) const ACP_NAME_CHARS_MAX: usize = 40;

closed_set!(
    /// The program that runs agents. `auto` tries the agents' CLIs in this order.
    ProviderName, "provider", {
        /// Anthropic's CLI.
        ClaudeCli = "claude-cli",
        /// `OpenAI`'s CLI, one prompt a process.
        CodexCli = "codex-cli",
        /// `OpenAI`'s CLI by its app-server protocol, which takes messages while it works.
        CodexAppServer = "codex-app-server",
        /// opencode, by the Agent Client Protocol.
        Opencode = "opencode",
        /// Qwen Code, by the Agent Client Protocol.
        Qwen = "qwen",
        /// Google's CLI, by the Agent Client Protocol.
        Gemini = "gemini",
        /// GitHub's CLI, by the Agent Client Protocol.
        Copilot = "copilot",
        /// Any program that speaks the Agent Client Protocol, see `providers.acp`.
        Acp = "acp",
        /// Any program, see `providers.command`.
        Command = "command",
        /// The built-in offline agent, see `providers.scripted`.
        Scripted = "scripted",
    }
);

/// The name of a program below `providers.acp`, kept as it is written elsewhere: `acp.goose`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AcpName(String);

impl AcpName {
    /// The program that is meant where `providers.acp` has the keys of a single one.
    pub const DEFAULT: &'static str = "default";
    const PREFIX: &'static str = "acp.";
    /// What a name is like, as part of a sentence.
    pub const EXPECTED: &'static str = "the name of a program (lower-case letters, digits and hyphens, at most 40, a letter or digit first)";

    /// Parses a name.
    ///
    /// # Errors
    /// When it has another form.
    pub fn parse(text: impl Into<String>) -> Result<Self, IdError> {
        let text = text.into();
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if text.len() <= ACP_NAME_CHARS_MAX
            && text.starts_with(is_plain)
            && text.chars().all(|c| is_plain(c) || c == '-')
        {
            return Ok(Self(format!("{}{text}", Self::PREFIX)));
        }
        Err(IdError {
            found: text,
            expected: Self::EXPECTED,
        })
    }

    /// Returns the name alone, as it is in the configuration.
    pub fn as_str(&self) -> &str {
        self.0.strip_prefix(Self::PREFIX).unwrap_or_default()
    }

    /// Returns the provider that it is: `acp.goose`.
    pub fn as_provider(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AcpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl TryFrom<String> for AcpName {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

impl From<AcpName> for String {
    fn from(name: AcpName) -> Self {
        name.as_str().to_owned()
    }
}

/// A provider as it is written: `codex-cli`, `acp`, or `acp.goose` for one of several programs.
///
/// The form follows the key, `providers.acp.goose`. A colon would not do: it separates the provider from the model in the key
/// of a hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum NamedProvider {
    /// By its name alone. `acp` then means the program `default`, or the only one that is configured.
    Plain(ProviderName),
    /// One of the programs below `providers.acp`.
    Acp(AcpName),
}

impl NamedProvider {
    /// The forms of all values, for lists of what can be written.
    pub const NAMES: &'static [&'static str] = &{
        let mut names = [Self::FORM_OF_ACP; ProviderName::NAMES.len() + 1];
        let (providers, _) = names.split_at_mut(ProviderName::NAMES.len());
        providers.copy_from_slice(ProviderName::NAMES);
        names
    };
    const FORM_OF_ACP: &'static str = "acp.NAME";

    /// Parses a provider.
    ///
    /// # Errors
    /// When the text is not a provider; the error lists what can be written.
    pub fn parse(text: &str) -> Result<Self, UnknownName> {
        if let Some(name) = text.strip_prefix(AcpName::PREFIX)
            && let Ok(name) = AcpName::parse(name)
        {
            return Ok(Self::Acp(name));
        }
        let plain = ProviderName::parse(text).map(Self::Plain);
        plain.map_err(|unknown| UnknownName {
            expected: Self::NAMES,
            ..unknown
        })
    }

    /// Returns which kind of provider it is.
    pub const fn provider(&self) -> ProviderName {
        match self {
            Self::Plain(provider) => *provider,
            Self::Acp(_) => ProviderName::Acp,
        }
    }

    /// Returns the program below `providers.acp` that is named, if one is.
    pub const fn program(&self) -> Option<&AcpName> {
        match self {
            Self::Plain(_) => None,
            Self::Acp(name) => Some(name),
        }
    }
}

impl From<ProviderName> for NamedProvider {
    fn from(provider: ProviderName) -> Self {
        Self::Plain(provider)
    }
}

impl fmt::Display for NamedProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(provider) => f.pad(provider.name()),
            Self::Acp(name) => f.pad(name.as_provider()),
        }
    }
}

impl TryFrom<String> for NamedProvider {
    type Error = UnknownName;
    fn try_from(text: String) -> Result<Self, UnknownName> {
        Self::parse(&text)
    }
}

impl From<NamedProvider> for String {
    fn from(provider: NamedProvider) -> Self {
        provider.to_string()
    }
}

/// A value of the key `provider`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum ProviderChoice {
    /// The first agent's CLI that is found, in the order of [`ProviderName`]; an error if there is none.
    Auto,
    /// This provider, whatever else is installed.
    Named(NamedProvider),
}

impl ProviderChoice {
    /// The forms of all values: `auto`, then the providers.
    pub const NAMES: &'static [&'static str] = &{
        let mut names = [Self::AUTO; NamedProvider::NAMES.len() + 1];
        let (_, providers) = names.split_at_mut(1);
        providers.copy_from_slice(NamedProvider::NAMES);
        names
    };
    const AUTO: &'static str = "auto";

    /// Parses a value.
    ///
    /// # Errors
    /// When the text is not one of the values; the error lists them.
    pub fn parse(text: &str) -> Result<Self, UnknownName> {
        if text == Self::AUTO {
            return Ok(Self::Auto);
        }
        let named = NamedProvider::parse(text).map(Self::Named);
        named.map_err(|unknown| UnknownName {
            expected: Self::NAMES,
            ..unknown
        })
    }

    /// Returns the provider that was named, nothing for `auto`.
    pub const fn named(&self) -> Option<&NamedProvider> {
        match self {
            Self::Auto => None,
            Self::Named(name) => Some(name),
        }
    }
}

impl TryFrom<String> for ProviderChoice {
    type Error = UnknownName;
    fn try_from(text: String) -> Result<Self, UnknownName> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_chosen_by_its_name_or_by_auto() {
        assert_eq!(ProviderChoice::parse("auto"), Ok(ProviderChoice::Auto));
        for name in ProviderName::ALL {
            let named = NamedProvider::Plain(*name);
            assert_eq!(NamedProvider::parse(name.name()), Ok(named.clone()));
            let choice = ProviderChoice::parse(name.name());
            assert_eq!(choice, Ok(ProviderChoice::Named(named)));
        }
        let unknown = ProviderChoice::parse("claude").unwrap_err();
        assert_eq!(unknown.expected, ProviderChoice::NAMES);
        let names = ["auto"].iter().chain(ProviderName::NAMES);
        assert!(names.chain(&["acp.NAME"]).eq(ProviderChoice::NAMES));
    }

    #[test]
    fn one_of_several_programs_is_named_as_its_key_is() {
        for (text, program) in [
            ("acp.goose", Some("goose")),
            ("acp.2-b", Some("2-b")),
            ("acp.default", Some("default")),
            ("acp", None),
            ("codex-cli", None),
        ] {
            let named = NamedProvider::parse(text).unwrap();
            assert_eq!(named.program().map(AcpName::as_str), program, "{text}");
            assert_eq!(named.to_string(), text);
            let json = serde_json::to_value(&named).unwrap();
            assert_eq!(serde_json::from_value(json).ok(), Some(named));
        }
        let long = format!("acp.{}", "x".repeat(ACP_NAME_CHARS_MAX + 1));
        for text in [
            "acp.",
            "acp.-a",
            "acp.Goose",
            "acp.a.b",
            "acp.a b",
            "acp.a/b",
            "acp:a",
            "qwen.a",
            ".a",
            "ACP.a",
            &long,
        ] {
            let unknown = NamedProvider::parse(text).unwrap_err();
            assert_eq!(unknown.expected, NamedProvider::NAMES, "{text}");
        }
    }
}
