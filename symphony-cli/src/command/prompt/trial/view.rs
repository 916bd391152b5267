//! The report on a trial, as a table and as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use symphony_core::config::NamedProvider;
use symphony_core::prompt_trial::{CaseEnd, CaseOutcome, Pairing, PromptSet, TrialName};
use symphony_learning::{
    CASES_NEEDED_MAX, DECISION_CASES_MIN, DECISION_PAIRS_MIN, Difference, Measure, MeasureReport,
    PromptTrialReport, SetDifference, SetReport,
};
use symphony_view::text::{Page, Table, View, plural};

use super::folder::TrialFolder;
use super::spent::TrialSpending;

/// A trial.
#[derive(Debug, Serialize)]
pub(super) struct TrialView {
    name: TrialName,
    provider: NamedProvider,
    pairing: Pairing,
    sets: BTreeMap<PromptSet, PathBuf>,
    /// How many cases there are.
    planned: usize,
    /// How many have ended.
    ended: usize,
    /// What all cases have spent, those included that were cut off.
    spent: TrialSpending,
    report: PromptTrialReport,
    cases: Vec<CaseOutcome>,
}

impl TrialView {
    pub(super) fn new(folder: &TrialFolder, cases: Vec<CaseOutcome>, spent: TrialSpending) -> Self {
        let manifest = &folder.manifest;
        Self {
            name: manifest.name.clone(),
            provider: manifest.provider.clone(),
            pairing: manifest.pairing,
            sets: manifest.sets.clone(),
            planned: folder.cases().len(),
            ended: cases.len(),
            spent,
            report: PromptTrialReport::new(&cases),
            cases,
        }
    }
}

impl View for TrialView {
    fn write(&self, page: &mut Page) {
        page.heading(&format!("Trial {}", self.name));
        page.field("cases", &self.progress());
        for (set, folder) in &self.sets {
            page.field(&format!("set {set}"), &folder.display().to_string());
        }
        page.field("provider", &self.provider.to_string());
        page.field("spent", &self.spent.words());
        write_report(&self.report, page);
        write_reasons(&self.cases, page);
    }
}

impl TrialView {
    fn progress(&self) -> String {
        let report = &self.report;
        let mut text = format!("{} of {} have ended", self.ended, self.planned);
        if self.ended > 0 {
            text.push_str(&format!(
                ": {} with A, {} with B",
                report.cases_a, report.cases_b
            ));
        }
        if report.left_out > 0 {
            text.push_str(&format!(", {} left out", report.left_out));
        }
        text
    }
}

/// Writes the measures, and how to read them.
pub(super) fn write_report(report: &PromptTrialReport, page: &mut Page) {
    if report.measures.is_empty() {
        return;
    }
    page.gap();
    page.table(&table(report));
    page.gap();
    if let Some(pairs) = report.pairs {
        let pairs = plural(usize::try_from(pairs).unwrap_or(usize::MAX), "issue");
        page.line(&format!(
            "Paired: B minus A compares the two results of each of the {pairs} that were repeated with both sets."
        ));
    }
    page.line(
        "The 95% intervals are in parentheses. One of several measures can differ by chance:",
    );
    page.line("decide before a trial which one counts, and how many cases to run.");
}

/// Writes why cases were not approved, or left out.
pub(super) fn write_reasons(cases: &[CaseOutcome], page: &mut Page) {
    list(cases, page, "Not approved", |end| match end {
        CaseEnd::NotApproved { reason } => Some(reason),
        _ => None,
    });
    list(cases, page, "Left out", |end| match end {
        CaseEnd::LeftOut { reason } => Some(reason),
        _ => None,
    });
}

fn list(
    cases: &[CaseOutcome],
    page: &mut Page,
    heading: &str,
    reason: impl Fn(&CaseEnd) -> Option<&String>,
) {
    let found = cases.iter();
    let mut found = found
        .filter_map(|case| reason(&case.end).map(|reason| (case, reason)))
        .peekable();
    if found.peek().is_none() {
        return;
    }
    page.heading(heading);
    for (case, reason) in found {
        page.hanging(2, &format!("{} with {}: {reason}", case.issue, case.set));
    }
}

fn table(report: &PromptTrialReport) -> Table {
    let mut table = Table::new(["MEASURE", "A", "B", "B MINUS A", "RESULT"]);
    for measure in &report.measures {
        let difference = measure.difference.as_ref();
        table.row([
            name(measure.measure).to_owned(),
            of_set(measure.measure, &measure.a, report.cases_a),
            of_set(measure.measure, &measure.b, report.cases_b),
            difference.map_or_else(String::new, |found| of_difference(measure.measure, found)),
            result(measure),
        ]);
    }
    table
}

const fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::GatesFirstTime => "gates passed first time",
        Measure::Approved => "approved",
        Measure::Attempts => "attempts",
        Measure::Tokens => "tokens",
        Measure::CostUsd => "cost in USD",
        Measure::AgentSeconds => "agent time in seconds",
    }
}

/// Shows a value of a measure: shares in percent.
fn shown(measure: Measure, value: f64) -> String {
    match measure {
        Measure::GatesFirstTime | Measure::Approved => format!("{:.0}%", value * 100.0),
        Measure::Attempts | Measure::AgentSeconds => format!("{value:.1}"),
        Measure::Tokens => format!("{value:.0}"),
        Measure::CostUsd => format!("{value:.2}"),
    }
}

/// Shows a difference with its sign, shares in points; `-0` is `+0`.
fn signed(measure: Measure, value: f64) -> String {
    let digits = match measure {
        Measure::GatesFirstTime | Measure::Approved | Measure::Tokens => 0,
        Measure::Attempts | Measure::AgentSeconds => 1,
        Measure::CostUsd => 2,
    };
    let value = if measure.is_share() {
        value * 100.0
    } else {
        value
    };
    let parts = 10_f64.powi(digits);
    let value = (value * parts).round() / parts + 0.0;
    let digits = usize::try_from(digits).unwrap_or(0);
    format!("{value:+.digits$}")
}

/// Shows the results of a set; a mean of only some of its cases says of how many, since cases
/// without a value may differ from the others.
fn of_set(measure: Measure, set: &SetReport, cases: u64) -> String {
    let Some(estimate) = set.estimate else {
        return "-".to_owned();
    };
    let mut found = match set.hits {
        Some(hits) => format!("{hits} of {}", set.cases),
        None => shown(measure, estimate),
    };
    if let Some((low, high)) = set.low.zip(set.high) {
        let (low, high) = (shown(measure, low), shown(measure, high));
        found.push_str(&format!(" ({low} to {high})"));
    }
    if set.hits.is_none() && set.cases < cases {
        found.push_str(&format!(", known of {}", set.cases));
    }
    found
}

fn of_difference(measure: Measure, found: &Difference) -> String {
    let unit = if measure.is_share() { " points" } else { "" };
    format!(
        "{}{unit} ({} to {})",
        signed(measure, found.estimate),
        signed(measure, found.low),
        signed(measure, found.high)
    )
}

/// Says what the difference shows, and never more.
fn result(measure: &MeasureReport) -> String {
    let more = match measure.more_cases {
        _ if measure.found == SetDifference::TooFew => match measure.pairs {
            Some(_) => format!("{DECISION_PAIRS_MIN} issues with both sets are needed"),
            None => format!("each set needs {DECISION_CASES_MIN} cases"),
        },
        None => "no difference found".to_owned(),
        Some(CASES_NEEDED_MAX..) => format!("needs over {CASES_NEEDED_MAX} more cases in each set"),
        Some(1) => "needs about 1 more case in each set".to_owned(),
        Some(more) => format!("needs about {more} more cases in each set"),
    };
    match measure.found {
        SetDifference::TooFew => format!("too few: {more}"),
        SetDifference::Undecided => format!("undecided: {more}"),
        SetDifference::HigherWithB => "higher with B".to_owned(),
        SetDifference::LowerWithB => "lower with B".to_owned(),
    }
}

/// Returns the result of a case in one line.
pub(super) fn outcome_line(case: &CaseOutcome) -> String {
    let subject = format!("{} with {}", case.issue, case.set);
    let attempts = usize::try_from(case.attempts).unwrap_or(usize::MAX);
    let attempts = plural(attempts, "attempt");
    match &case.end {
        CaseEnd::Approved => format!("{subject}: approved after {attempts}"),
        CaseEnd::NotApproved { reason } => {
            format!("{subject}: not approved after {attempts}: {reason}")
        }
        CaseEnd::LeftOut { reason } => format!("{subject}: left out: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use symphony_core::id::IssueId;
    use symphony_core::unit::{Tokens, UsdMicros};

    use super::*;
    use symphony_view::text::Clock;

    fn case(number: u32, set: PromptSet, approved: bool) -> CaseOutcome {
        CaseOutcome {
            issue: IssueId::parse(format!("SYM-{number}")).unwrap(),
            set,
            end: if approved {
                CaseEnd::Approved
            } else {
                CaseEnd::NotApproved {
                    reason: "the judge rejected it three times".into(),
                }
            },
            gates_first_time: Some(approved),
            attempts: 1 + number % 2,
            tokens: Tokens::new(u64::from(number) * 1_000),
            cost: None,
            agent_ms: 2_000,
        }
    }

    fn shown_table(cases: &[CaseOutcome]) -> String {
        let mut page = Page::new(None, Clock::system());
        page.table(&table(&PromptTrialReport::new(cases)));
        anstream::adapter::strip_str(&page.into_text()).to_string()
    }

    #[test]
    fn a_difference_is_called_one_only_where_it_is_borne_out() {
        let other = |case: CaseOutcome| CaseOutcome {
            issue: IssueId::parse(format!("{}0", case.issue)).unwrap(),
            ..case
        };
        let with_b = |n| other(case(n, PromptSet::B, n > 4));
        let cases: Vec<CaseOutcome> = (1..=6)
            .flat_map(|n| [case(n, PromptSet::A, true), with_b(n)])
            .collect();
        insta::assert_snapshot!(shown_table(&cases), @"
        MEASURE                  A                     B                    B MINUS A                RESULT
        gates passed first time  6 of 6 (61% to 100%)  2 of 6 (10% to 70%)  -67 points (-90 to -13)  lower with B
        approved                 6 of 6 (61% to 100%)  2 of 6 (10% to 70%)  -67 points (-90 to -13)  lower with B
        attempts                 1.5 (0.9 to 2.1)      1.5 (0.9 to 2.1)     +0.0 (-0.7 to +0.7)      undecided: no difference found
        tokens                   3500 (1537 to 5463)   3500 (1537 to 5463)  +0 (-2407 to +2407)      undecided: no difference found
        agent time in seconds    2.0 (2.0 to 2.0)      2.0 (2.0 to 2.0)     +0.0 (+0.0 to +0.0)      undecided: no difference found
        ");
        insta::assert_snapshot!(shown_table(&cases[..2]), @"
        MEASURE                  A                     B                   B MINUS A                  RESULT
        gates passed first time  1 of 1 (21% to 100%)  0 of 1 (0% to 79%)  -100 points (-100 to +12)  too few: each set needs 5 cases
        approved                 1 of 1 (21% to 100%)  0 of 1 (0% to 79%)  -100 points (-100 to +12)  too few: each set needs 5 cases
        attempts                 2.0                   2.0                                            too few: each set needs 5 cases
        tokens                   1000                  1000                                           too few: each set needs 5 cases
        agent time in seconds    2.0                   2.0                                            too few: each set needs 5 cases
        ");
    }

    #[test]
    fn a_mean_of_some_cases_says_of_how_many() {
        let mut cases: Vec<CaseOutcome> = (1..=3).map(|n| case(n, PromptSet::A, true)).collect();
        for case in cases.iter_mut().take(2) {
            case.cost = Some(UsdMicros::new(500_000));
        }
        let shown = shown_table(&cases);
        assert!(
            shown.contains("cost in USD              0.50 (0.50 to 0.50), known of 2"),
            "{shown}"
        );
    }

    #[test]
    fn a_report_on_issues_done_with_both_sets_says_that_it_is_paired() {
        let cases: Vec<CaseOutcome> = (1..=6)
            .flat_map(|n| [case(n, PromptSet::A, true), case(n, PromptSet::B, n > 4)])
            .collect();
        let shown = |cases: &[CaseOutcome]| {
            let mut page = Page::new(None, Clock::system());
            write_report(&PromptTrialReport::new(cases), &mut page);
            anstream::adapter::strip_str(&page.into_text()).to_string()
        };
        insta::assert_snapshot!(shown(&cases), @"
        MEASURE                  A                     B                    B MINUS A                RESULT
        gates passed first time  6 of 6 (61% to 100%)  2 of 6 (10% to 70%)  -67 points (-90 to -13)  lower with B
        approved                 6 of 6 (61% to 100%)  2 of 6 (10% to 70%)  -67 points (-90 to -13)  lower with B
        attempts                 1.5 (0.9 to 2.1)      1.5 (0.9 to 2.1)     +0.0 (+0.0 to +0.0)      undecided: no difference found
        tokens                   3500 (1537 to 5463)   3500 (1537 to 5463)  +0 (+0 to +0)            undecided: no difference found
        agent time in seconds    2.0 (2.0 to 2.0)      2.0 (2.0 to 2.0)     +0.0 (+0.0 to +0.0)      undecided: no difference found

        Paired: B minus A compares the two results of each of the 6 issues that were repeated with both sets.
        The 95% intervals are in parentheses. One of several measures can differ by chance:
        decide before a trial which one counts, and how many cases to run.
        ");
        let few = shown(&cases[..2]);
        assert!(
            few.contains("too few: 6 issues with both sets are needed"),
            "{few}"
        );
    }
}
