//! Layers that several paths make in the same way.

use symphony_core::agent::AgentType;
use symphony_core::unit::Tokens;
use symphony_core::workflow_file::is_theirs;

use crate::budget::Budgets;
use crate::hidden::{one_line, strip_hidden};
use crate::input::{IssueInput, ProjectLearning, VaultNote};
use crate::layer::{Layer, LayerName};
use crate::report::{BuiltPrompt, DispatchPath, Report};
use crate::section::{UserPrompt, bullet};
use crate::system::SystemPrompt;
use crate::tokens::TokenCounter;
use crate::vault::vault_layer;

/// The profile's text, or what takes its place.
pub(super) fn profile<'a>(
    agent: &AgentType,
    profile: &'a str,
    workflow_md: Option<&'a str>,
) -> Layer<'a> {
    match workflow_md.filter(|text| !text.trim().is_empty()) {
        // Its settings and its template would reach the agent as they are: raw YAML and `{{ issue.title }}`.
        Some(text) if is_theirs(text) => Layer::new(LayerName::Profile, profile)
            .with_note("WORKFLOW.md is of openai/symphony, and not used"),
        Some(text) if *agent == AgentType::Worker => {
            Layer::new(LayerName::Profile, text).with_note("replaced by WORKFLOW.md")
        }
        Some(_) => Layer::new(LayerName::Profile, profile)
            .with_note("WORKFLOW.md present, not used for this profile"),
        None => Layer::new(LayerName::Profile, profile),
    }
}

/// Convention learnings, as given: they have been capped where they were ranked.
pub(super) fn conventions<'a>(patterns: &[String]) -> Layer<'a> {
    let lines: Vec<String> = patterns
        .iter()
        .map(|pattern| bullet(strip_hidden(pattern).trim()))
        .collect();
    let text = if lines.is_empty() {
        String::new()
    } else {
        format!("## Project Conventions\n\n{}", lines.join("\n"))
    };
    Layer::new(LayerName::ConventionLearnings, text)
}

/// Learnings of other projects, each with its project's name.
pub(super) fn cross_project<'a>(learnings: &[ProjectLearning]) -> Layer<'a> {
    let lines: Vec<String> = learnings
        .iter()
        .map(|learning| {
            let pattern = strip_hidden(&learning.pattern);
            bullet(&format!(
                "[{}] {}",
                one_line(&learning.project),
                pattern.trim()
            ))
        })
        .collect();
    let text = if lines.is_empty() {
        String::new()
    } else {
        format!("## Learnings from Other Projects\n\n{}", lines.join("\n"))
    };
    Layer::new(LayerName::CrossProjectLearnings, text)
}

/// The notes that match the issue, as far as their own cap and the whole budget reach.
pub(super) fn vault<'a>(
    notes: &[VaultNote],
    issue: Option<&IssueInput>,
    cap: Tokens,
    counter: &dyn TokenCounter,
) -> Layer<'a> {
    if notes.is_empty() {
        return Layer::new(LayerName::Vault, "");
    }
    let query = issue.map_or_else(String::new, |issue| {
        format!(
            "{}\n{}\n{}",
            issue.title,
            issue.labels.join(" "),
            issue.description
        )
    });
    let (text, remark) = vault_layer(notes, &query, cap, counter);
    Layer::new(LayerName::Vault, text).with_note(remark)
}

/// CLAUDE.md for those whose CLI does not read it by itself, and always for a judge, from the base commit.
pub(super) fn claude_md<'a>(
    text: Option<&str>,
    agent: &AgentType,
    provider_reads_it: bool,
) -> Layer<'a> {
    let judge = *agent == AgentType::Judge;
    let text = text
        .filter(|text| !text.trim().is_empty() && (judge || !provider_reads_it))
        .map_or_else(String::new, |text| {
            format!("## CLAUDE.md\n\n{}", text.trim())
        });
    let layer = Layer::new(LayerName::ClaudeMd, text);
    if judge {
        layer.with_note("from the base commit")
    } else {
        layer
    }
}

/// Joins both prompts and their reports.
pub(super) fn built(
    path: DispatchPath,
    agent: &AgentType,
    system: SystemPrompt,
    user: UserPrompt,
    budgets: &Budgets,
    counter: &dyn TokenCounter,
) -> BuiltPrompt {
    let mut warnings = system.warnings;
    warnings.extend(user.warnings);
    let report = Report {
        path,
        agent: agent.name().to_owned(),
        system_tokens: counter.count(&system.text),
        system_budget: budgets.system_tokens,
        user_tokens: counter.count(&user.text),
        user_budget: budgets.user_tokens,
        user_left: user.left,
        fence_marker: user.marker.map(|marker| marker.as_str().to_owned()),
        system: system.parts,
        user: user.parts,
        warnings,
    };
    BuiltPrompt {
        system: system.text,
        user: user.text,
        report,
    }
}
