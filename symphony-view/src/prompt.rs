//! Two prompts and the report on them: a table of layers and sections, and what is different from a past run.

use std::collections::BTreeMap;

use serde::Serialize;
use similar::TextDiff;
use symphony_core::prompt_trial::Assignment;
use symphony_prompt::{BuiltPrompt, LeftOutItem, Outcome, PartReport, Report};
use symphony_runner::prompts::sent::{PromptTexts, SentPrompts};

use crate::text::{Page, Table, View};

/// Lines of context around a difference of texts.
const CONTEXT_LINES: usize = 3;

/// What a dispatch would send, with the report on it.
#[derive(Debug, Serialize)]
pub struct PromptView {
    system: Option<String>,
    user: Option<String>,
    report: Report,
    /// The set of the trial of prompts that is configured; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_set: Option<Assignment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<PromptDifference>,
    #[serde(skip)]
    texts: bool,
}

impl PromptView {
    /// Shows prompts: the report, and with `texts` the prompts themselves.
    pub fn new(built: BuiltPrompt, texts: bool) -> Self {
        let BuiltPrompt {
            system,
            user,
            report,
        } = built;
        let sent = SentPrompts {
            report,
            texts: Some(PromptTexts { system, user }),
        };
        Self::sent(sent, texts)
    }

    /// Shows the prompts of a past run: the report, and with `texts` the prompts as they were sent.
    pub fn sent(sent: SentPrompts, texts: bool) -> Self {
        let (system, user) = match sent.texts {
            Some(PromptTexts { system, user }) => (Some(system), Some(user)),
            None => (None, None),
        };
        Self {
            system,
            user,
            report: sent.report,
            prompt_set: None,
            difference: None,
            texts,
        }
    }

    /// Adds the set that the prompts are of.
    #[must_use]
    pub fn with_set(self, prompt_set: Option<Assignment>) -> Self {
        Self { prompt_set, ..self }
    }

    /// Adds what is different from a past run: from its report, and from its prompts where they were kept.
    #[must_use]
    pub fn compare(mut self, run: String, past: &SentPrompts) -> Self {
        let then = &past.report;
        let parts = differences("system", &then.system, &self.report.system)
            .into_iter()
            .chain(differences("user", &then.user, &self.report.user))
            .collect();
        let diff = past.texts.as_ref().map(|then| {
            let now = |text: &Option<String>| text.clone().unwrap_or_default();
            let mut text = text_diff("system prompt", &then.system, &now(&self.system));
            text.push_str(&text_diff("user prompt", &then.user, &now(&self.user)));
            text
        });
        self.difference = Some(PromptDifference { run, parts, diff });
        self
    }
}

/// What is different from a past run's prompts.
#[derive(Debug, Serialize)]
struct PromptDifference {
    run: String,
    parts: Vec<PartDifference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

/// A layer or section that is different.
#[derive(Debug, Serialize)]
struct PartDifference {
    prompt: &'static str,
    part: String,
    tokens_then: Option<u64>,
    tokens_now: Option<u64>,
    change: &'static str,
}

fn differences(
    prompt: &'static str,
    then: &[PartReport],
    now: &[PartReport],
) -> Vec<PartDifference> {
    let past: BTreeMap<&str, &PartReport> =
        then.iter().map(|part| (part.part.as_str(), part)).collect();
    let present: BTreeMap<&str, &PartReport> =
        now.iter().map(|part| (part.part.as_str(), part)).collect();
    let in_order = now.iter().chain(
        then.iter()
            .filter(|part| !present.contains_key(part.part.as_str())),
    );
    let mut found = Vec::new();
    for part in in_order {
        let name = part.part.as_str();
        let (before, after) = (past.get(name).copied(), present.get(name).copied());
        let change = match (before, after) {
            (None, _) => "new",
            (_, None) => "gone",
            (Some(before), Some(after)) if before.outcome != after.outcome => "other outcome",
            (Some(before), Some(after)) if before.hash != after.hash => "other text",
            (Some(_), Some(_)) => continue,
        };
        found.push(PartDifference {
            prompt,
            part: name.to_owned(),
            tokens_then: before.map(|part| part.tokens.get()),
            tokens_now: after.map(|part| part.tokens.get()),
            change,
        });
    }
    found
}

fn text_diff(name: &str, then: &str, now: &str) -> String {
    TextDiff::from_lines(then, now)
        .unified_diff()
        .context_radius(CONTEXT_LINES)
        .header(&format!("{name}, then"), &format!("{name}, now"))
        .to_string()
}

impl View for PromptView {
    fn write(&self, page: &mut Page) {
        let report = &self.report;
        let total = |tokens: u64, budget: u64| format!("~{tokens} tokens (budget {budget})");
        page.field("agent", &report.agent);
        let set = self.prompt_set.as_ref();
        page.field("prompts", &set.map(ToString::to_string).unwrap_or_default());
        page.field(
            "system prompt",
            &total(report.system_tokens.get(), report.system_budget.get()),
        );
        page.field(
            "user prompt",
            &total(report.user_tokens.get(), report.user_budget.get()),
        );
        let mut table = Table::new([
            "PROMPT",
            "LAYER OR SECTION",
            "BEFORE",
            "TOKENS",
            "CAP",
            "WHAT",
        ])
        .right(2)
        .right(3)
        .right(4);
        for (prompt, parts) in [("system", &report.system), ("user", &report.user)] {
            for part in parts {
                table.row([
                    prompt.to_owned(),
                    part.part.clone(),
                    before(part).map_or_else(String::new, |tokens| tokens.to_string()),
                    part.tokens.to_string(),
                    part.cap.map_or_else(String::new, |cap| cap.to_string()),
                    what(part),
                ]);
            }
        }
        page.gap();
        page.table(&table);
        write_left_out(report, page);
        for warning in &report.warnings {
            page.line(&format!("warning: {warning}"));
        }
        if let Some(difference) = &self.difference {
            write_difference(difference, page);
        }
        if self.texts {
            for (name, text) in [("System prompt", &self.system), ("User prompt", &self.user)] {
                page.heading(name);
                match text {
                    Some(text) => page.verbatim(text),
                    None => page.line("It is no longer kept (`log_retention_days`)."),
                }
            }
        }
    }
}

/// Tokens of a part before anything was done to it, where that is not what stands in the prompt.
fn before(part: &PartReport) -> Option<u64> {
    match &part.outcome {
        Outcome::Truncated { from, .. } | Outcome::DroppedByBudget { from } => Some(from.get()),
        Outcome::Included | Outcome::Known | Outcome::OmittedByProfile { .. } => None,
    }
}

fn what(part: &PartReport) -> String {
    let mut text = match &part.outcome {
        Outcome::Included => "included".to_owned(),
        Outcome::Truncated { .. } if left_out(part).next().is_some() => {
            "included what fits".to_owned()
        }
        Outcome::Truncated { from, to } => format!("cut from {from} to {to}"),
        Outcome::DroppedByBudget { .. } => "dropped: the budget has no room".to_owned(),
        Outcome::Known => "not sent again: the session has it".to_owned(),
        Outcome::OmittedByProfile { why } => format!("omitted: {why}"),
    };
    if let Some(items) = part.items.as_ref().filter(|items| items.kept < items.given) {
        let noun = noun_of(&part.part);
        text.push_str(&format!(", {} of {} {noun}", items.kept, items.given));
    }
    if let Some(note) = &part.note {
        text.push_str(&format!(", {note}"));
    }
    text
}

/// The items of a part that were passed over for lack of room.
fn left_out(part: &PartReport) -> impl Iterator<Item = &LeftOutItem> {
    part.items.iter().flat_map(|items| &items.left_out)
}

fn write_left_out(report: &Report, page: &mut Page) {
    for part in report.system.iter().chain(&report.user) {
        for item in left_out(part) {
            page.line(&format!(
                "left out of {}: number {} (~{} tokens): {}",
                part.part,
                item.index + 1,
                item.tokens,
                item.beginning
            ));
        }
    }
}

/// What the items of a section are.
fn noun_of(part: &str) -> &'static str {
    match part {
        "previous_attempts" => "attempts",
        "previous_findings" => "findings",
        "conversation" => "comments",
        "related_learnings" => "learnings",
        "dependencies" => "dependencies",
        "rejected_claims" => "deliveries",
        "previous_artifacts" => "documents",
        "diff" => "files",
        _ => "items",
    }
}

fn write_difference(difference: &PromptDifference, page: &mut Page) {
    page.heading(&format!("Different from run {}", difference.run));
    if difference.parts.is_empty() {
        page.line("nothing: every layer and section is the same");
    } else {
        let mut table = Table::new(["PROMPT", "LAYER OR SECTION", "THEN", "NOW", "CHANGE"])
            .right(2)
            .right(3);
        let shown =
            |tokens: Option<u64>| tokens.map_or_else(String::new, |tokens| tokens.to_string());
        for part in &difference.parts {
            table.row([
                part.prompt.to_owned(),
                part.part.clone(),
                shown(part.tokens_then),
                shown(part.tokens_now),
                part.change.to_owned(),
            ]);
        }
        page.table(&table);
    }
    match &difference.diff {
        Some(diff) => page.verbatim(diff),
        None => page.line("the texts of that run are no longer kept (`log_retention_days`)"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_page_says_exactly_what_was_cut() {
        let part = |more: Value| -> String {
            let mut part = json!({ "part": "previous_attempts", "tokens": 10 });
            part.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            what(&serde_json::from_value(part).unwrap())
        };
        for (given, expected) in [
            (json!({ "outcome": "included" }), "included"),
            (
                json!({ "outcome": "included", "items": { "given": 8, "kept": 8 } }),
                "included",
            ),
            (
                json!({ "outcome": "included", "items": { "given": 8, "kept": 5 } }),
                "included, 5 of 8 attempts",
            ),
            (
                json!({ "outcome": "truncated", "from": 90, "to": 10, "items": { "given": 8, "kept": 5 } }),
                "cut from 90 to 10, 5 of 8 attempts",
            ),
            (
                json!({ "outcome": "dropped_by_budget", "from": 90, "items": { "given": 8, "kept": 0 } }),
                "dropped: the budget has no room, 0 of 8 attempts",
            ),
        ] {
            assert_eq!(part(given.clone()), expected, "{given}");
        }
    }
}
