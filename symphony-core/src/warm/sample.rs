//! The check of warm runs by cold ones.

use crate::id::RunId;
use crate::listing::list_few;
use crate::pull_request::VerifiedGate;

/// One in this many warm runs is done again without what was kept.
pub const SAMPLE_ONE_IN: u64 = 20;

/// How many gates a text names; the others are counted.
const NAMES_MAX: usize = 3;

/// Returns whether a warm run is checked by a cold one. It follows from the run's id, which Symphony draws at random: nothing
/// that an agent writes has a say in it.
pub fn is_sampled(run: &RunId) -> bool {
    // FNV-1a over the text, then the last steps of SplitMix64: ids of the same millisecond differ in a few digits only.
    let mut hash = run
        .as_str()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (hash ^ (hash >> 31)).is_multiple_of(SAMPLE_ONE_IN)
}

/// What a cold run says about a warm one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColdComparison {
    /// Each gate ended alike.
    Agrees,
    /// These gates passed in the warm run only. What was kept is not to be trusted.
    PassedWarmOnly(Vec<String>),
    /// These gates passed in the cold run only, and none in the warm one only.
    PassedColdOnly(Vec<String>),
}

/// Compares the results of both. A gate that only one of them has counts as failed in the other one.
pub fn compare_with_cold(warm: &[VerifiedGate], cold: &[VerifiedGate]) -> ColdComparison {
    let only = |these: &[VerifiedGate], those: &[VerifiedGate]| -> Vec<String> {
        let passed = |all: &[VerifiedGate], name: &str| {
            all.iter().any(|gate| gate.name == name && gate.passed)
        };
        these
            .iter()
            .filter(|gate| gate.passed && !passed(those, &gate.name))
            .map(|gate| gate.name.clone())
            .collect()
    };
    let (in_warm, in_cold) = (only(warm, cold), only(cold, warm));
    if !in_warm.is_empty() {
        ColdComparison::PassedWarmOnly(in_warm)
    } else if in_cold.is_empty() {
        ColdComparison::Agrees
    } else {
        ColdComparison::PassedColdOnly(in_cold)
    }
}

impl ColdComparison {
    /// Returns the sentence that a person reads when gates passed in the warm run only.
    pub fn warning(&self) -> Option<String> {
        let Self::PassedWarmOnly(gates) = self else {
            return None;
        };
        let names = list_few(gates.iter().map(String::as_str), NAMES_MAX);
        Some(format!(
            "{names} passed in a checkout with kept build output, and failed in one without; Symphony uses none for this project now"
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn gate(name: &str, passed: bool) -> VerifiedGate {
        VerifiedGate {
            name: name.to_owned(),
            required: true,
            passed,
            exit_code: Some(i32::from(!passed)),
            duration_ms: 0,
            output: String::new(),
            cached: false,
            definition: None,
            failed_tries: Vec::new(),
        }
    }

    #[test]
    fn a_pass_that_a_cold_run_does_not_confirm_is_named() {
        use ColdComparison::{Agrees, PassedColdOnly, PassedWarmOnly};
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for (warm, cold, expected) in [
            (vec![], vec![], Agrees),
            (vec![gate("a", true)], vec![gate("a", true)], Agrees),
            (vec![gate("a", false)], vec![gate("a", false)], Agrees),
            (
                vec![gate("a", true), gate("b", false)],
                vec![gate("a", false), gate("b", true)],
                PassedWarmOnly(names(&["a"])),
            ),
            (vec![gate("a", true)], vec![], PassedWarmOnly(names(&["a"]))),
            (
                vec![gate("a", false)],
                vec![gate("a", true)],
                PassedColdOnly(names(&["a"])),
            ),
        ] {
            let found = compare_with_cold(&warm, &cold);
            assert_eq!(found, expected);
            assert_eq!(
                found.warning().is_some(),
                matches!(expected, PassedWarmOnly(_))
            );
        }
    }

    #[test]
    fn about_one_in_twenty_runs_is_sampled() {
        let sampled = (0..20_000_u32)
            .filter(|number| {
                let id = format!("0197a1b2-c3d4-7e5f-8a9b-{number:012x}");
                is_sampled(&RunId::parse(id).unwrap())
            })
            .count();
        assert!((800..1200).contains(&sampled), "{sampled}");
    }

    proptest! {
        #[test]
        fn no_unconfirmed_pass_is_missed(
            warm in proptest::collection::vec(any::<bool>(), 0..6),
            cold in proptest::collection::vec(any::<bool>(), 0..6),
        ) {
            let gates = |all: &[bool]| -> Vec<VerifiedGate> {
                all.iter().enumerate().map(|(at, passed)| gate(&at.to_string(), *passed)).collect()
            };
            let unconfirmed = warm.iter().enumerate().any(|(at, passed)| *passed && cold.get(at) != Some(&true));
            let found = compare_with_cold(&gates(&warm), &gates(&cold));
            prop_assert_eq!(matches!(found, ColdComparison::PassedWarmOnly(_)), unconfirmed);
        }
    }
}
