//! One check, and how it is shown.

use std::fmt;

use serde::Serialize;
use symphony_view::text::{Listed, Page, plural};

use crate::failure::{Exit, Stop};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Health {
    Ok,
    /// It is not there, and nothing that is configured needs it.
    Absent,
    Warning,
    Failed,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CheckView {
    check: &'static str,
    pub(super) status: Health,
    /// What was found.
    pub(super) detail: String,
    /// How to repair it, with the command to type; empty when nothing is wrong.
    fix: String,
}

impl CheckView {
    pub(super) fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            check,
            status: Health::Ok,
            detail: detail.into(),
            fix: String::new(),
        }
    }

    pub(super) fn absent(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status: Health::Absent,
            ..Self::ok(check, detail)
        }
    }

    pub(super) fn warning(
        check: &'static str,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            check,
            status: Health::Warning,
            detail: detail.into(),
            fix: fix.into(),
        }
    }

    pub(super) fn failed(
        check: &'static str,
        detail: &dyn fmt::Display,
        fix: impl Into<String>,
    ) -> Self {
        let fix = fix.into();
        debug_assert!(fix.contains('`'), "{check}: `{fix}` names no command");
        Self {
            check,
            status: Health::Failed,
            detail: detail.to_string(),
            fix,
        }
    }
}

/// Writes checks, a line each, and how to repair what is wrong.
pub(super) fn write_checks(checks: &[CheckView], page: &mut Page) {
    for check in checks {
        let word = match check.status {
            Health::Ok => "ok",
            Health::Absent => "absent",
            Health::Warning => "warning",
            Health::Failed => "failed",
        };
        page.hanging(9, &format!("{word:<8} {}: {}", check.check, check.detail));
        if !check.fix.is_empty() {
            page.line(&format!("         fix: {}", check.fix));
        }
    }
}

impl Listed for CheckView {
    fn write_all(items: &[Self], page: &mut Page) {
        write_checks(items, page);
    }
}

/// Makes the command fail when a check did.
pub(super) fn fail_with(checks: &[CheckView]) -> anyhow::Result<()> {
    let failed = checks
        .iter()
        .filter(|check| check.status == Health::Failed)
        .count();
    if failed == 0 {
        return Ok(());
    }
    let message = format!("{} failed", plural(failed, "check"));
    let hint = "follow each `fix:` above, then run `symphony doctor` again";
    Err(Stop::new(Exit::Failed, message).hint(hint).into())
}
