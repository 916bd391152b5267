//! Which issue gets which set of prompts: decided by a hash, so that anyone can reproduce it and no one can influence
//! it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::closed_set::closed_set;
use crate::id::IssueId;

/// Longest name of a trial: it names a folder.
pub const TRIAL_NAME_CHARS_MAX: usize = 60;

/// How many bits of a hash are compared with a share: a float represents them exactly.
const SHARE_BITS: u32 = 53;

closed_set!(
    /// One of the two sets of prompts of a trial.
    PromptSet, "set of prompts", {
        /// The first one: usually what is used today.
        A = "A",
        /// The second one: usually what is tried.
        B = "B",
    }
);

closed_set!(
    /// Which sets an issue is replayed with.
    Pairing, "pairing", {
        /// With one of the two, half of the issues each.
        One = "one",
        /// With both.
        Both = "both",
    }
);

/// The name of a trial: lower-case letters, digits and hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrialName(String);

/// A text that is not the name of a trial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not the name of a trial: lower-case letters, digits and hyphens are expected, at most 60, a letter or digit first"
)]
pub struct TrialNameError(String);

impl TrialName {
    /// Parses a name.
    ///
    /// # Errors
    /// When it is empty, too long, or has other characters.
    pub fn parse(text: &str) -> Result<Self, TrialNameError> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = !text.is_empty()
            && text.len() <= TRIAL_NAME_CHARS_MAX
            && text.chars().all(fits)
            && !text.starts_with('-');
        if is_name {
            Ok(Self(text.to_owned()))
        } else {
            Err(TrialNameError(text.to_owned()))
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TrialName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for TrialName {
    type Error = TrialNameError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<TrialName> for String {
    fn from(name: TrialName) -> Self {
        name.0
    }
}

/// The part of all issues that gets the set B, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

/// A number that is not a share.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{0} is not a share: a number from 0 to 1 is expected")]
pub struct ShareError(f64);

impl Share {
    /// Half of all.
    pub const HALF: Self = Self(0.5);

    /// Creates a share.
    ///
    /// # Errors
    /// When the number is not from 0 to 1.
    pub fn new(number: f64) -> Result<Self, ShareError> {
        if (0.0..=1.0).contains(&number) {
            Ok(Self(number))
        } else {
            Err(ShareError(number))
        }
    }

    /// Returns the number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Share {
    type Error = ShareError;
    fn try_from(number: f64) -> Result<Self, Self::Error> {
        Self::new(number)
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> Self {
        share.0
    }
}

/// The set of an issue in a live trial: recorded with each run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The trial.
    pub trial: TrialName,
    /// The set.
    pub set: PromptSet,
    /// The issue that has the set: the topmost one above the issue of the run.
    pub issue: IssueId,
}

impl fmt::Display for Assignment {
    /// `B of the trial shorter`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the trial {}", self.set, self.trial)
    }
}

/// An issue that a replay gives to a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCase {
    /// The issue.
    pub issue: IssueId,
    /// The set.
    pub set: PromptSet,
}

/// Returns the set of an issue of a live trial: B when its hash is below the share.
///
/// An issue keeps its set while the trial has the same name. With a larger share issues move from A to B, and none from
/// B to A.
pub fn assign(trial: &TrialName, issue: &IssueId, share: Share) -> PromptSet {
    if place(trial, issue) < share.get() {
        PromptSet::B
    } else {
        PromptSet::A
    }
}

/// Assigns each issue of a replay a set, in the order in which the cases run.
///
/// The issues are ordered by their hashes and assigned to A and B alternately. So the sets differ by at most one issue,
/// wherever the replay stops, and the order of the file does not matter. A duplicate issue counts once. If each issue
/// gets both sets, A and B take turns being first: what changes with time, such as a provider's load, is then not
/// mistaken for the effect of a set.
pub fn plan_cases(trial: &TrialName, issues: &[IssueId], pairing: Pairing) -> Vec<PlannedCase> {
    let mut order: Vec<(u64, &IssueId)> = issues
        .iter()
        .map(|issue| (hash(trial, issue), issue))
        .collect();
    order.sort();
    order.dedup();
    let turns = order.into_iter().zip(PromptSet::ALL.iter().cycle());
    let cases = turns.flat_map(|((_, issue), first)| {
        let others = PromptSet::ALL.iter().filter(move |set| *set != first);
        let others = others.filter(move |_| pairing == Pairing::Both);
        std::iter::once(first)
            .chain(others)
            .map(move |set| PlannedCase {
                issue: issue.clone(),
                set: *set,
            })
    });
    cases.collect()
}

/// The place of an issue between 0 and 1.
#[expect(
    clippy::cast_precision_loss,
    reason = "a float holds 53 bits exactly, and no more are left"
)]
fn place(trial: &TrialName, issue: &IssueId) -> f64 {
    let bits = hash(trial, issue) >> (u64::BITS - SHARE_BITS);
    bits as f64 / (1_u64 << SHARE_BITS) as f64
}

/// FNV-1a over `trial`, a zero byte and the identifier, then the finaliser of `MurmurHash3`: names that differ in their
/// last letter differ in the upper bits only after it.
fn hash(trial: &TrialName, issue: &IssueId) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes = trial.as_str().bytes().chain([0]);
    let bytes = bytes.chain(issue.as_str().bytes());
    let mut hash = bytes.fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    });
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
    }
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(name: &str) -> TrialName {
        TrialName::parse(name).unwrap()
    }

    fn issues(count: usize) -> Vec<IssueId> {
        (1..=count)
            .map(|number| IssueId::parse(format!("SYM-{number}")).unwrap())
            .collect()
    }

    fn share(number: f64) -> Share {
        Share::new(number).unwrap()
    }

    /// The assignment is recorded with runs: a change of the hash would mix the sets of running trials.
    #[test]
    fn the_assignment_never_changes() {
        let sets = issues(16).iter().fold(String::new(), |mut text, issue| {
            text.push_str(assign(&trial("shorter"), issue, share(0.5)).name());
            text
        });
        assert_eq!(sets, "ABBBABABBBBABBAA");
    }

    #[test]
    fn a_share_is_met_and_a_larger_one_only_adds() {
        let all = issues(10_000);
        for name in ["shorter", "a", "b"] {
            let trial = trial(name);
            let mut before = Vec::new();
            for number in [0.0, 0.1, 0.5, 0.9, 1.0] {
                let with_b: Vec<&IssueId> = all
                    .iter()
                    .filter(|issue| assign(&trial, issue, share(number)) == PromptSet::B)
                    .collect();
                #[expect(clippy::cast_precision_loss, reason = "ten thousand at most")]
                let found = with_b.len() as f64 / 10_000.0;
                assert!((found - number).abs() < 0.02, "{name} {number}: {found}");
                assert!(before.iter().all(|issue| with_b.contains(issue)));
                before = with_b;
            }
        }
    }

    #[test]
    fn two_trials_divide_the_issues_in_different_ways() {
        let all = issues(10_000);
        let (one, two) = (trial("one"), trial("two"));
        let same = all
            .iter()
            .filter(|issue| assign(&one, issue, share(0.5)) == assign(&two, issue, share(0.5)))
            .count();
        assert!((4_800..5_200).contains(&same), "{same}");
    }

    #[test]
    fn a_replay_is_balanced_wherever_it_stops_and_in_any_order_of_its_file() {
        for count in 0..40 {
            let mut all = issues(count);
            let cases = plan_cases(&trial("shorter"), &all, Pairing::One);
            assert_eq!(cases.len(), count);
            for stop in 0..=count {
                let with_a = cases[..stop]
                    .iter()
                    .filter(|case| case.set == PromptSet::A)
                    .count();
                assert!(with_a.abs_diff(stop - with_a) <= 1);
            }
            all.reverse();
            all.extend(issues(count));
            assert_eq!(plan_cases(&trial("shorter"), &all, Pairing::One), cases);
            let both = plan_cases(&trial("shorter"), &all, Pairing::Both);
            assert_eq!(both.len(), 2 * count);
            assert!(both.chunks(2).all(|two| two[0].issue == two[1].issue));
            assert!(both.chunks(2).all(|two| two[0].set != two[1].set));
            // The first one is the one that the issue would have alone.
            let first: Vec<PlannedCase> = both.into_iter().step_by(2).collect();
            assert_eq!(first, cases);
        }
    }

    #[test]
    fn names_and_shares_have_limits() {
        for name in ["", "-a", "A", "a b", "a/b", "..", &"a".repeat(61)] {
            assert!(TrialName::parse(name).is_err(), "{name}");
        }
        for number in [-0.1, 1.01, f64::NAN, f64::INFINITY] {
            assert!(Share::new(number).is_err(), "{number}");
        }
    }
}
