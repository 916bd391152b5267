//! All ways through deduplication equal the definition, also the ones that natural input does not take.

use proptest::prelude::*;

use super::limits::{LIMITS, Limits};
use super::{few, full};
use crate::texts::{NONE, Texts, small, wide};

const NO_STEPS: Limits = Limits {
    free: 0,
    bytes_per_step: u64::MAX,
};
const FEW_STEPS: Limits = Limits {
    free: 30,
    bytes_per_step: u64::MAX,
};

fn reference(texts: &Texts) -> Vec<u32> {
    let length = |number: &usize| texts.get(*number).len();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|number| (usize::MAX - length(number), *number));
    let covers = |number: usize| {
        let text = texts.get(number);
        let holds = |other: &&usize| {
            texts
                .get(**other)
                .windows(text.len())
                .any(|part| part == text)
        };
        let first = order.iter().find(holds).copied().expect("holds itself");
        if first == number { NONE } else { small(first) }
    };
    (0..texts.len()).map(covers).collect()
}

fn check(texts: &Texts) {
    let expected = reference(texts);
    let all: Vec<u32> = (0..texts.len()).map(small).collect();
    let covered: Vec<u32> = all
        .iter()
        .copied()
        .filter(|&n| expected[wide(n)] != NONE)
        .collect();
    for limits in [LIMITS, FEW_STEPS, NO_STEPS] {
        let prefer = |a: u32, b: u32| a.cmp(&b);
        assert_eq!(
            full::cover(texts, limits, |n| i64::from(n / 4), prefer).by,
            expected,
            "{limits:?}"
        );
        assert_eq!(
            few::covered(texts, &all, limits, prefer),
            covered,
            "{limits:?}"
        );
        let some: Vec<u32> = all.iter().copied().filter(|n| n % 3 == 1).collect();
        let of_some: Vec<u32> = covered.iter().copied().filter(|n| n % 3 == 1).collect();
        assert_eq!(
            few::covered(texts, &some, limits, prefer),
            of_some,
            "{limits:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 150 } else { 2_000 }))]

    #[test]
    fn every_way_equals_the_definition(
        mut parts in proptest::collection::vec("[ab]{1,120}|[abc ]{1,40}|a{1,90}|(ab){1,50}", 1..50),
        cuts in proptest::collection::vec((any::<usize>(), any::<usize>(), 1..90_usize), 0..50),
    ) {
        for (which, from, length) in cuts {
            let text = &parts[which % parts.len()];
            let from = from % text.len();
            let to = (from + length).min(text.len());
            let cut = text.get(from..to).unwrap().to_owned();
            parts.push(cut);
        }
        let mut texts = Texts::default();
        for text in &parts {
            texts.push(text.as_bytes());
        }
        check(&texts);
    }
}

#[test]
fn lengths_round_every_class_boundary() {
    let base = "the quick brown fox jumps over the lazy dog again";
    let mut texts = Texts::default();
    for length in 1..base.len() {
        texts.push(&base.as_bytes()[base.len() - length..]);
        texts.push(&base.as_bytes()[..length]);
        texts.push(&[&base.as_bytes()[..length], b"z"].concat());
    }
    check(&texts);
}
