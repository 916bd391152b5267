//! One line for a status bar (spec: plan, "Statusline").

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::plan::state::{PhaseStatus, PlanStatus};

/// Cells of the bar.
const CELLS: usize = 10;
/// Longest list of phases, in characters, `...` included: a status bar is short.
pub const STATUSLINE_PHASES_CHARS_MAX: usize = 30;

/// Whether colours are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// ANSI colours.
    On,
    /// Text alone.
    Off,
}

/// ANSI codes.
#[derive(Clone, Copy)]
enum Paint {
    Red = 31,
    Green = 32,
    Yellow = 33,
    Magenta = 35,
    Grey = 90,
}

impl Colour {
    fn paint(self, paint: Paint, text: &str) -> String {
        match self {
            Self::On if !text.is_empty() => format!("\u{1b}[{}m{text}\u{1b}[0m", paint as u8),
            _ => text.to_owned(),
        }
    }
}

/// What the line needs of a state file. Everything else in it may be missing or wrong.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Glance {
    status: PlanStatus,
    completed_count: Option<usize>,
    failed_count: Option<usize>,
    plan: Option<GlancePlan>,
    phases: BTreeMap<String, GlancePhase>,
}

#[derive(Deserialize)]
struct GlancePlan {
    phases: Vec<GlanceId>,
}

#[derive(Deserialize)]
struct GlanceId {
    id: String,
}

#[derive(Deserialize)]
struct GlancePhase {
    status: PhaseStatus,
    unconfirmed: Option<bool>,
}

/// Renders the line for the text of a state file, without a newline; `None` if the text is not a state file or has no
/// phases.
pub fn render_statusline(state_file: &str, colour: Colour) -> Option<String> {
    let glance: Glance = serde_json::from_str(state_file).ok()?;
    let planned = glance.plan.as_ref().map_or(0, |plan| plan.phases.len());
    let total = planned.max(glance.phases.len());
    if total == 0 {
        return None;
    }
    let done = glance
        .completed_count
        .unwrap_or_else(|| glance.count(PhaseStatus::Complete));
    let unconfirmed = glance.unconfirmed();
    let count = if unconfirmed == 0 {
        format!("{done}/{total}")
    } else {
        format!("{done}/{total} ({unconfirmed} unconfirmed)")
    };
    Some(match glance.status {
        PlanStatus::Completed => colour.paint(Paint::Green, &format!("[Done] {count}")),
        PlanStatus::Failed => colour.paint(Paint::Red, &format!("[Failed] {count}")),
        PlanStatus::Aborted => colour.paint(Paint::Grey, &format!("[Aborted] {count}")),
        PlanStatus::AwaitingUserDecision => {
            let mut line = format!("[Decision] {count}");
            if let Some(phases) = glance.list(PhaseStatus::AwaitingDecision) {
                line = format!("{line} | {phases}");
            }
            colour.paint(Paint::Magenta, &line)
        }
        PlanStatus::Review => colour.paint(Paint::Yellow, &format!("[Review] {count}")),
        PlanStatus::Running | PlanStatus::Paused => {
            let failed = glance
                .failed_count
                .unwrap_or_else(|| glance.count(PhaseStatus::Failed));
            let mut line = format!("[{}] {count}", bar(done, total, colour));
            if failed > 0 {
                line.push(' ');
                line.push_str(&colour.paint(Paint::Red, &format!("({failed}!)")));
            }
            if let Some(phases) = glance.list(PhaseStatus::Running) {
                line.push_str(" | ");
                line.push_str(&colour.paint(Paint::Yellow, &phases));
            }
            line
        }
    })
}

impl Glance {
    fn unconfirmed(&self) -> usize {
        let phases = self.phases.values();
        phases
            .filter(|phase| phase.unconfirmed == Some(true))
            .count()
    }

    fn count(&self, status: PhaseStatus) -> usize {
        let mut phases = self.phases.values();
        phases
            .by_ref()
            .filter(|phase| phase.status == status)
            .count()
    }

    /// Lists the phases in a state, in the order of the plan.
    fn list(&self, status: PhaseStatus) -> Option<String> {
        let order = self.plan.iter().flat_map(|plan| &plan.phases);
        let positions: BTreeMap<&str, usize> = order
            .enumerate()
            .map(|(at, phase)| (phase.id.as_str(), at))
            .collect();
        let mut ids: Vec<&str> = self
            .phases
            .iter()
            .filter(|(_, phase)| phase.status == status)
            .map(|(id, _)| id.as_str())
            .collect();
        ids.sort_by_key(|id| (positions.get(id).copied().unwrap_or(usize::MAX), *id));
        (!ids.is_empty()).then(|| shortened(&ids.join(", ")))
    }
}

fn shortened(text: &str) -> String {
    // control characters in a file that somebody edited must not reach a terminal
    let clean = text.chars().filter(|c| !c.is_control());
    if clean.clone().count() <= STATUSLINE_PHASES_CHARS_MAX {
        return clean.collect();
    }
    let kept: String = clean.take(STATUSLINE_PHASES_CHARS_MAX - 3).collect();
    kept + "..."
}

fn bar(done: usize, total: usize, colour: Colour) -> String {
    let done = done.min(total) as u128;
    let total = total as u128;
    let filled = (2 * CELLS as u128 * done + total) / (2 * total);
    let filled = usize::try_from(filled).unwrap_or(CELLS);
    let full = "█".repeat(filled);
    let empty = "░".repeat(CELLS.saturating_sub(filled));
    colour.paint(Paint::Green, &full) + &colour.paint(Paint::Grey, &empty)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A state file with ten phases `p-0` … `p-9`, of which `done` are complete.
    fn state(status: &str, done: usize, more: &[(&str, &str)]) -> Value {
        let mut phases = serde_json::Map::new();
        let mut order = Vec::new();
        for (id, status) in more {
            order.push(json!({"id": id}));
            phases.insert((*id).to_owned(), json!({"status": status}));
        }
        for at in more.len()..10 {
            let id = format!("p-{at}");
            let status = if at < done + more.len() {
                "complete"
            } else {
                "pending"
            };
            order.push(json!({"id": id}));
            phases.insert(id, json!({"status": status, "artifacts": []}));
        }
        let failed = more
            .iter()
            .filter(|(_, status)| *status == "failed")
            .count();
        json!({"status": status, "completedCount": done, "failedCount": failed,
               "plan": {"phases": order}, "phases": phases})
    }

    #[test]
    fn the_line_has_the_forms_of_the_specification() {
        let running = [("setup-db", "running"), ("auth-middleware", "running")];
        let with_failure = [running[0], running[1], ("x", "failed")];
        let long = [
            ("a-phase-with-a-long-name", "running"),
            ("another-phase", "running"),
        ];
        let asking = [("build-frontend", "awaiting_decision")];
        for (state, plain, coloured) in [
            (
                state("running", 4, &with_failure),
                "[████░░░░░░] 4/10 (1!) | setup-db, auth-middleware",
                "[\u{1b}[32m████\u{1b}[0m\u{1b}[90m░░░░░░\u{1b}[0m] 4/10 \u{1b}[31m(1!)\u{1b}[0m | \u{1b}[33msetup-db, auth-middleware\u{1b}[0m",
            ),
            (
                state("running", 0, &[]),
                "[░░░░░░░░░░] 0/10",
                "[\u{1b}[90m░░░░░░░░░░\u{1b}[0m] 0/10",
            ),
            (
                state("paused", 10, &[]),
                "[██████████] 10/10",
                "[\u{1b}[32m██████████\u{1b}[0m] 10/10",
            ),
            (
                state("running", 1, &long),
                "[█░░░░░░░░░] 1/10 | a-phase-with-a-long-name, a...",
                "[\u{1b}[32m█\u{1b}[0m\u{1b}[90m░░░░░░░░░\u{1b}[0m] 1/10 | \u{1b}[33ma-phase-with-a-long-name, a...\u{1b}[0m",
            ),
            (
                state("awaiting_user_decision", 4, &asking),
                "[Decision] 4/10 | build-frontend",
                "\u{1b}[35m[Decision] 4/10 | build-frontend\u{1b}[0m",
            ),
            (
                state("completed", 10, &[]),
                "[Done] 10/10",
                "\u{1b}[32m[Done] 10/10\u{1b}[0m",
            ),
            (
                state("failed", 7, &[]),
                "[Failed] 7/10",
                "\u{1b}[31m[Failed] 7/10\u{1b}[0m",
            ),
            (
                state("aborted", 5, &[]),
                "[Aborted] 5/10",
                "\u{1b}[90m[Aborted] 5/10\u{1b}[0m",
            ),
        ] {
            let text = state.to_string();
            assert_eq!(
                render_statusline(&text, Colour::Off).as_deref(),
                Some(plain)
            );
            assert_eq!(
                render_statusline(&text, Colour::On).as_deref(),
                Some(coloured)
            );
        }
    }

    #[test]
    fn cells_are_rounded() {
        for (done, total, cells) in [(1, 20, 1), (1, 21, 0), (19, 20, 10), (3, 4, 8), (1, 3, 3)] {
            let bar = bar(done, total, Colour::Off);
            assert_eq!(bar.matches('█').count(), cells, "{done}/{total}");
            assert_eq!(bar.chars().count(), CELLS);
        }
    }

    #[test]
    fn nothing_is_shown_for_what_is_no_state() {
        for text in [
            "",
            "{",
            "null",
            "[]",
            "{}",
            "{\"status\":\"running\",\"phases\":{}}",
            "{\"status\":\"dancing\",\"phases\":{\"a\":{\"status\":\"ready\"}}}",
            "{\"status\":\"running\",\"phases\":{\"a\":{\"status\":\"odd\"}}}",
        ] {
            assert_eq!(render_statusline(text, Colour::On), None, "{text}");
        }
    }

    #[test]
    fn counts_that_are_missing_are_counted() {
        let text = "{\"status\":\"running\",\"phases\":{\"a\":{\"status\":\"complete\"},\
                    \"b\\u001b[2J\":{\"status\":\"running\"},\"c\":{\"status\":\"failed\"}}}";
        assert_eq!(
            render_statusline(text, Colour::Off).as_deref(),
            Some("[███░░░░░░░] 1/3 (1!) | b[2J")
        );
    }
}
