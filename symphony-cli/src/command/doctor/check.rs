//! One check, and how it is told.

use std::fmt;

use serde::Serialize;

use crate::failure::{Exit, Stop};
use crate::output::{List, Page, View, plural};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Health {
    Ok,
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
    /// How to mend it; empty when nothing is to be mended.
    mend: String,
}

impl CheckView {
    pub(super) fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            check,
            status: Health::Ok,
            detail: detail.into(),
            mend: String::new(),
        }
    }

    pub(super) fn warning(
        check: &'static str,
        detail: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            check,
            status: Health::Warning,
            detail: detail.into(),
            mend: mend.into(),
        }
    }

    pub(super) fn failed(
        check: &'static str,
        detail: &dyn fmt::Display,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            check,
            status: Health::Failed,
            detail: detail.to_string(),
            mend: mend.into(),
        }
    }
}

/// Writes checks, a line each, and how to mend what is wrong.
pub(super) fn write_checks(checks: &[CheckView], page: &mut Page) {
    for check in checks {
        let word = match check.status {
            Health::Ok => "ok",
            Health::Warning => "warning",
            Health::Failed => "failed",
        };
        page.hanging(9, &format!("{word:<8} {}: {}", check.check, check.detail));
        if !check.mend.is_empty() {
            page.line(&format!("         to mend it: {}", check.mend));
        }
    }
}

impl View for List<CheckView> {
    fn write(&self, page: &mut Page) {
        write_checks(&self.items, page);
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
    let message = format!(
        "find everything in order: {} failed",
        plural(failed, "check")
    );
    Err(Stop::new(Exit::Failed, message).into())
}
