//! The report on a trial of prompts: the results of each set's cases, with 95 % intervals, and how the sets differ.

use std::collections::BTreeMap;

use serde::Serialize;
use symphony_core::id::IssueId;
use symphony_core::prompt_trial::{CaseEnd, CaseOutcome, PromptSet};

use crate::usefulness::{
    Difference, Pairs, Proportion, Sample, as_float, difference_of_means, difference_of_pairs,
    difference_of_proportions, estimate_of_mean, more_cases_for_means, more_cases_for_proportions,
    more_pairs_for_means, more_pairs_for_proportions,
};

/// The fewest cases of each set for which a difference is reported. With three, "all against none" would be reported as a
/// difference although chance alone causes it in one of ten trials (Fisher's exact test); with five, in one of a hundred.
pub const DECISION_CASES_MIN: u64 = 5;

/// The fewest issues done with both sets for which a difference is reported. With five, chance alone favours the same set in
/// all of them in one of 16 trials (sign test); with six, in one of 32.
pub const DECISION_PAIRS_MIN: u64 = 6;

/// Milliseconds of a second.
const SECOND_MS: u64 = 1_000;

/// Something that is measured of each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Whether the required gates passed on what was handed in first.
    GatesFirstTime,
    /// Whether the work was approved.
    Approved,
    /// Attempts of workers.
    Attempts,
    /// Tokens of all runs.
    Tokens,
    /// Cost in US dollars.
    CostUsd,
    /// Seconds that agents ran.
    AgentSeconds,
}

impl Measure {
    /// All of them, in the order of the report.
    pub const ALL: [Self; 6] = [
        Self::GatesFirstTime,
        Self::Approved,
        Self::Attempts,
        Self::Tokens,
        Self::CostUsd,
        Self::AgentSeconds,
    ];

    /// Says whether it is a share of the cases and not a mean.
    pub const fn is_share(self) -> bool {
        matches!(self, Self::GatesFirstTime | Self::Approved)
    }

    /// Returns the value of a case, 0 or 1 for a share; none where it is not known.
    fn of(self, case: &CaseOutcome) -> Option<f64> {
        let share = |holds: bool| if holds { 1.0 } else { 0.0 };
        match self {
            Self::GatesFirstTime => case.gates_first_time.map(share),
            Self::Approved => Some(share(case.end == CaseEnd::Approved)),
            Self::Attempts => Some(f64::from(case.attempts)),
            Self::Tokens => Some(as_float(case.tokens.get())),
            Self::CostUsd => case.cost.map(symphony_core::unit::UsdMicros::usd),
            Self::AgentSeconds => Some(as_float(case.agent_ms) / as_float(SECOND_MS)),
        }
    }
}

/// The result of one set in one measure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SetReport {
    /// Cases for which the measure is known.
    pub cases: u64,
    /// Cases for which the measure is true; only for a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits: Option<u64>,
    /// The share or the mean; none without cases.
    pub estimate: Option<f64>,
    /// The lower end of its interval; none where the cases are too few for one.
    pub low: Option<f64>,
    /// The upper end of its interval.
    pub high: Option<f64>,
}

/// What the sets differ by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SetDifference {
    /// Too few cases to say anything.
    TooFew,
    /// The interval holds 0.
    Undecided,
    /// The set B has the higher value.
    HigherWithB,
    /// The set B has the lower value.
    LowerWithB,
}

/// One measure of a trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasureReport {
    /// What is measured.
    pub measure: Measure,
    /// The result of the set A.
    pub a: SetReport,
    /// The result of the set B.
    pub b: SetReport,
    /// The value of B less the value of A: of pairs where there are any, else of independent groups.
    pub difference: Option<Difference>,
    /// Issues that were done with both sets and of which the measure is known for both; none where each issue has one set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// What the difference shows.
    pub found: SetDifference,
    /// How many more cases each set would need for a decision, if the difference is as large as it was found; 0 when it is
    /// decided, none when no difference was found.
    pub more_cases: Option<u64>,
}

/// The report on a trial of prompts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PromptTrialReport {
    /// Cases of the set A.
    pub cases_a: u64,
    /// Cases of the set B.
    pub cases_b: u64,
    /// Cases that show nothing about the prompts; no other number counts them.
    pub left_out: u64,
    /// Issues of which a case of each set counts; none where each issue has one set. The difference is then that within them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// The measures for which at least one case has a value.
    pub measures: Vec<MeasureReport>,
}

impl PromptTrialReport {
    /// Sums up the cases of a trial, in any order.
    pub fn new(cases: &[CaseOutcome]) -> Self {
        let counts = |case: &&CaseOutcome| !matches!(case.end, CaseEnd::LeftOut { .. });
        let of = |set: PromptSet| -> Vec<&CaseOutcome> {
            let chosen = cases.iter().filter(counts);
            chosen.filter(|case| case.set == set).collect()
        };
        let (a, b) = (of(PromptSet::A), of(PromptSet::B));
        let pairs = pairs_of(&a, &b);
        let measures = Measure::ALL.into_iter();
        Self {
            cases_a: count(a.len()),
            cases_b: count(b.len()),
            left_out: count(cases.len() - a.len() - b.len()),
            pairs: (!pairs.is_empty()).then(|| count(pairs.len())),
            measures: measures
                .filter_map(|measure| {
                    let report = MeasureReport::new(measure, &a, &b)?;
                    Some(if pairs.is_empty() {
                        report
                    } else {
                        report.within(&pairs)
                    })
                })
                .collect(),
        }
    }
}

/// The cases of an issue with the set A and with the set B.
type Pair<'a> = (&'a CaseOutcome, &'a CaseOutcome);

/// Returns the issues that were done with both sets, in their order. A trial gives each issue one set, or both of them to each.
fn pairs_of<'a>(a: &[&'a CaseOutcome], b: &[&'a CaseOutcome]) -> Vec<Pair<'a>> {
    let with_a: BTreeMap<&IssueId, &CaseOutcome> =
        a.iter().map(|case| (&case.issue, *case)).collect();
    let with_b: BTreeMap<&IssueId, &CaseOutcome> =
        b.iter().map(|case| (&case.issue, *case)).collect();
    let pair = |(issue, one): (&&IssueId, &&'a CaseOutcome)| Some((*one, *with_b.get(*issue)?));
    with_a.iter().filter_map(pair).collect()
}

/// How many of the cases of a set have what is measured.
#[derive(Debug, Clone, Copy)]
struct Hits {
    hits: u64,
    cases: u64,
}

impl Hits {
    fn share(self) -> Option<Proportion> {
        Proportion::new(self.hits, self.cases)
    }
}

impl MeasureReport {
    /// Takes the difference within issues in place of that between groups.
    fn within(self, pairs: &[Pair<'_>]) -> Self {
        let known = pairs
            .iter()
            .filter_map(|(a, b)| self.measure.of(a).zip(self.measure.of(b)));
        let (difference, more, cases) = if self.measure.is_share() {
            let mut of_both = Pairs::default();
            known.for_each(|(a, b)| of_both.add(b > 0.0, a > 0.0));
            let more = more_pairs_for_proportions(&of_both);
            (difference_of_pairs(&of_both), more, of_both.count())
        } else {
            // in one order: sums of floats depend on it
            let mut differences: Vec<f64> = known.map(|(a, b)| b - a).collect();
            differences.sort_by(f64::total_cmp);
            let differences: Sample = differences.into_iter().collect();
            let more = more_pairs_for_means(&differences);
            (estimate_of_mean(&differences), more, differences.count)
        };
        Self {
            difference,
            pairs: Some(cases),
            found: SetDifference::of(difference.as_ref(), cases, DECISION_PAIRS_MIN),
            more_cases: at_least(more, cases, DECISION_PAIRS_MIN),
            ..self
        }
    }

    fn new(measure: Measure, a: &[&CaseOutcome], b: &[&CaseOutcome]) -> Option<Self> {
        let sample = |cases: &[&CaseOutcome]| -> Sample {
            // in one order: sums of floats depend on it
            let mut values: Vec<f64> = cases.iter().filter_map(|case| measure.of(case)).collect();
            values.sort_by(f64::total_cmp);
            values.into_iter().collect()
        };
        let (one, two) = (sample(a), sample(b));
        if one.count + two.count == 0 {
            return None;
        }
        let hits = |cases: &[&CaseOutcome], sample: &Sample| {
            let values = cases.iter().filter_map(|case| measure.of(case));
            Hits {
                hits: count(values.filter(|value| *value > 0.0).count()),
                cases: sample.count,
            }
        };
        if measure.is_share() {
            Some(Self::of_shares(measure, hits(a, &one), hits(b, &two)))
        } else {
            Some(Self::of_means(measure, &one, &two))
        }
    }

    fn of_shares(measure: Measure, a: Hits, b: Hits) -> Self {
        let set = |of: Hits| {
            let found = of.share().map(Proportion::estimate);
            let share = found.map(|found| found.estimate);
            SetReport::new(of.cases, Some(of.hits), share, found)
        };
        let both = b.share().zip(a.share());
        let cases = a.cases.min(b.cases);
        let difference = both.map(|(b, a)| difference_of_proportions(b, a));
        let more_cases = both.and_then(|(b, a)| more_cases_for_proportions(b, a));
        Self {
            measure,
            a: set(a),
            b: set(b),
            difference,
            pairs: None,
            found: SetDifference::of(difference.as_ref(), cases, DECISION_CASES_MIN),
            more_cases: at_least(more_cases, cases, DECISION_CASES_MIN),
        }
    }

    fn of_means(measure: Measure, a: &Sample, b: &Sample) -> Self {
        let set = |sample: &Sample| {
            let mean = (sample.count > 0).then_some(sample.mean);
            // nothing that is measured is below 0
            let interval = estimate_of_mean(sample).map(|found| Difference {
                low: found.low.max(0.0),
                ..found
            });
            SetReport::new(sample.count, None, mean, interval)
        };
        let difference = difference_of_means(b, a);
        let cases = a.count.min(b.count);
        Self {
            measure,
            a: set(a),
            b: set(b),
            difference,
            pairs: None,
            found: SetDifference::of(difference.as_ref(), cases, DECISION_CASES_MIN),
            more_cases: at_least(more_cases_for_means(b, a), cases, DECISION_CASES_MIN),
        }
    }
}

impl SetReport {
    fn new(
        cases: u64,
        hits: Option<u64>,
        estimate: Option<f64>,
        interval: Option<Difference>,
    ) -> Self {
        Self {
            cases,
            hits,
            estimate,
            low: interval.map(|found| found.low),
            high: interval.map(|found| found.high),
        }
    }
}

impl SetDifference {
    fn of(difference: Option<&Difference>, cases: u64, fewest: u64) -> Self {
        match difference {
            _ if cases < fewest => Self::TooFew,
            None => Self::TooFew,
            Some(found) if found.low > 0.0 => Self::HigherWithB,
            Some(found) if found.high < 0.0 => Self::LowerWithB,
            Some(_) => Self::Undecided,
        }
    }
}

/// Raises a number of further cases to what the fewest that decide need.
fn at_least(more: Option<u64>, cases: u64, fewest: u64) -> Option<u64> {
    more.map(|more| more.max(fewest.saturating_sub(cases)))
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use symphony_core::unit::{Tokens, UsdMicros};

    use super::*;

    fn case(number: u32, set: PromptSet, approved: bool) -> CaseOutcome {
        CaseOutcome {
            issue: IssueId::parse(format!("SYM-{number}")).unwrap(),
            set,
            end: if approved {
                CaseEnd::Approved
            } else {
                CaseEnd::NotApproved {
                    reason: "rejected".into(),
                }
            },
            gates_first_time: None,
            attempts: 1 + u32::from(!approved),
            tokens: Tokens::new(u64::from(number) * 100),
            cost: number
                .is_multiple_of(2)
                .then_some(UsdMicros::new(1_500_000)),
            agent_ms: 1_500,
        }
    }

    fn cases(approved_a: u32, approved_b: u32, each: u32) -> Vec<CaseOutcome> {
        let set = |set, approved| (1..=each).map(move |n| case(n, set, n <= approved));
        let apart = |case: CaseOutcome| CaseOutcome {
            issue: IssueId::parse(format!("{}0000", case.issue)).unwrap(),
            ..case
        };
        set(PromptSet::A, approved_a)
            .chain(set(PromptSet::B, approved_b).map(apart))
            .collect()
    }

    /// Issues done with both sets.
    fn paired(approved_a: u32, approved_b: u32, each: u32) -> Vec<CaseOutcome> {
        let of = |n| {
            [
                case(n, PromptSet::A, n <= approved_a),
                case(n, PromptSet::B, n <= approved_b),
            ]
        };
        (1..=each).flat_map(of).collect()
    }

    /// Each issue takes as many tokens with B as with A, and 50 more: with issues that differ by far more than that, only the
    /// difference within them shows it.
    #[test]
    fn what_differs_within_issues_is_found_although_issues_differ_more() {
        let mut all = paired(10, 10, 12);
        for (at, case) in all.iter_mut().enumerate() {
            if case.set == PromptSet::B {
                case.tokens =
                    Tokens::new(case.tokens.get() + 45 + u64::try_from(at % 4).unwrap() * 5);
            }
        }
        let report = PromptTrialReport::new(&all);
        assert_eq!(report.pairs, Some(12));
        let tokens = found(&report, Measure::Tokens).unwrap();
        assert_eq!(
            (tokens.found, tokens.pairs),
            (SetDifference::HigherWithB, Some(12))
        );
        let difference = tokens.difference.unwrap();
        assert!(
            difference.low > 45.0 && difference.high < 65.0,
            "{difference:?}"
        );
        // every second issue has a cost for both
        assert_eq!(found(&report, Measure::CostUsd).unwrap().pairs, Some(6));
        let apart = PromptTrialReport::new(&cases(10, 10, 12));
        assert_eq!(apart.pairs, None);
        assert_eq!(found(&apart, Measure::Tokens).unwrap().pairs, None);
    }

    #[test]
    fn a_difference_of_pairs_counts_from_six_on_and_only_whole_pairs_do() {
        for ((a, b, each), expected, low) in [
            ((0, 5, 5), SetDifference::TooFew, 0.3855),
            ((0, 6, 6), SetDifference::HigherWithB, 0.448),
            ((3, 7, 10), SetDifference::HigherWithB, 0.0142),
            ((7, 3, 10), SetDifference::LowerWithB, -0.6446),
            ((5, 5, 10), SetDifference::Undecided, -0.1666),
        ] {
            let report = PromptTrialReport::new(&paired(a, b, each));
            let approved = found(&report, Measure::Approved).unwrap();
            assert_eq!(approved.found, expected, "{a} {b} {each}");
            let found = approved.difference.unwrap();
            assert!((found.low - low).abs() < 0.000_051, "{found:?}");
        }
        let mut all = paired(0, 6, 6);
        all.pop();
        let report = PromptTrialReport::new(&all);
        assert_eq!(
            (report.cases_a, report.cases_b, report.pairs),
            (6, 5, Some(5))
        );
        let approved = found(&report, Measure::Approved).unwrap();
        assert_eq!(
            (approved.found, approved.more_cases),
            (SetDifference::TooFew, Some(1))
        );
    }

    fn found(report: &PromptTrialReport, measure: Measure) -> Option<&MeasureReport> {
        report.measures.iter().find(|one| one.measure == measure)
    }

    #[test]
    fn a_difference_counts_only_where_the_interval_excludes_none() {
        for ((a, b, each), expected, decided) in [
            ((2, 9, 10), SetDifference::HigherWithB, true),
            ((9, 2, 10), SetDifference::LowerWithB, true),
            ((4, 6, 10), SetDifference::Undecided, false),
            ((5, 5, 10), SetDifference::Undecided, false),
            ((0, 1, 1), SetDifference::TooFew, false),
            ((0, 4, 4), SetDifference::TooFew, false),
            ((0, 5, 5), SetDifference::HigherWithB, true),
        ] {
            let report = PromptTrialReport::new(&cases(a, b, each));
            let approved = found(&report, Measure::Approved).unwrap();
            assert_eq!(approved.found, expected, "{a} {b} {each}");
            assert_eq!(approved.more_cases == Some(0), decided, "{approved:?}");
        }
    }

    #[test]
    fn what_is_not_known_is_not_there_and_what_says_nothing_is_counted_apart() {
        let mut all = cases(3, 3, 4);
        all.push(CaseOutcome {
            end: CaseEnd::LeftOut {
                reason: "gone".into(),
            },
            ..case(9, PromptSet::A, true)
        });
        let report = PromptTrialReport::new(&all);
        assert_eq!((report.cases_a, report.cases_b, report.left_out), (4, 4, 1));
        assert_eq!(found(&report, Measure::GatesFirstTime), None);
        let cost = found(&report, Measure::CostUsd).unwrap();
        assert_eq!((cost.a.cases, cost.a.estimate), (2, Some(1.5)));
        let tokens = found(&report, Measure::Tokens).unwrap();
        assert_eq!(tokens.a.estimate, Some(250.0));
        assert_eq!(tokens.more_cases, None);
        assert_eq!(PromptTrialReport::new(&[]).measures, []);
    }

    #[test]
    fn the_order_of_the_cases_changes_nothing() {
        let mut all = cases(3, 5, 7);
        let report = PromptTrialReport::new(&all);
        all.reverse();
        assert_eq!(PromptTrialReport::new(&all), report);
    }
}
