//! Texts for which the budget has no room: the prompts of each kind of dispatch are built with nothing else in them, and their
//! reports are read.

use symphony_core::agent::AgentType;
use symphony_core::contract::PhaseContract;
use symphony_core::id::IssueId;

use super::finding::{Finding, LintRule};
use super::input::LintInput;
use super::library::Parsed;
use super::text::{PromptText, TextKind};
use crate::dispatch::{PhaseAssignment, PhaseDispatch, ProfileDispatch};
use crate::input::{IssueInput, Workspace};
use crate::report::{BuiltPrompt, Outcome, Warning};
use crate::tokens::estimate_tokens;

/// A marker for prompts that are built only to be measured.
const MARKER: &str = "lint-lint-lint-lint";

/// Agents that are sent to issues outside of phases before `ready`.
const ON_ISSUES: [AgentType; 4] = [
    AgentType::Worker,
    AgentType::Judge,
    AgentType::Planner,
    AgentType::Intake,
];

/// Reports texts that are dropped for lack of room, those that may not be cut and crowd out the rest, and what makes a system
/// prompt too long.
pub(super) fn budget_findings(input: &LintInput<'_>, parsed: &Parsed<'_>) -> Vec<Finding> {
    let own = OwnTexts::of(input);
    let mut found = Vec::new();
    for agent in ON_ISSUES {
        let Some(built) = on_issue(&agent, &own, input, parsed) else {
            continue;
        };
        let mut parts = vec![
            ("claude_md", own.claude_md),
            ("project_instructions", own.instructions(&agent)),
        ];
        if agent == AgentType::Worker {
            let ready = parsed
                .contracts
                .values()
                .find(|(_, contract)| contract.is_ready());
            parts.push(("contract", ready.map(|(text, _)| *text)));
        }
        let profile = parsed.profiles.get(&agent).map(|(text, _)| *text);
        let workflow = own.workflow.filter(|_| agent == AgentType::Worker);
        parts.push(("profile", workflow.or(profile)));
        found.extend(findings_of(&built, &parts, input));
    }
    for (text, contract) in parsed.contracts.values() {
        if contract.is_ready() {
            continue;
        }
        let agent = &contract.dispatch_profile;
        let addition = own.addition(contract);
        let Some(built) = in_phase(contract, addition, &own, input) else {
            continue;
        };
        let parts = [
            ("claude_md", own.claude_md),
            ("custom_instructions", own.instructions(agent)),
            ("override", addition),
            ("contract", Some(*text)),
        ];
        found.extend(findings_of(&built, &parts, input));
    }
    found
}

/// The project's own texts that are in several prompts.
struct OwnTexts<'a> {
    all: &'a [PromptText<'a>],
    claude_md: Option<&'a PromptText<'a>>,
    workflow: Option<&'a PromptText<'a>>,
}

impl<'a> OwnTexts<'a> {
    fn of(input: &LintInput<'a>) -> Self {
        let first = |kind: &TextKind| {
            let mut texts = input.own.iter();
            texts.find(|text| text.kind == *kind && !text.text.trim().is_empty())
        };
        Self {
            all: input.own,
            claude_md: first(&TextKind::ClaudeMd),
            workflow: first(&TextKind::WorkflowMd),
        }
    }

    fn instructions(&self, agent: &AgentType) -> Option<&'a PromptText<'a>> {
        let kind = TextKind::Instructions(agent.clone());
        self.all.iter().find(|text| text.kind == kind)
    }

    fn addition(&self, contract: &PhaseContract) -> Option<&'a PromptText<'a>> {
        let stem = format!("{}-{}", contract.dispatch_profile, contract.phase);
        let is_this =
            |text: &&PromptText<'_>| text.kind == TextKind::Override && text.stem() == stem;
        self.all.iter().find(is_this)
    }
}

fn on_issue(
    agent: &AgentType,
    own: &OwnTexts<'_>,
    input: &LintInput<'_>,
    parsed: &Parsed<'_>,
) -> Option<BuiltPrompt> {
    let mut dispatch = ProfileDispatch::new(agent.clone(), place(), issue(), MARKER);
    let profile = parsed.profiles.get(agent);
    dispatch.profile = profile.map_or_else(String::new, |(_, profile)| profile.body.clone());
    let ready = parsed
        .contracts
        .values()
        .find(|(_, contract)| contract.is_ready());
    dispatch.contract = ready.map(|(_, contract)| contract.body.clone());
    dispatch.workflow_md = text_of(own.workflow);
    dispatch.claude_md = text_of(own.claude_md);
    dispatch.provider_reads_claude_md = input.provider_reads_claude_md;
    dispatch.custom_instructions = text_of(own.instructions(agent));
    dispatch.budgets = input.budgets.clone();
    dispatch.build().ok()
}

fn in_phase(
    contract: &PhaseContract,
    addition: Option<&PromptText<'_>>,
    own: &OwnTexts<'_>,
    input: &LintInput<'_>,
) -> Option<BuiltPrompt> {
    let assignment = PhaseAssignment {
        phase: contract.phase.clone(),
        artifact_path: None,
        required_sections: Vec::new(),
        done_when: Vec::new(),
        escalate_if: Vec::new(),
    };
    let agent = contract.dispatch_profile.clone();
    let mut dispatch = PhaseDispatch::new(agent.clone(), place(), issue(), assignment, MARKER);
    dispatch.contract.clone_from(&contract.body);
    dispatch.override_text = text_of(addition);
    dispatch.custom_instructions = text_of(own.instructions(&agent));
    dispatch.claude_md = text_of(own.claude_md);
    dispatch.provider_reads_claude_md = input.provider_reads_claude_md;
    dispatch.budgets = input.budgets.clone();
    dispatch.build().ok()
}

fn text_of(text: Option<&PromptText<'_>>) -> Option<String> {
    text.map(|text| text.text.to_owned())
}

fn place() -> Workspace {
    Workspace {
        identifier: "SYM-1".to_owned(),
        path: "/project/.symphony-workspaces/SYM-1".to_owned(),
        branch: Some("symphony/SYM-1".to_owned()),
        base: Some("main".to_owned()),
    }
}

fn issue() -> IssueInput {
    let id = IssueId::parse("SYM-1").expect("a prefix and a number make an identifier");
    IssueInput::new(id, "Title", "")
}

/// Reads a report: what it says of the project's own texts, by the part of the prompt that each is.
fn findings_of(
    built: &BuiltPrompt,
    parts: &[(&str, Option<&PromptText<'_>>)],
    input: &LintInput<'_>,
) -> Vec<Finding> {
    let report = &built.report;
    let own = |part: &str| {
        let text = parts.iter().find(|(name, _)| *name == part)?.1?;
        input
            .own
            .iter()
            .any(|own| own.file == text.file)
            .then_some(text)
    };
    let mut found = Vec::new();
    for part in report.system.iter().chain(&report.user) {
        if let (Outcome::DroppedByBudget { from }, Some(text)) = (&part.outcome, own(&part.part)) {
            let room = "no agent gets this text";
            found.push(finding(
                text,
                format!(
                    "{room}: it has ~{from} tokens, and the budget of {} has no room for it",
                    report.system_budget
                ),
            ));
        }
    }
    for warning in &report.warnings {
        match warning {
            Warning::LongUnboundedPart {
                part,
                tokens,
                limit,
            } => {
                if let Some(text) = own(part) {
                    let cost = "it is never cut, and every run reads it";
                    found.push(finding(
                        text,
                        format!("has ~{tokens} tokens, over {limit}: {cost}"),
                    ));
                }
            }
            Warning::SystemOverBudget { tokens, budget } => {
                let texts = parts.iter().filter_map(|(name, _)| own(name));
                if let Some(text) = texts.max_by_key(|text| text.text.len()) {
                    let size = estimate_tokens(text.text);
                    let agent = &report.agent;
                    found.push(finding(
                        text,
                        format!("has ~{size} tokens, and makes the system prompt of a {agent} ~{tokens}, over its budget of {budget}"),
                    ));
                }
            }
            _ => {}
        }
    }
    found
}

fn finding(text: &PromptText<'_>, found: String) -> Finding {
    let advice = "shorten it; move what matters for some issues only into those issues, or into notes of the vault";
    LintRule::Budget.warning(text, 1, found, advice)
}
