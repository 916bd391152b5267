//! What a pull request is at the project's forge.

use maud::{Markup, html};
use symphony_forge::remote::CheckResult;
use symphony_view::ForgePullView;

/// The rows of a list of facts.
pub(super) fn forge_rows(forge: &ForgePullView) -> Markup {
    html! {
        dt { "At the forge" }
        dd {
            @if let Some(page) = forge.page() { a href=(page) rel="noopener noreferrer" { (forge.name()) } }
            @else { (forge.name()) }
            @if !forge.is_open { " " span .soft { "ended" } }
        }
        @for check in &forge.checks {
            dt { (check.name) }
            dd {
                span class=(colour(check.result)) { (check.how()) }
                @if let Some(page) = page_of(check.url.as_deref()) { " " a href=(page) rel="noopener noreferrer" { "log" } }
            }
        }
        @if let Some(problem) = &forge.problem { dt { "Problem" } dd .bad { (problem) } }
    }
}

const fn colour(result: CheckResult) -> &'static str {
    match result {
        CheckResult::Passed => "ok",
        CheckResult::Waiting => "warn",
        CheckResult::Failed => "bad",
    }
}

/// Returns an address if a browser may be sent there.
fn page_of(url: Option<&str>) -> Option<&str> {
    url.filter(|url| url.starts_with("https://") || url.starts_with("http://"))
}
