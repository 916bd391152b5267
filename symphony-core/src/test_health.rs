//! Health of a test suite: does it grow out of proportion to the change, does it test the same thing twice (spec: mcp,
//! `record_test_health`).

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::issue::{FieldError, check_line};
use crate::wording::counted;

/// Most names of tests in one report: more than a suite has that an agent runs as a whole.
pub const TEST_NAMES_MAX: usize = 10_000;
/// Most tests in one report: a larger number is a mistake in counting.
pub const TEST_COUNT_MAX: u64 = 10_000_000;
/// Longest duration of one report, in milliseconds: a week, longer than any run.
pub const TEST_DURATION_MS_MAX: u64 = 7 * 24 * 60 * 60 * 1_000;

/// How many tests any change may add: a handful is never out of proportion.
pub const GROWTH_FREE: u64 = 10;
/// How many changed lines justify one more test: the shortest test with an arrangement and an assertion has about as
/// many.
pub const LINES_PER_TEST: u64 = 5;
/// Growth in percent of the suite that is in proportion while the size of the change is not known.
pub const GROWTH_PERCENT: u64 = 20;
/// Most groups of duplicates that a flag lists: the rest is counted.
pub const DUPLICATES_LISTED_MAX: usize = 20;

/// What an agent reports about the tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestReport {
    /// How many tests ran.
    pub test_count: u64,
    /// How long they took, in milliseconds.
    pub duration_ms: u64,
    /// Their names, as far as they are reported.
    pub names: Vec<String>,
}

/// What a report is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestBaseline {
    /// Tests of the project as last recorded before this work; `None` for the first record.
    pub previous_count: Option<u64>,
    /// Lines that this work added and removed, if known.
    pub changed_lines: Option<u64>,
}

/// A sign that tests were added for their number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "flag")]
pub enum BloatFlag {
    /// There are more new tests than the change accounts for.
    Growth {
        /// Tests before.
        previous: u64,
        /// Tests now.
        now: u64,
        /// New tests that would be in proportion.
        in_proportion: u64,
        /// Lines changed, if known.
        changed_lines: Option<u64>,
    },
    /// Several tests have the same name, upper and lower case, `_`, `-` and white space ignored.
    DuplicateNames {
        /// How many names occur more than once.
        groups: u64,
        /// The first of them, each as its first test is written.
        names: Vec<String>,
    },
}

impl fmt::Display for BloatFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Growth {
                previous,
                now,
                in_proportion,
                changed_lines,
            } => {
                write!(
                    f,
                    "the tests grew from {previous} to {now}; {in_proportion} more would be in proportion to "
                )?;
                match changed_lines {
                    Some(lines) => f.write_str(&counted(*lines, "changed line"))?,
                    None => f.write_str("the suite")?,
                }
                f.write_str(": keep those that can fail for a reason no other test covers, merge the rest into tables")
            }
            Self::DuplicateNames { groups, names } => {
                let occur = if *groups == 1 { "occurs" } else { "occur" };
                write!(
                    f,
                    "{} {occur} more than once ({}",
                    counted(*groups, "test name"),
                    names.join(", ")
                )?;
                if u64::try_from(names.len()).unwrap_or(u64::MAX) < *groups {
                    f.write_str(", …")?;
                }
                f.write_str("): remove what tests the same thing twice, rename what does not")
            }
        }
    }
}

/// Checks a report against the limits.
///
/// # Errors
/// Names the field, what was found and the limit.
pub fn check_report(report: &TestReport) -> Result<(), FieldError> {
    for (field, found, limit) in [
        ("test_count", report.test_count, TEST_COUNT_MAX),
        ("duration_ms", report.duration_ms, TEST_DURATION_MS_MAX),
    ] {
        if found > limit {
            return Err(FieldError::TooLarge {
                field,
                found,
                limit,
            });
        }
    }
    if report.names.len() > TEST_NAMES_MAX {
        return Err(FieldError::TooMany {
            field: "names",
            found: report.names.len(),
            limit: TEST_NAMES_MAX,
        });
    }
    report
        .names
        .iter()
        .try_for_each(|name| check_line("names", name))
}

/// Looks for bloat.
///
/// Growth is out of proportion when there are more new tests than [`GROWTH_FREE`] and more than one for each
/// [`LINES_PER_TEST`] changed lines; while the size of the change is not known, more than [`GROWTH_PERCENT`] of the
/// suite. A first record, or an empty suite and a change of unknown size, gives nothing to compare with.
pub fn bloat_flags(report: &TestReport, baseline: TestBaseline) -> Vec<BloatFlag> {
    growth(report.test_count, baseline)
        .into_iter()
        .chain(duplicates(&report.names))
        .collect()
}

fn growth(now: u64, baseline: TestBaseline) -> Option<BloatFlag> {
    let previous = baseline.previous_count?;
    let paid_for = match baseline.changed_lines {
        Some(lines) => lines / LINES_PER_TEST,
        None if previous == 0 => return None,
        None => previous.saturating_mul(GROWTH_PERCENT) / 100,
    };
    let in_proportion = paid_for.max(GROWTH_FREE);
    (now.saturating_sub(previous) > in_proportion).then_some(BloatFlag::Growth {
        previous,
        now,
        in_proportion,
        changed_lines: baseline.changed_lines,
    })
}

fn duplicates(names: &[String]) -> Option<BloatFlag> {
    let mut seen: BTreeMap<String, (&str, usize)> = BTreeMap::new();
    for name in names {
        seen.entry(name_key(name)).or_insert((name, 0)).1 += 1;
    }
    let twice: Vec<&str> = seen
        .into_values()
        .filter(|(_, count)| *count > 1)
        .map(|(name, _)| name)
        .collect();
    (!twice.is_empty()).then(|| BloatFlag::DuplicateNames {
        groups: u64::try_from(twice.len()).unwrap_or(u64::MAX),
        names: twice
            .into_iter()
            .take(DUPLICATES_LISTED_MAX)
            .map(str::to_owned)
            .collect(),
    })
}

/// Returns the key by which names are compared. Digits, brackets and paths count: cases of one table differ in them.
fn name_key(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-') && !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(test_count: u64, names: &[&str]) -> TestReport {
        TestReport {
            test_count,
            duration_ms: 1_000,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn growth_is_measured_by_the_change_or_by_the_suite() {
        /// Tests before, changed lines, tests now; how many more would be in proportion, when that is passed.
        type Row = (Option<u64>, Option<u64>, u64, Option<u64>);
        let table: &[Row] = &[
            (None, Some(0), 5_000, None),
            (Some(100), Some(0), 110, None),
            (Some(100), Some(0), 111, Some(10)),
            (Some(100), Some(54), 110, None),
            (Some(100), Some(54), 111, Some(10)),
            (Some(100), Some(55), 111, None),
            (Some(100), Some(500), 200, None),
            (Some(100), Some(500), 201, Some(100)),
            (Some(100), Some(500), 20, None),
            (Some(0), Some(500), 101, Some(100)),
            (Some(0), None, 5_000, None),
            (Some(40), None, 50, None),
            (Some(40), None, 51, Some(10)),
            (Some(100), None, 120, None),
            (Some(100), None, 121, Some(20)),
            (Some(u64::MAX), None, u64::MAX, None),
        ];
        for &(previous_count, changed_lines, now, expected) in table {
            let baseline = TestBaseline {
                previous_count,
                changed_lines,
            };
            let flags: Vec<BloatFlag> = expected
                .map(|in_proportion| BloatFlag::Growth {
                    previous: previous_count.unwrap_or(0),
                    now,
                    in_proportion,
                    changed_lines,
                })
                .into_iter()
                .collect();
            assert_eq!(
                bloat_flags(&report(now, &[]), baseline),
                flags,
                "{baseline:?} {now}"
            );
        }
    }

    #[test]
    fn names_are_compared_without_case_and_separators() {
        let table: &[(&[&str], &[&str])] = &[
            (&[], &[]),
            (&["a", "b"], &[]),
            (&["a", "a"], &["a"]),
            (
                &["parses_empty", "parsesEmpty", "parses-empty"],
                &["parses_empty"],
            ),
            (
                &["Parses empty", "parses_empty", "b", "B "],
                &["b", "Parses empty"],
            ),
            (&["case_1", "case_2", "t[a]", "t[b]"], &[]),
            (&["a::parses", "b::parses"], &[]),
            (&["ÄPFEL", "äpfel"], &["ÄPFEL"]),
        ];
        for (names, expected) in table {
            let flags: Vec<BloatFlag> = (!expected.is_empty())
                .then(|| BloatFlag::DuplicateNames {
                    groups: u64::try_from(expected.len()).unwrap(),
                    names: expected.iter().map(|name| (*name).to_owned()).collect(),
                })
                .into_iter()
                .collect();
            assert_eq!(
                bloat_flags(&report(3, names), TestBaseline::default()),
                flags,
                "{names:?}"
            );
        }
    }

    #[test]
    fn a_flag_says_what_to_do() {
        let names: Vec<String> = (0..25)
            .flat_map(|i| [format!("t{i:02}"), format!("T{i:02}")])
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let baseline = TestBaseline {
            previous_count: Some(10),
            changed_lines: None,
        };
        let told: Vec<String> = bloat_flags(&report(50, &names), baseline)
            .iter()
            .map(ToString::to_string)
            .collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        the tests grew from 10 to 50; 10 more would be in proportion to the suite: keep those that can fail for a reason no other test covers, merge the rest into tables
        25 test names occur more than once (t00, t01, t02, t03, t04, t05, t06, t07, t08, t09, t10, t11, t12, t13, t14, t15, t16, t17, t18, t19, …): remove what tests the same thing twice, rename what does not
        ");
    }

    #[test]
    fn a_report_over_a_limit_is_refused_by_its_name() {
        let long = "ä".repeat(301);
        let mut many = report(1, &[]);
        many.names = vec!["t".to_owned(); TEST_NAMES_MAX + 1];
        for (bad, message) in [
            (
                report(TEST_COUNT_MAX + 1, &[]),
                "test_count is 10000001; the limit is 10000000",
            ),
            (
                TestReport {
                    duration_ms: TEST_DURATION_MS_MAX + 1,
                    ..report(1, &[])
                },
                "duration_ms is 604800001; the limit is 604800000",
            ),
            (many, "names has 10001 items; the limit is 10000"),
            (report(1, &["a", " "]), "names must not be empty"),
            (
                report(1, &["a\nb"]),
                "names must be one line without control characters",
            ),
            (
                report(1, &[&long]),
                "names is 301 characters long; the limit is 300",
            ),
        ] {
            assert_eq!(check_report(&bad).unwrap_err().to_string(), message);
        }
        let mut most = report(TEST_COUNT_MAX, &[&"ä".repeat(300)]);
        most.names.resize(TEST_NAMES_MAX, "t".to_owned());
        assert_eq!(check_report(&most), Ok(()));
    }
}
