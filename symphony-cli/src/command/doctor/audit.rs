//! `symphony doctor --audit`.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::invariant::{Invariant, Violation};
use symphony_runner::audit::audit;
use symphony_view::text::{List, Listed, Page, plural};

use super::audit_steps::ShownSteps;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};

/// A finding, with what should hold.
#[derive(Debug, Clone, Serialize)]
struct FindingView {
    invariant: Invariant,
    /// What should hold.
    statement: &'static str,
    /// The row, file or process.
    subject: String,
    /// What is wrong with it.
    detail: String,
}

impl From<Violation> for FindingView {
    fn from(violation: Violation) -> Self {
        Self {
            invariant: violation.invariant,
            statement: violation.invariant.statement(),
            subject: violation.subject,
            detail: violation.detail,
        }
    }
}

impl Listed for FindingView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("The audit found no problems.");
        }
        for finding in items {
            page.line(&format!(
                "{}  {}: {}",
                finding.invariant, finding.subject, finding.detail
            ));
            page.line(&format!("    expected: {}", finding.statement));
        }
    }
}

pub(super) fn run(app: &App) -> anyhow::Result<()> {
    let mut session = app.session()?;
    let shown = ShownSteps::new(app.out);
    let found = audit(
        &session.installation,
        &mut session.store,
        Timestamp::now(),
        &mut |step| shown.show(step),
    )
    .context("audit the installation")?;
    drop(shown);
    let view: List<FindingView> = found.into_iter().map(FindingView::from).collect();
    app.out.answer(&view)?;
    if view.items.is_empty() {
        return Ok(());
    }
    let message = format!("the audit has {}", plural(view.items.len(), "finding"));
    Err(Stop::new(Exit::Failed, message)
        .hint("a command that is still running may cause findings that disappear by themselves: run the audit again first")
        .into())
}
