//! Texts that reach no one: of a dispatch that never happens, or in a file that nothing reads.

use symphony_core::agent::AgentType;
use symphony_core::contract::PhaseContract;
use symphony_core::nearest::nearest;

use super::finding::{Finding, LintRule};
use super::input::{LintInput, Switch};
use super::library::{Parsed, line_of};
use super::text::{PromptText, TextKind};
use crate::layer::LayerName;
use crate::omission::OmissionList;

/// The files of a prompts folder that are not in a folder below it.
const STANDALONE: [&str; 4] = [
    "setup-wizard-system-prompt.md",
    "background-scan.md",
    "background-research.md",
    "plan-worker.md",
];

/// Reports why a text reaches no one, and a profile whose file has another name than its type.
pub(super) fn dead_text(
    text: &PromptText<'_>,
    parsed: &Parsed<'_>,
    input: &LintInput<'_>,
) -> Option<Finding> {
    if text.text.trim().is_empty() && text.kind != TextKind::Unread {
        return None;
    }
    let (found, advice) = match &text.kind {
        TextKind::Profile => return of_profile(text, parsed, input),
        TextKind::Contract => {
            let contract = parsed
                .contracts
                .values()
                .find(|(holds, _)| holds.file == text.file);
            of_contract(&contract?.1, input)?
        }
        TextKind::Override => of_override(text.stem(), parsed, input)?,
        TextKind::BackgroundScan => switched_off(Switch::Scanner, input)?,
        TextKind::BackgroundResearch => switched_off(Switch::BackgroundResearch, input)?,
        TextKind::Instructions(agent) => {
            let in_phase = parsed.contracts.values().any(|(_, contract)| {
                contract.dispatch_profile == *agent && of_contract(contract, input).is_none()
            });
            if in_phase {
                return None;
            }
            of_agent(agent, input)?
        }
        TextKind::Unread => unread(text, parsed),
        TextKind::Wizard | TextKind::PlanWorker | TextKind::WorkflowMd | TextKind::ClaudeMd => {
            return None;
        }
    };
    Some(LintRule::DeadText.warning(text, 1, found, advice))
}

fn of_profile(
    text: &PromptText<'_>,
    parsed: &Parsed<'_>,
    input: &LintInput<'_>,
) -> Option<Finding> {
    let (agent, _) = parsed
        .profiles
        .iter()
        .find(|(_, (holds, _))| holds.file == text.file)?;
    let line = line_of(text.text, "type:");
    if AgentType::parse(text.stem()).ok().as_ref() != Some(agent) {
        let found = format!("is the profile of `{agent}`, but its name does not match");
        let advice = format!("rename it to `{agent}.md`, or change its `type`");
        return Some(LintRule::FileName.warning(text, line, found, advice));
    }
    let has_workflow =
        |own: &&PromptText<'_>| own.kind == TextKind::WorkflowMd && !own.text.trim().is_empty();
    let dead = match input.own.iter().find(has_workflow) {
        Some(workflow) if *agent == AgentType::Worker => Some((
            format!(
                "{} replaces the text of this profile; only its front matter counts",
                workflow.file
            ),
            format!(
                "move what matters into {}, or remove one of the two",
                workflow.file
            ),
        )),
        _ => of_custom(agent, parsed)
            .or_else(|| of_architect(text, parsed, input))
            .or_else(|| of_agent(agent, input)),
    };
    dead.map(|(found, advice)| LintRule::DeadText.warning(text, line, found, advice))
}

/// An agent type that only the project has works only in phases.
fn of_custom(agent: &AgentType, parsed: &Parsed<'_>) -> Option<(String, String)> {
    let is_dispatched = |(_, contract): &(_, PhaseContract)| contract.dispatch_profile == *agent;
    let is_custom = matches!(agent, AgentType::Custom(_));
    (is_custom && !parsed.contracts.values().any(is_dispatched)).then(|| {
        (
            format!("no phase uses `{agent}`"),
            format!("set it as `dispatch_profile` of a contract, or remove the file; the shipped types are {}", shipped()),
        )
    })
}

/// An architect works in phases alone, too. The text of its shipped profile, which says so, may stay in a copy whose front matter
/// is a project's own.
fn of_architect(
    text: &PromptText<'_>,
    parsed: &Parsed<'_>,
    input: &LintInput<'_>,
) -> Option<(String, String)> {
    let (_, profile) = parsed.profiles.get(&AgentType::Architect)?;
    if AgentType::parse(text.stem()).ok()? != AgentType::Architect {
        return None;
    }
    let is_shipped = |shipped: &PromptText<'_>| {
        shipped.kind == TextKind::Profile && shipped.text.trim_end().ends_with(profile.body.trim())
    };
    (!input.shipped.iter().any(is_shipped)).then(|| {
        (
            "architects work in phases, where the contract is their whole text; only the front matter of this file counts".to_owned(),
            "move what matters into the contract of the phase, or into an override such as `overrides/architect-architecture.md`".to_owned(),
        )
    })
}

fn shipped() -> String {
    let names: Vec<&str> = AgentType::SHIPPED.iter().map(AgentType::name).collect();
    names.join(", ")
}

/// Says why an agent is never sent outside of phases.
fn of_agent(agent: &AgentType, input: &LintInput<'_>) -> Option<(String, String)> {
    match agent {
        AgentType::Judge => switched_off(Switch::Judge, input),
        AgentType::Planner => switched_off(Switch::Planner, input),
        AgentType::Intake => switched_off(Switch::Intake, input),
        AgentType::Scanner => switched_off(Switch::Scanner, input),
        AgentType::Researcher => switched_off(Switch::BackgroundResearch, input),
        _ => None,
    }
}

fn switched_off(switch: Switch, input: &LintInput<'_>) -> Option<(String, String)> {
    let key = switch.key();
    input.off.contains(&switch).then(|| {
        (
            format!("no agent reads this text: `{key}` is off"),
            format!("`symphony config set {key} true`, or remove the text"),
        )
    })
}

fn of_contract(contract: &PhaseContract, input: &LintInput<'_>) -> Option<(String, String)> {
    // these two phases have a switch of their own (`wanted_agent` in symphony-core)
    match contract.phase.as_str() {
        "research" | "architecture" => switched_off(Switch::Researcher, input),
        _ => None,
    }
}

fn of_override(stem: &str, parsed: &Parsed<'_>, input: &LintInput<'_>) -> Option<(String, String)> {
    let name =
        |contract: &PhaseContract| format!("{}-{}", contract.dispatch_profile, contract.phase);
    let contracts = || parsed.contracts.values().map(|(_, contract)| contract);
    if let Some(contract) = contracts().find(|contract| name(contract) == stem) {
        let agent = &contract.dispatch_profile;
        if contract.is_ready() {
            return Some((
                "overrides are not used in the phase `ready`".to_owned(),
                format!("use `symphony profile set {agent} --instructions FILE` for that"),
            ));
        }
        let omitted = OmissionList::of(agent).layer(LayerName::Override);
        let omitted = omitted.map(|why| {
            (
                format!("a {agent} gets no override: {why}"),
                "put it into the phase's contract".to_owned(),
            )
        });
        return omitted.or_else(|| of_contract(contract, input));
    }
    let names: Vec<String> = contracts()
        .filter(|contract| !contract.is_ready())
        .map(name)
        .collect();
    let near = nearest(stem, names.iter().map(String::as_str));
    let meant = near.map_or_else(String::new, |near| format!("; did you mean `{near}.md`?"));
    Some((
        format!("no phase uses a profile of this name{meant}"),
        format!(
            "overrides are named `<profile>-<phase>.md`: {}",
            names.join(", ")
        ),
    ))
}

fn unread(text: &PromptText<'_>, parsed: &Parsed<'_>) -> (String, String) {
    let stem = text.stem();
    let is_type = AgentType::SHIPPED.iter().any(|agent| agent.name() == stem);
    let is_phase = parsed.contracts.keys().any(|phase| phase.as_str() == stem);
    let meant = match (is_type, is_phase) {
        (true, _) => Some(format!("profiles/{stem}.md")),
        (_, true) => Some(format!("phases/{stem}.md")),
        _ => nearest(&format!("{stem}.md"), STANDALONE).map(str::to_owned),
    };
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    (
        format!("nothing reads this file{meant}"),
        format!(
            "prompts are markdown files in `profiles/`, `phases/` and `overrides/`, and {}",
            STANDALONE.join(", ")
        ),
    )
}
