//! The free names of a map: which are taken, and in which spelling.

use super::key::NameRule;
use crate::agent::AgentType;
use crate::id::PhaseName;
use crate::plan::failure::FailureClass;
use crate::user::UserName;

/// Returns the canonical spelling of a free name; `None` if the rule refuses it.
pub(super) fn known_name(rule: NameRule, name: &str) -> Option<String> {
    match rule {
        NameRule::Environment => {
            let fits = !name.is_empty() && !name.contains(['=', '\0']);
            fits.then(|| name.to_owned())
        }
        NameRule::Phase => PhaseName::parse(name).ok().map(String::from),
        NameRule::AgentType => AgentType::parse(name).ok().map(String::from),
        NameRule::FailureClass => FailureClass::OF_TEXTS
            .contains(&name)
            .then(|| name.to_owned()),
        NameRule::User => UserName::parse(name).ok().map(String::from),
    }
}

/// Returns what a rule accepts, as part of a sentence: "expected …".
pub(super) const fn rule_expected(rule: NameRule) -> &'static str {
    match rule {
        NameRule::Environment => "the name of an environment variable",
        NameRule::Phase => "the name of a phase (kebab-case)",
        NameRule::AgentType => "the name of an agent type (kebab-case)",
        NameRule::FailureClass => {
            "a class of failures (timeout, permanent, logic, transient, resource)"
        }
        NameRule::User => UserName::EXPECTED,
    }
}
