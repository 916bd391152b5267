//! The free names of a map: which are taken, and in which spelling.

use super::key::NameRule;
use super::provider::AcpName;
use crate::agent::AgentType;
use crate::id::PhaseName;
use crate::issue::{IssueStatus, Priority};
use crate::plan::failure::FailureClass;
use crate::user::UserName;

/// Returns the canonical spelling of a free name; `None` if the rule refuses it.
pub(super) fn known_name(rule: NameRule, name: &str) -> Option<String> {
    match rule {
        NameRule::Environment => {
            let fits = !name.is_empty() && !name.contains(['=', '\0']);
            fits.then(|| name.to_owned())
        }
        NameRule::Phase | NameRule::Tracker => PhaseName::parse(name).ok().map(String::from),
        NameRule::Status => IssueStatus::NAMES.contains(&name).then(|| name.to_owned()),
        NameRule::Priority => Priority::NAMES.contains(&name).then(|| name.to_owned()),
        NameRule::AgentType => AgentType::parse(name).ok().map(String::from),
        NameRule::FailureClass => FailureClass::OF_TEXTS
            .contains(&name)
            .then(|| name.to_owned()),
        NameRule::User => UserName::parse(name).ok().map(String::from),
        NameRule::AcpProgram => AcpName::parse(name).ok().map(String::from),
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
        NameRule::Tracker => "a name of yours for the tracker (kebab-case)",
        NameRule::Status => {
            "a status (backlog, todo, in_progress, review, blocked, done, cancelled)"
        }
        NameRule::Priority => "a priority (urgent, high, medium, low, none)",
        NameRule::AcpProgram => AcpName::EXPECTED,
    }
}
