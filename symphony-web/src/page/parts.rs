//! Pieces that several pages show.

use maud::{Markup, html};
use symphony_core::Timestamp;
use symphony_core::id::{IssueId, PlanId, PrId, RunId};
use symphony_core::issue::{DependentsFate, IssueStatus, Priority};
use symphony_core::run::RunStatus;
use symphony_view::RunView;
use symphony_view::text::compact_duration;

pub(super) use crate::render::time::ago as when;

/// An amount in US dollars; small ones with more digits.
pub(super) fn money(usd: f64) -> String {
    if usd > 0.0 && usd < 0.1 {
        format!("${usd:.4}")
    } else {
        format!("${usd:.2}")
    }
}

/// A number of tokens as people say it: `940`, `38 k`, `1.2 M`.
pub(super) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{} k", count / 1_000),
        _ => format!("{}.{} M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// A sentence of a view; what stands between backticks is drawn as code.
pub(super) fn inline(text: &str) -> Markup {
    html! {
        @for (is_code, part) in pieces(text) {
            @if is_code { code { (part) } } @else { (part) }
        }
    }
}

/// Splits a sentence at its backticks: what is code, and what is not. A backtick without its pair stays.
fn pieces(text: &str) -> Vec<(bool, &str)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, then)) = after.split_once('`').filter(|(code, _)| !code.is_empty()) else {
            break;
        };
        pieces.push((false, before));
        pieces.push((true, code));
        rest = then;
    }
    pieces.push((false, rest));
    pieces.retain(|(_, part)| !part.is_empty());
    pieces
}

/// The choice for the issues that depend on one that is cancelled.
pub(super) fn dependents_choice(id: &str) -> Markup {
    html! {
        label for=(id) { "When it is cancelled, issues that depend on it" }
        select id=(id) name="dependents" {
            option value="" { "choose" }
            option value=(DependentsFate::Keep.name()) { "wait until you decide" }
            option value=(DependentsFate::Cancel.name()) { "are cancelled too" }
            option value=(DependentsFate::Release.name()) { "continue without it" }
        }
    }
}

/// A link to an issue.
pub(super) fn issue_link(id: &IssueId) -> Markup {
    html! { a .id href=(format!("/issues/{id}")) { (id) } }
}

/// A link to a pull request.
pub(super) fn pr_link(id: PrId) -> Markup {
    html! { a .id href=(format!("/prs/{id}")) { "PR " (id) } }
}

/// A link to a plan.
pub(super) fn plan_link(id: &PlanId) -> Markup {
    html! { a .id href=(format!("/plans/{id}")) { "plan " (id) } }
}

/// A link to a run.
pub(super) fn run_link(id: &RunId, text: &str) -> Markup {
    html! { a href=(format!("/runs/{id}")) { (text) } }
}

/// The class that colours an outcome.
pub(super) const fn run_class(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Succeeded => "ok",
        RunStatus::Starting | RunStatus::Running => "info",
        RunStatus::Cancelled => "soft",
        _ => "bad",
    }
}

/// The class that colours a status.
pub(super) const fn status_class(status: IssueStatus) -> &'static str {
    match status {
        IssueStatus::Done => "ok",
        IssueStatus::InProgress => "info",
        IssueStatus::Blocked => "bad",
        IssueStatus::Review => "warn",
        _ => "soft",
    }
}

/// What a status is called on a page.
pub(super) const fn status_words(status: IssueStatus) -> &'static str {
    match status {
        IssueStatus::Backlog => "Backlog",
        IssueStatus::Todo => "Todo",
        IssueStatus::InProgress => "In progress",
        IssueStatus::Review => "Review",
        IssueStatus::Blocked => "Blocked",
        IssueStatus::Done => "Done",
        IssueStatus::Cancelled => "Cancelled",
    }
}

/// A priority that is not the usual one.
pub(super) fn priority_tag(priority: Priority) -> Markup {
    html! {
        @match priority {
            Priority::Urgent | Priority::High => span .tag .warn { (priority.name()) },
            Priority::Low => span .tag { (priority.name()) },
            _ => {}
        }
    }
}

/// A table of runs, the newest first.
pub(super) fn runs_table(runs: &[RunView], now: Timestamp) -> Markup {
    html! {
        div .scroll tabindex="0" {
            table .list {
                thead { tr { th { "Run" } th { "For" } th { "Agent" } th { "Outcome" } th { "Started" } th .r { "Took" }
                    th .r { "Tokens" } th .r { "Cost" } } }
                tbody {
                    @for run in runs {
                        tr data-key {
                            td { (run_link(&run.id, &short(&run.id))) }
                            td { (subject(run)) }
                            td { (run.profile) @if run.attempt > 1 { " · attempt " (run.attempt) } }
                            td { span class=(run_class(run.status)) { (run.status) }
                                @if let Some(error) = &run.error { " " span .soft { (error.class) } } }
                            td { (when(run.started_at, now)) }
                            td .r { (took(run, now)) }
                            td .r { (tokens(run.usage.tokens())) }
                            td .r { (run.usage.cost()) }
                        }
                    }
                }
            }
        }
        @if runs.is_empty() { p .soft { "No runs yet." } }
    }
}

/// What a run is about, as links.
pub(super) fn subject(run: &RunView) -> Markup {
    html! {
        @match (&run.issue, &run.plan) {
            (Some(issue), _) => { (issue_link(issue)) }
            (None, Some(plan)) => { (plan_link(plan)) @if let Some(phase) = &run.plan_phase { " " (phase) } }
            (None, None) => { (run.project) }
        }
        @if let Some(pr) = run.pull_request { " " (pr_link(pr)) }
    }
}

/// How long a run took, or has taken so far.
pub(super) fn took(run: &RunView, now: Timestamp) -> String {
    let so_far = now
        .as_millisecond()
        .saturating_sub(run.started_at.as_millisecond());
    compact_duration(
        run.duration_ms
            .unwrap_or(u64::try_from(so_far).unwrap_or(0)),
    )
}

/// The digits by which people know a run.
pub(super) fn short(run: &RunId) -> String {
    symphony_core::log::short_run(run).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_sentences_is_drawn_and_everything_is_escaped() {
        for (text, expected) in [
            ("", ""),
            ("plain <b>", "plain &lt;b&gt;"),
            ("run `a <b>` now", "run <code>a &lt;b&gt;</code> now"),
            ("`a` and `b`", "<code>a</code> and <code>b</code>"),
            ("one ` alone", "one ` alone"),
            ("`a` and ` alone", "<code>a</code> and ` alone"),
            ("``` fence", "``` fence"),
        ] {
            assert_eq!(inline(text).into_string(), expected, "{text}");
        }
    }

    #[test]
    fn amounts_are_short() {
        for (usd, expected) in [(0.0, "$0.00"), (0.0454, "$0.0454"), (4.123, "$4.12")] {
            assert_eq!(money(usd), expected);
        }
        for (count, expected) in [(940, "940"), (38_120, "38 k"), (1_250_000, "1.2 M")] {
            assert_eq!(tokens(count), expected);
        }
    }
}
