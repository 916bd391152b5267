//! The report on a trial in real work, as a table and as JSON.

use serde::Serialize;
use symphony_core::prompt_trial::{Assignment, CaseOutcome, LiveCase, PromptSet, Share, TrialName};
use symphony_learning::PromptTrialReport;
use symphony_view::percent;
use symphony_view::text::{Page, View, plural};

use super::texts::ChangedText;
use super::view::{write_reasons, write_report};

/// A trial in real work.
#[derive(Debug, Serialize)]
pub(super) struct LiveTrialView {
    name: TrialName,
    /// Whether it is configured, so that issues are still given sets.
    live: bool,
    /// The part of the issues that gets B now; absent when it is no longer configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<Share>,
    /// Issues that were given a set, each with all below it.
    issues: SetCounts,
    /// Those that agents, gates or reviewers still have. They are in no number of the report.
    at_work: SetCounts,
    /// Those that wait in `blocked` or in the backlog. They are in no number of the report.
    waiting: SetCounts,
    report: PromptTrialReport,
    cases: Vec<CaseOutcome>,
    /// Texts of the sets that agents have read in several versions.
    changed_texts: Vec<ChangedText>,
}

/// Issues by their set.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct SetCounts {
    a: usize,
    b: usize,
}

impl SetCounts {
    fn of<'a>(sets: impl Iterator<Item = &'a Assignment>) -> Self {
        let mut counts = Self::default();
        for assignment in sets {
            match assignment.set {
                PromptSet::A => counts.a += 1,
                PromptSet::B => counts.b += 1,
            }
        }
        counts
    }

    /// Returns the counts for a person; nothing where there are none.
    fn words(self) -> String {
        if self.a + self.b == 0 {
            return String::new();
        }
        format!("{} with A, {} with B", self.a, self.b)
    }
}

impl LiveTrialView {
    pub(super) fn new(
        name: TrialName,
        share: Option<Share>,
        found: Vec<(Assignment, LiveCase)>,
        changed_texts: Vec<ChangedText>,
    ) -> Self {
        let in_state = |wanted: fn(&LiveCase) -> bool| {
            let all = found.iter().filter(|(_, case)| wanted(case));
            SetCounts::of(all.map(|(assignment, _)| assignment))
        };
        let (issues, at_work, waiting) = (
            in_state(|_| true),
            in_state(|case| *case == LiveCase::AtWork),
            in_state(|case| *case == LiveCase::Waiting),
        );
        let cases: Vec<CaseOutcome> = found
            .into_iter()
            .filter_map(|(_, case)| match case {
                LiveCase::Ended(outcome) => Some(outcome),
                LiveCase::AtWork | LiveCase::Waiting => None,
            })
            .collect();
        Self {
            name,
            live: share.is_some(),
            share,
            issues,
            at_work,
            waiting,
            report: PromptTrialReport::new(&cases),
            cases,
            changed_texts,
        }
    }

    fn state(&self) -> String {
        match self.share {
            Some(share) => format!("live, {} of the issues get B", percent(share)),
            None => "over: it is no longer in the configuration, and issues get no set".to_owned(),
        }
    }

    fn ended(&self) -> String {
        let report = &self.report;
        if self.cases.is_empty() {
            return "none yet".to_owned();
        }
        let mut text = format!(
            "{}: {} with A, {} with B",
            plural(self.cases.len(), "issue"),
            report.cases_a,
            report.cases_b
        );
        if report.left_out > 0 {
            text.push_str(&format!(", {} left out", report.left_out));
        }
        text
    }
}

impl View for LiveTrialView {
    fn write(&self, page: &mut Page) {
        page.heading(&format!("Trial {} in real work", self.name));
        page.field("state", &self.state());
        page.field("issues", &self.issues.words());
        page.field("ended", &self.ended());
        page.field("at work", &self.at_work.words());
        page.field("waiting", &self.waiting.words());
        write_report(&self.report, page);
        write_reasons(&self.cases, page);
        if !self.changed_texts.is_empty() {
            page.heading(
                "Texts that changed during the trial, so the numbers mix several versions",
            );
            for text in &self.changed_texts {
                page.hanging(2, &text.sentence());
            }
        }
    }
}
