//! The page at `/`: one snapshot as tables. Everything in it is text, whoever wrote it.

use maud::{DOCTYPE, Markup, html};
use symphony_core::Timestamp;

use super::snapshot::Snapshot;

/// Seconds after which a browser asks again.
const REFRESH_SECONDS: &str = "5";

/// How the page looks.
pub(super) const STYLE: &str = "\
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
td { overflow-wrap: anywhere; }
.problem { border-left: .3rem solid #d33; padding-left: .6rem; }
.muted { opacity: .7; }
";

/// Renders the page.
pub(super) fn dashboard(snapshot: &Snapshot) -> Markup {
    let totals = &snapshot.codex_totals;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="refresh" content=(REFRESH_SECONDS);
                title { "Symphony: " (snapshot.counts.running) " running" }
                link rel="stylesheet" href="/page.css";
            }
            body {
                h1 { "Symphony" }
                p .muted { (snapshot.workflow.display()) " · " (snapshot.generated_at) }
                @for problem in &snapshot.problems {
                    p .problem { (problem) }
                }
                p {
                    (totals.tokens.total_tokens) " tokens (" (totals.tokens.input_tokens) " in, " (totals.tokens.output_tokens)
                    " out) in " (format!("{:.0}", totals.seconds_running)) " s"
                }
                (running(snapshot))
                (retrying(snapshot))
                (waiting(snapshot))
                @if let Some(limits) = &snapshot.rate_limits {
                    h2 { "Rate limits" }
                    pre { (limits.to_string()) }
                }
            }
        }
    }
}

fn running(snapshot: &Snapshot) -> Markup {
    html! {
        h2 { "Running (" (snapshot.counts.running) ")" }
        @if snapshot.running.is_empty() {
            p .muted { "No agent is running." }
        } @else {
            table {
                tr { th { "Ticket" } th { "State" } th { "Turns" } th { "Tokens" } th { "Started" } th { "Last event" } }
                @for row in &snapshot.running {
                    tr {
                        td { (link(&row.issue_identifier)) }
                        td { (row.state) @if let Some(ending) = row.ending { " (ending: " (ending) ")" } }
                        td { (row.turn_count) }
                        td { (row.tokens.total_tokens) }
                        td { (row.started_at) }
                        td { (event(row.last_event, row.last_message.as_deref(), row.last_event_at)) }
                    }
                }
            }
        }
    }
}

fn event(event: Option<&str>, message: Option<&str>, at: Option<Timestamp>) -> Markup {
    html! {
        @if let Some(event) = event {
            (event) " "
            @if let Some(at) = at { span .muted { (at) } }
            @if let Some(message) = message { br; (message) }
        }
    }
}

fn retrying(snapshot: &Snapshot) -> Markup {
    html! {
        h2 { "Next attempts (" (snapshot.counts.retrying) ")" }
        @if snapshot.retrying.is_empty() {
            p .muted { "No ticket waits for its next attempt." }
        } @else {
            table {
                tr { th { "Ticket" } th { "Attempt" } th { "Due" } th { "Why" } }
                @for row in &snapshot.retrying {
                    tr {
                        td { (link(&row.issue_identifier)) }
                        td { (row.attempt) }
                        td { (row.due_at) }
                        td { (row.error.as_deref().unwrap_or("The last one succeeded, and the ticket may still be open.")) }
                    }
                }
            }
        }
    }
}

fn waiting(snapshot: &Snapshot) -> Markup {
    html! {
        @if !snapshot.waiting.is_empty() {
            h2 { "Waiting (" (snapshot.waiting.len()) ")" }
            table {
                tr { th { "Ticket" } th { "Why" } }
                @for row in &snapshot.waiting {
                    tr { td { (row.issue_identifier) } td { (row.reason) } }
                }
            }
        }
    }
}

fn link(identifier: &str) -> Markup {
    // an identifier that is no part of an address is shown, and leads nowhere
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    html! {
        @if identifier.chars().all(is_plain) {
            a href={ "/api/v1/" (identifier) } { (identifier) }
        } @else {
            (identifier)
        }
    }
}
