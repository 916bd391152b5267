//! The prompts of a run: what each part took, what was cut, and the texts as they were sent.

use maud::{Markup, html};
use symphony_core::run::Run;
use symphony_prompt::{Outcome, PartReport};
use symphony_runner::prompts::sent::SentPrompts;
use symphony_runner::session::Session;

use crate::render::meter::{Segment, meter};
use crate::server::Failure;

/// Draws what a run's agent was given; nothing for a run without prompts.
pub(super) fn prompt_panel(session: &Session, run: &Run) -> Result<Markup, Failure> {
    let project = session.store.project(&run.project)?;
    let Some(SentPrompts { report, texts }) = SentPrompts::of(&project.root, run) else {
        return Ok(html! {});
    };
    Ok(html! {
        div .panel {
            h2 { "Prompts" }
            (parts("System", &report.system, report.system_tokens.get(), report.system_budget.get()))
            (parts("User", &report.user, report.user_tokens.get(), report.user_budget.get()))
            @for warning in &report.warnings { p .warn { (warning) } }
            @match texts {
                Some(texts) => {
                    details { summary { "System prompt as sent" } pre { (texts.system) } }
                    details { summary { "User prompt as sent" } pre { (texts.user) } }
                }
                None => p .soft { "The texts are no longer kept." }
            }
        }
    })
}

fn parts(name: &str, parts: &[PartReport], used: u64, budget: u64) -> Markup {
    let largest = parts
        .iter()
        .map(|part| part.tokens.get() + lost(&part.outcome))
        .max()
        .unwrap_or(0);
    let shown = parts
        .iter()
        .filter(|part| part.tokens.get() > 0 || lost(&part.outcome) > 0);
    html! {
        h3 { (name) " · " (used) " of " (budget) " tokens" }
        dl .meters {
            @for part in shown {
                dt { (part.part) }
                dd {
                    (meter(&part.part, &segments(part), largest, "tokens"))
                    span { (part.tokens.get()) @if let Some(what) = outcome(&part.outcome) { " " span .warn { (what) } } }
                }
            }
        }
    }
}

fn segments(part: &PartReport) -> [Segment<'static>; 2] {
    let (name, class) = match part.outcome {
        Outcome::DroppedByBudget { .. } => ("dropped", "dropped"),
        _ => ("cut", "cut"),
    };
    [
        Segment {
            name: "used",
            value: part.tokens.get(),
            class: "used",
        },
        Segment {
            name,
            value: lost(&part.outcome),
            class,
        },
    ]
}

/// Tokens that are not in the prompt.
fn lost(outcome: &Outcome) -> u64 {
    match outcome {
        Outcome::Truncated { from, to } => from.get().saturating_sub(to.get()),
        Outcome::DroppedByBudget { from } => from.get(),
        _ => 0,
    }
}

const fn outcome(outcome: &Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Truncated { .. } => Some("cut"),
        Outcome::DroppedByBudget { .. } => Some("dropped"),
        _ => None,
    }
}
