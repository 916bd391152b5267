//! Tools: lists that have no effect, and texts that name what their reader lacks.

use symphony_core::agent::AgentType;
use symphony_core::profile::{AgentProfile, ToolWarning};
use symphony_core::tools::{Assignment, Role, Tool, ToolSet, role_for};

use super::finding::{Finding, LintRule, Severity};
use super::library::{Parsed, line_of};
use super::order::is_negated;
use super::prose::{Sentence, Word, sentences};
use super::text::{PromptText, TextKind};

/// Words that make an order, or advice, of the tool after them.
const CALLS: [&str; 9] = [
    "call", "calls", "calling", "use", "uses", "using", "with", "through", "via",
];

/// Words after a name that say that it is a piece of code of the project.
const PLACES: [&str; 3] = ["in", "from", "of"];

/// Reports what is wrong with a profile's tool lists, though each name is one of a tool's.
pub(super) fn tool_lists(text: &PromptText<'_>, parsed: &Parsed<'_>) -> Vec<Finding> {
    let Some((_, profile)) = parsed
        .profiles
        .values()
        .find(|(holds, _)| text.kind == TextKind::Profile && holds.file == text.file)
    else {
        return Vec::new();
    };
    let finding = |warning: ToolWarning| {
        let is_fatal = |role: Role| {
            let duty = ToolSet::of(role.duty());
            duty.intersection(profile.allowed(role)).is_empty()
                && readers(text, parsed)
                    .iter()
                    .any(|(reader, _)| *reader == role)
        };
        let (field, severity) = match &warning {
            ToolWarning::NotGranted(_) => ("tools:", Severity::Warning),
            ToolWarning::CannotReport { role, .. } if is_fatal(*role) => {
                (narrowing(profile), Severity::Error)
            }
            ToolWarning::CannotReport { .. } => (narrowing(profile), Severity::Warning),
        };
        Finding {
            file: text.file.to_owned(),
            line: line_of(text.text, field),
            column: None,
            severity,
            rule: LintRule::ToolLists,
            found: warning.to_string(),
            advice: format!(
                "correct the list; `symphony profile show {}` prints the tools that are left",
                profile.agent
            ),
        }
    };
    profile.warnings().into_iter().map(finding).collect()
}

/// The field that takes tools away.
fn narrowing(profile: &AgentProfile) -> &'static str {
    if profile.tools.tools() == ToolSet::ALL {
        "disallowedTools:"
    } else {
        "tools:"
    }
}

/// Reports tools that a text tells its reader to use and that none of its readers has.
pub(super) fn tool_names(
    text: &PromptText<'_>,
    body: &str,
    first_line: usize,
    parsed: &Parsed<'_>,
) -> Vec<Finding> {
    let readers = readers(text, parsed);
    let Some((role, _)) = readers.first() else {
        return Vec::new();
    };
    let allowed = readers
        .iter()
        .fold(ToolSet::EMPTY, |all, (_, tools)| all.union(*tools));
    let mut found = Vec::new();
    for sentence in sentences(body, first_line) {
        for (tool, line) in named(&sentence) {
            if allowed.contains(tool) {
                continue;
            }
            found.push(LintRule::ToolNames.warning(
                text,
                line,
                format!("names the tool `{tool}`, which its reader does not have as {role}"),
                "remove it from the text, or move it to the text of an agent that has the tool",
            ));
        }
    }
    found
}

/// Returns the tools that a sentence tells its reader to use, each with its line.
fn named(sentence: &Sentence<'_>) -> Vec<(Tool, usize)> {
    let mut found = Vec::new();
    if is_negated(&sentence.clauses) {
        return found;
    }
    for (number, clause) in sentence.clauses.iter().enumerate() {
        for (index, word) in clause.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| clause.get(before));
            let is_first = sentence.opens_item && index == 0 && number == 0;
            let is_ordered = before.is_some_and(|before| CALLS.iter().any(|call| before.is(call)));
            let is_of_project = clause
                .get(index + 1)
                .is_some_and(|after| PLACES.iter().any(|place| after.is(place)));
            if (is_first || is_ordered)
                && !is_of_project
                && let Some(tool) = tool_of(word)
            {
                found.push((tool, word.line));
            }
        }
    }
    found
}

/// Returns the tool that a span of code names, with the server's name in front or without.
fn tool_of(word: &Word<'_>) -> Option<Tool> {
    let name = word
        .text
        .strip_prefix("mcp__symphony__")
        .unwrap_or(word.text);
    word.is_code.then(|| Tool::parse(name).ok()).flatten()
}

/// Returns the roles of those who read a text, each with the tools it has there; none for what agents of every role read.
pub(super) fn readers(text: &PromptText<'_>, parsed: &Parsed<'_>) -> Vec<(Role, ToolSet)> {
    let of_agent = |agent: &AgentType, role: Role| {
        let narrowed = parsed
            .profiles
            .get(agent)
            .map(|(_, profile)| profile.allowed(role));
        (role, narrowed.unwrap_or_else(|| role.allowed()))
    };
    match &text.kind {
        TextKind::Profile => {
            let is_this =
                |(_, (holds, _)): &(&AgentType, &(&PromptText<'_>, _))| holds.file == text.file;
            let Some((agent, _)) = parsed.profiles.iter().find(is_this) else {
                return Vec::new();
            };
            let roles = Role::with_profile(agent).iter();
            roles.map(|role| of_agent(agent, *role)).collect()
        }
        TextKind::Contract => {
            let is_this = |(holds, _): &&(&PromptText<'_>, _)| holds.file == text.file;
            let Some((_, contract)) = parsed.contracts.values().find(is_this) else {
                return Vec::new();
            };
            let agent = &contract.dispatch_profile;
            let role = role_for(agent, &Assignment::Issue(Some(contract.phase.clone())));
            vec![of_agent(agent, role)]
        }
        TextKind::Override => {
            let contract = parsed.contracts.values().find(|(_, contract)| {
                text.stem() == format!("{}-{}", contract.dispatch_profile, contract.phase)
            });
            let Some((_, contract)) = contract else {
                return Vec::new();
            };
            let agent = &contract.dispatch_profile;
            let role = role_for(agent, &Assignment::Issue(Some(contract.phase.clone())));
            vec![of_agent(agent, role)]
        }
        TextKind::Instructions(agent) => {
            let all = parsed
                .profiles
                .get(agent)
                .map_or(&[][..], |(_, profile)| profile.roles());
            all.iter().map(|role| of_agent(agent, *role)).collect()
        }
        TextKind::WorkflowMd => vec![of_agent(&AgentType::Worker, Role::Worker)],
        TextKind::Wizard => vec![(Role::Wizard, Role::Wizard.allowed())],
        TextKind::BackgroundScan => vec![of_agent(&AgentType::Scanner, Role::Scanner)],
        TextKind::BackgroundResearch => {
            vec![of_agent(&AgentType::Researcher, Role::BackgroundResearcher)]
        }
        TextKind::PlanWorker => vec![(Role::PlanWorker, Role::PlanWorker.allowed())],
        TextKind::ClaudeMd | TextKind::Unread => Vec::new(),
    }
}
