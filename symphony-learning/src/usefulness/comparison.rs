//! Two groups of cases side by side: in numbers, in a sentence, and as a part of the score.

use serde::Serialize;

use super::cases::{Group, Sample};
use super::difference::Difference;
use super::{Proportion, difference_of_means, difference_of_proportions};

/// Cases that each group must have before the difference counts in the score. With fewer than ten, one issue that ends
/// the other way moves a share by more than ten points, which is all that a learning can be expected to change.
pub const CASES_MIN: u64 = 10;

/// Issues whose agents had a learning against those whose agents did not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparison {
    /// Those that had it.
    pub with: Group,
    /// Those that did not.
    pub without: Group,
    /// By how much the share merged first time is larger with it, −1 to 1.
    pub merged_first_time: Option<Difference>,
    /// By how much the mean number of attempts is larger with it.
    pub attempts: Option<Difference>,
    /// By how much the mean number of tokens is larger with it.
    pub tokens: Option<Difference>,
    /// What counts in the score, −1 to 1; 0 while the cases are too few or bear out no difference.
    pub score: f64,
}

impl Comparison {
    /// Compares two groups.
    pub fn new(with: Group, without: Group) -> Self {
        let share = |group: &Group| Proportion::new(group.merged_first_time, group.count);
        let merged_first_time = share(&with)
            .zip(share(&without))
            .map(|(one, two)| difference_of_proportions(one, two));
        let score = merged_first_time
            .filter(|_| with.count.min(without.count) >= CASES_MIN)
            .map_or(0.0, |difference| difference.borne_out());
        Self {
            merged_first_time,
            attempts: difference_of_means(&with.attempts, &without.attempts),
            tokens: difference_of_means(&with.tokens, &without.tokens),
            with,
            without,
            score,
        }
    }

    /// Says in plain words what was found.
    pub fn sentences(&self) -> Vec<String> {
        let (with, without) = (&self.with, &self.without);
        let merged = format!(
            "Issues with it: {} of {} merged first time; without: {} of {}",
            with.merged_first_time, with.count, without.merged_first_time, without.count
        );
        let mut sentences = vec![match &self.merged_first_time {
            Some(found) => format!("{merged} ({}).", range(found, " points", points)),
            None => format!("{merged} (too few to compare)."),
        }];
        let tenths = |value: f64| format!("{:+.1}", tidy(value, 10.0));
        let whole = |value: f64| format!("{:+.0}", tidy(value, 1.0));
        sentences.extend(
            means("Attempts", &with.attempts, &without.attempts, 1)
                .map(|text| format!("{text}{}.", in_brackets(self.attempts.as_ref(), tenths))),
        );
        sentences.extend(
            means("Tokens", &with.tokens, &without.tokens, 0)
                .map(|text| format!("{text}{}.", in_brackets(self.tokens.as_ref(), whole))),
        );
        sentences.push(self.weight());
        sentences
    }

    /// Says whether the difference counts when learnings are ranked.
    fn weight(&self) -> String {
        if self.with.count.min(self.without.count) < CASES_MIN {
            return format!(
                "It does not count in the ranking: each group needs at least {CASES_MIN} issues."
            );
        }
        if self.score > 0.0 {
            "It counts in the ranking: the learning comes first more often.".to_owned()
        } else if self.score < 0.0 {
            "It counts in the ranking: the learning comes last more often.".to_owned()
        } else {
            "It does not count in the ranking: the interval includes no difference.".to_owned()
        }
    }
}

/// Shows a difference of shares in points: whole ones, and tenths where a whole one would hide the sign.
fn points(value: f64) -> String {
    let points = value * 100.0;
    if points.abs() < 1.0 && tidy(points, 10.0) != 0.0 {
        return format!("{:+.1}", tidy(points, 10.0));
    }
    format!("{:+.0}", tidy(points, 1.0))
}

/// Rounds to a number of parts of one, so that nothing is shown as `-0`.
fn tidy(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts + 0.0
}

fn range(found: &Difference, unit: &str, shown: impl Fn(f64) -> String) -> String {
    format!(
        "difference {}{unit}, 95% interval {} to {}",
        shown(found.estimate),
        shown(found.low),
        shown(found.high)
    )
}

fn in_brackets(found: Option<&Difference>, shown: impl Fn(f64) -> String) -> String {
    found.map_or_else(String::new, |found| {
        format!(" ({})", range(found, "", shown))
    })
}

/// Both means, when both groups have cases.
fn means(what: &str, with: &Sample, without: &Sample, digits: usize) -> Option<String> {
    (with.count.min(without.count) > 0).then(|| {
        format!(
            "{what}: {:.digits$} on average with it, {:.digits$} without",
            with.mean, without.mean
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usefulness::Case;

    fn group(merged: u64, count: u64, attempts: u32) -> Group {
        let mut group = Group::default();
        for number in 0..count {
            group.add(&Case {
                merged_first_time: number < merged,
                attempts: attempts + u32::from(number % 2 == 0),
                tokens: 1_000 * (number + 1),
            });
        }
        group
    }

    #[test]
    fn the_groups_are_compared_in_plain_words() {
        let found = Comparison::new(group(14, 18, 1), group(20, 40, 2));
        assert_eq!(
            found.sentences(),
            [
                "Issues with it: 14 of 18 merged first time; without: 20 of 40 (difference +28 points, 95% interval +0.4 to +48).",
                "Attempts: 1.5 on average with it, 2.5 without (difference -1.0, 95% interval -1.3 to -0.7).",
                "Tokens: 9500 on average with it, 20500 without (difference -11000, 95% interval -15479 to -6521).",
                "It counts in the ranking: the learning comes first more often.",
            ]
        );
    }

    #[test]
    fn too_few_cases_are_shown_and_count_for_nothing() {
        for (with, without, counts) in [
            (group(9, 9, 1), group(0, 40, 1), false),
            (group(10, 10, 1), group(0, 9, 1), false),
            (group(10, 10, 1), group(0, 10, 1), true),
        ] {
            let found = Comparison::new(with, without);
            assert!(found.merged_first_time.is_some_and(|d| d.low > 0.0));
            assert_eq!(found.score > 0.0, counts, "{found:?}");
            assert_eq!(
                found
                    .sentences()
                    .last()
                    .is_some_and(|text| text.contains("at least 10")),
                !counts
            );
        }
        let nothing = Comparison::new(Group::default(), group(1, 1, 1));
        assert_eq!(nothing.merged_first_time, None);
        assert_eq!(
            nothing.sentences()[0],
            "Issues with it: 0 of 0 merged first time; without: 1 of 1 (too few to compare)."
        );
    }

    #[test]
    fn only_what_the_interval_bears_out_counts() {
        let better = Comparison::new(group(18, 20, 1), group(5, 20, 1));
        let low = better.merged_first_time.map(|found| found.low);
        assert_eq!(Some(better.score), low);
        let worse = Comparison::new(group(5, 20, 1), group(18, 20, 1));
        assert!((worse.score + better.score).abs() < 1e-12);
        let same = Comparison::new(group(10, 20, 1), group(11, 20, 1));
        assert_eq!(same.score.to_bits(), 0.0_f64.to_bits());
    }
}
