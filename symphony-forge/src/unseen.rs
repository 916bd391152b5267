//! Required checks that nothing reports: a name that is written wrong, or CI that does not run for the branch.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::nearest::nearest;

use crate::check::SeenCheck;
use crate::remote::{CheckResult, RemoteCheck};

/// How long a check may be missing, in minutes: CI that waits for a machine has reported its jobs by then.
pub const MISSING_MINUTES_MAX: u32 = 30;
/// Fewest characters of a name that is looked for within others: shorter ones are in too many.
const PART_CHARS_MIN: usize = 3;

/// Notes since when checks are missing, and returns the names of those that no one is to wait for any longer: all else has ended, and
/// they have been missing for too long.
pub fn note_missing<'a>(
    seen: &'a mut [SeenCheck],
    found: &[RemoteCheck],
    now: Timestamp,
) -> Vec<&'a str> {
    let is_running = found
        .iter()
        .any(|check| check.result == CheckResult::Waiting);
    let known: BTreeSet<&str> = found.iter().map(|check| check.name.as_str()).collect();
    let mut missing = Vec::new();
    for check in seen {
        if known.contains(check.name.as_str()) {
            continue;
        }
        let since = *check.missing_since.get_or_insert(now);
        let until = since.saturating_add_ms(u64::from(MISSING_MINUTES_MAX) * 60_000);
        if until <= now && !is_running {
            missing.push(check.name.as_str());
        }
    }
    missing
}

/// Returns the name that was probably meant by one that nothing reports: a similar one, or one that it is a part of, as people write
/// `CI / build` for the job `build`.
pub fn meant<'a>(name: &str, reported: &[&'a str]) -> Option<&'a str> {
    if reported.contains(&name) {
        return None;
    }
    let wanted = name.to_lowercase();
    let is_part = |other: &&str| {
        let other = other.to_lowercase();
        let (short, long) = if other.chars().count() < wanted.chars().count() {
            (&other, &wanted)
        } else {
            (&wanted, &other)
        };
        short.chars().count() >= PART_CHARS_MIN && long.contains(short.as_str())
    };
    let part = || reported.iter().copied().find(is_part);
    nearest(name, reported.iter().copied()).or_else(part)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::check::plan_checks;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minute * 60).unwrap()
    }

    fn check(name: &str, result: CheckResult) -> RemoteCheck {
        RemoteCheck {
            name: name.to_owned(),
            run: None,
            is_job: false,
            result,
            summary: String::new(),
            url: None,
            at: None,
        }
    }

    #[test]
    fn a_check_that_nothing_reports_is_named_once_all_else_has_ended() {
        let names: BTreeSet<String> = ["build", "lint"].map(str::to_owned).into();
        let mut before = Vec::new();
        for (minute, found, expected) in [
            (0, vec![], vec![]),
            (29, vec![check("build", CheckResult::Passed)], vec![]),
            (30, vec![check("build", CheckResult::Waiting)], vec![]),
            (30, vec![check("build", CheckResult::Passed)], vec!["lint"]),
            (31, vec![check("lint", CheckResult::Passed)], vec![]),
            // missing again, and from then on
            (60, vec![], vec![]),
            (90, vec![], vec!["build", "lint"]),
        ] {
            let mut seen = plan_checks(&names, &found, &before, true).seen;
            let missing = note_missing(&mut seen, &found, at(minute));
            assert_eq!(missing, expected, "{minute}");
            before = seen;
        }
    }

    #[test]
    fn a_name_is_taken_for_a_similar_one_that_is_reported() {
        let reported = ["build", "test (ubuntu-latest)"];
        for (name, expected) in [
            ("build", None),
            ("biuld", Some("build")),
            ("Build", Some("build")),
            ("CI / build", Some("build")),
            ("test", Some("test (ubuntu-latest)")),
            ("deploy", None),
            ("te", None),
        ] {
            assert_eq!(meant(name, &reported), expected, "{name}");
        }
        assert_eq!(meant("build", &[]), None);
    }
}
