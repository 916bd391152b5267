//! The choice for issues that depend on something that ends or is removed: the question and the answer.

use symphony_core::id::IssueId;
use symphony_core::issue::{DependentEffect, DependentsFate};
use symphony_core::listing::list_few;

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::question::{self, Choice};

/// Dependent issues that a question or an answer names; the rest is counted.
const NAMED_MAX: usize = 5;

/// Returns what happens to the issues that depend on something: what was typed, what the terminal answers, or nothing to
/// decide where there are none.
///
/// # Errors
/// When there are some, and no one says what happens to them.
pub(crate) fn choose_fate(
    app: &App,
    typed: Option<DependentsFate>,
    direct: &[DependentEffect],
    on: &str,
) -> anyhow::Result<DependentsFate> {
    if direct.is_empty() {
        return Ok(DependentsFate::Keep);
    }
    if let Some(fate) = typed {
        return Ok(fate);
    }
    let names = list_few(direct.iter().map(|effect| effect.issue.as_str()), NAMED_MAX);
    let depend = if direct.len() == 1 {
        "depends"
    } else {
        "depend"
    };
    if question::is_possible(app.out) {
        let question = format!("{names} {depend} on {on}. What happens now?");
        let choices = [
            Choice::new('k', "keep", "wait until you decide"),
            Choice::new('c', "cancel", "cancel what depends on it too"),
            Choice::new('r', "release", "continue without it"),
        ];
        if let Some(answer) = question::ask(&question, &choices)? {
            return Ok(DependentsFate::parse(answer)?);
        }
    }
    let message = format!("{names} {depend} on {on}");
    Err(Stop::new(Exit::Usage, message)
        .hint("add `--dependents keep` (they wait), `cancel` (they are cancelled too) or `release` (they continue \
               without it)")
        .into())
}

/// Says what happened to the issues that depended on something; none where there were none.
pub(crate) fn fate_in_words(effects: &[DependentEffect], on: &str) -> Option<String> {
    let fate = effects.first()?.fate;
    let mut issues: Vec<&IssueId> = effects.iter().map(|effect| &effect.issue).collect();
    issues.dedup();
    let names = list_few(issues.iter().map(|issue| issue.as_str()), NAMED_MAX);
    let one = issues.len() == 1;
    Some(match fate {
        DependentsFate::Keep => format!(
            "{names} {} for your decision: `symphony inbox` lists {}.",
            if one { "waits" } else { "wait" },
            if one { "it" } else { "them" },
        ),
        DependentsFate::Cancel => format!("Cancelled too: {names}."),
        DependentsFate::Release => format!(
            "{names} no longer {} on {on}.",
            if one { "depends" } else { "depend" }
        ),
    })
}
