//! Both fast ways equal the definition: on random input, on the families made to hurt, in any order.

use proptest::prelude::*;
use symphony_core::Timestamp;
use symphony_core::learning::Learning;
use symphony_learning::{Best, Dropped, Options, Ranked, Ranker, Subject, normalise};

use crate::generate::{self, ADVERSARIAL, Random};
use crate::reference::{self, Issue};

fn now() -> Timestamp {
    generate::NOW.parse().unwrap()
}

fn subject(issue: &Issue) -> Subject {
    Subject::issue(&issue.title, &issue.description, &issue.labels)
}

fn ranker<'a>(subject: &'a Subject, learnings: &[Learning], options: Options) -> Ranker<'a> {
    let mut ranker = Ranker::new(subject, now(), options).unwrap();
    for learning in learnings {
        ranker.push_learning(learning);
    }
    ranker
}

fn issue(seed: u64) -> Issue {
    Issue {
        title: "Speed up the Build, TEST and cache".to_owned(),
        description: generate::issue_text(seed),
        labels: ["bug", "db", "perf"].map(str::to_owned).into(),
    }
}

/// Ids in the place of indexes, so that rankings of shuffled input can be compared.
fn by_id(ranked: &Ranked, learnings: &[Learning]) -> String {
    let id = |index: usize| learnings[index].id.as_str();
    let mut lines: Vec<String> = Vec::new();
    for hit in ranked.best.conventions.iter().chain(&ranked.best.tactical) {
        lines.push(format!("{} {} {:?}", id(hit.index), hit.score, hit.parts));
    }
    let taken = lines.len();
    for Dropped { index, covered_by } in &ranked.dropped {
        lines.push(format!("{} < {:?}", id(*index), covered_by.map(id)));
    }
    lines[taken..].sort();
    lines.join("\n")
}

fn assert_equals_reference(learnings: &[Learning], options: Options, seed: u64) {
    let issue = issue(seed);
    let subject = subject(&issue);
    let expected = reference::rank(learnings, &issue, now(), &options);
    let full = ranker(&subject, learnings, options).full();
    assert_eq!(full.dropped, expected.dropped);
    assert_eq!(full.best, expected.best);
    assert_eq!(ranker(&subject, learnings, options).best(), expected.best);

    let mut shuffled = learnings.to_vec();
    let mut random = Random(seed);
    for at in (1..shuffled.len()).rev() {
        shuffled.swap(at, random.below(at + 1));
    }
    let other = ranker(&subject, &shuffled, options).full();
    assert_eq!(by_id(&other, &shuffled), by_id(&full, learnings));
    assert_eq!(other.work, full.work);
    let best = ranker(&subject, &shuffled, options).best();
    let ids = |best: &Best, of: &[Learning]| {
        let all = best.conventions.iter().chain(&best.tactical);
        all.map(|hit| of[hit.index].id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&best, &shuffled), ids(&full.best, learnings));
}

fn options() -> impl Strategy<Value = Options> {
    let caps = prop_oneof![
        Just(0_usize),
        1..12_usize,
        Just(40),
        Just(1_500),
        Just(usize::MAX)
    ];
    let counts = prop_oneof![Just(0_usize), 1..5_usize, Just(25), Just(usize::MAX)];
    let weights = [0.0..1.0_f64, 0.0..1.0, 0.0..1.0, 0.001..1.0];
    (caps, counts, any::<bool>(), weights).prop_map(|(cap, count, default_weights, weights)| {
        let mut options = Options {
            convention_char_cap: cap,
            max_results: count,
            ..Options::default()
        };
        if !default_weights {
            [
                options.weights.labels,
                options.weights.paths,
                options.weights.keywords,
                options.weights.recency,
            ] = weights;
        }
        options
    })
}

/// Texts over few letters, so that containment and equality are frequent, at lengths round every boundary of the code.
fn patterns() -> impl Strategy<Value = Vec<String>> {
    let dense = proptest::collection::vec("[abé -]{0,40}", 0..300);
    let short = proptest::collection::vec("[ab]{0,9}", 0..300);
    let any_text = proptest::collection::vec("\\PC{0,30}", 0..60);
    let parts = (
        proptest::collection::vec("[a-d ]{20,90}", 1..20),
        proptest::collection::vec((any::<u16>(), any::<u16>(), any::<u16>()), 0..280),
    )
        .prop_map(|(mut texts, cuts)| {
            for (which, from, length) in cuts {
                let text = &texts[usize::from(which) % texts.len()];
                let from = usize::from(from) % (text.len() + 1);
                let to = (from + 1 + usize::from(length) % 60).min(text.len());
                let cut = text.get(from..to).unwrap().to_owned();
                texts.push(cut);
            }
            texts
        });
    prop_oneof![dense, short, any_text, parts]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 40 } else { 600 }))]

    #[test]
    fn both_ways_equal_the_reference(patterns in patterns(), options in options(), seed in any::<u64>()) {
        assert_equals_reference(&generate::learnings(patterns, seed), options, seed);
    }

    #[test]
    fn natural_and_adversarial_families_equal_the_reference(
        family in 0..=ADVERSARIAL.len(), count in 0..300_usize, options in options(), seed in any::<u64>(),
    ) {
        let patterns = match ADVERSARIAL.get(family) {
            Some(family) => generate::adversarial_patterns(family, count, seed),
            None => generate::natural_patterns(count, seed),
        };
        assert_equals_reference(&generate::learnings(patterns, seed), options, seed);
    }

    #[test]
    fn normal_form_equals_the_reference(text in "\\PC{0,60}|[ΣσA\u{130}.' \t]{0,20}") {
        prop_assert_eq!(normalise(&text), reference::normalise(&text));
        prop_assert_eq!(normalise(&normalise(&text)), normalise(&text));
    }
}

/// In release builds the size that the goal names; in debug builds what a quadratic reference can do in seconds.
const LARGE: usize = if cfg!(debug_assertions) {
    2_000
} else {
    10_000
};

#[test]
fn ten_thousand_learnings_equal_the_reference() {
    assert_equals_reference(
        &generate::learnings(generate::natural_patterns(LARGE, 7), 7),
        Options::default(),
        7,
    );
}
