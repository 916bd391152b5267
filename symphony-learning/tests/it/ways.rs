//! What rankings promise besides their order.

use std::collections::BTreeMap;

use symphony_core::Timestamp;
use symphony_core::learning::{Learning, LearningType};
use symphony_learning::{
    CONVENTION_CHAR_CAP, CROSS_PROJECT_MAX, Head, Hit, Options, Prepared, PreparedRef, Ranker,
    Relevance, Subject, rank, rank_best, search,
};

use crate::generate::{self, ADVERSARIAL};

fn now() -> Timestamp {
    generate::NOW.parse().unwrap()
}

fn subject() -> Subject {
    Subject::issue("Cache the build", &generate::issue_text(3), &["db", "perf"])
}

#[test]
fn prepared_learnings_rank_like_fresh_ones() {
    let learnings = generate::learnings(generate::natural_patterns(400, 5), 5);
    let subject = subject();
    let mut ranker = Ranker::new(&subject, now(), Options::default()).unwrap();
    for learning in &learnings {
        let kept = Prepared::new(learning).into_bytes();
        let head = Head {
            id: learning.id.as_str(),
            learning_type: learning.learning_type,
            created_at: learning.created_at,
        };
        ranker.push(head, PreparedRef::decode(&kept).unwrap());
    }
    assert_eq!(
        ranker.best(),
        rank_best(&learnings, &subject, now(), Options::default()).unwrap()
    );
}

#[test]
fn what_is_known_of_its_use_moves_a_learning_by_its_weight() {
    let learnings = generate::learnings(generate::natural_patterns(40, 5), 5);
    let subject = subject();
    let best = |usefulness: BTreeMap<String, f64>| {
        let ranker = Ranker::new(&subject, now(), Options::uncapped()).unwrap();
        let mut ranker = ranker.with_usefulness(usefulness);
        for learning in &learnings {
            ranker.push_learning(learning);
        }
        ranker.best().tactical
    };
    let before = best(BTreeMap::new());
    assert_eq!(
        before,
        rank_best(&learnings, &subject, now(), Options::uncapped())
            .unwrap()
            .tactical
    );
    let last = before.last().unwrap();
    let id = learnings[last.index].id.to_string();
    let helped = best(BTreeMap::from([(id.clone(), 0.5)]));
    let found = helped.iter().find(|hit| hit.index == last.index).unwrap();
    assert!((found.score - last.score - 0.05).abs() < 1e-12, "{found:?}");
    assert!((found.parts.usefulness - 0.5).abs() < 1e-12);
    let first = learnings[before[0].index].id.to_string();
    let hurt = best(BTreeMap::from([(first, -1.0)]));
    let found = hurt
        .iter()
        .find(|hit| hit.index == before[0].index)
        .unwrap();
    assert!((before[0].score - found.score - 0.1).abs() < 1e-12);
}

#[test]
fn rendered_conventions_stay_within_the_cap() {
    for cap in [0, 3, 4, 20, 300, CONVENTION_CHAR_CAP] {
        let options = Options {
            convention_char_cap: cap,
            ..Options::default()
        };
        let learnings = generate::learnings(generate::natural_patterns(300, 9), 9);
        let best = rank_best(&learnings, &subject(), now(), options).unwrap();
        let lines = best.conventions.iter();
        let lines: Vec<String> = lines
            .map(|hit| format!("- {}\n", learnings[hit.index].pattern))
            .collect();
        let text = lines.concat();
        assert!(text.chars().count() <= cap, "{cap}: {text}");
        assert!(cap < 300 || !text.is_empty(), "{cap}");
        assert!(cap > 3 || text.is_empty(), "{cap}");
        assert_eq!(text.lines().count(), best.conventions.len());
    }
}

#[test]
fn uncapped_best_goes_through_every_round() {
    let learnings = generate::learnings(generate::natural_patterns(3_000, 11), 11);
    let full = rank(&learnings, &subject(), now(), Options::uncapped()).unwrap();
    assert!(
        full.best.tactical.len() > 1_088,
        "more than both batches hold"
    );
    assert_eq!(
        rank_best(&learnings, &subject(), now(), Options::uncapped()).unwrap(),
        full.best
    );
}

#[test]
fn a_search_is_one_list_of_all_kinds() {
    let learnings = generate::learnings(generate::natural_patterns(500, 13), 13);
    let query = &learnings[17].pattern;
    let found = |relevance, options| search(&learnings, query, relevance, now(), options).unwrap();
    let all = found(Relevance::Any, Options::uncapped());
    let full = rank(
        &learnings,
        &Subject::query(query),
        now(),
        Options::uncapped(),
    )
    .unwrap();
    let mut expected: Vec<Hit> = [full.best.conventions, full.best.tactical].concat();
    let of = |hit: &Hit| -> &Learning { &learnings[hit.index] };
    expected.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(of(b).created_at.cmp(&of(a).created_at))
            .then(of(a).id.cmp(&of(b).id))
    });
    assert_eq!(all, expected);
    assert_eq!(found(Relevance::Any, Options::default()), all[..25]);
    let matching: Vec<Hit> = all
        .iter()
        .copied()
        .filter(|hit| hit.parts.keywords > 0.0)
        .collect();
    assert!(matching.len() < all.len());
    assert_eq!(found(Relevance::Matching, Options::uncapped()), matching);

    let subject = Subject::query(query);
    let mut ranker = Ranker::new(&subject, now(), Options::default()).unwrap();
    for learning in &learnings {
        ranker.push_learning(learning);
    }
    assert_eq!(ranker.cross_project(), all[..CROSS_PROJECT_MAX]);
}

#[test]
fn a_search_finds_what_contains_the_whole_query() {
    let patterns = [
        "日本語のファイル名はzipで壊れる。",
        "The flaky test upload_resumes depends on disk speed",
        "Redis SCAN may return duplicates",
    ];
    let learnings: Vec<Learning> = patterns
        .iter()
        .zip(["a", "b", "c"])
        .map(|(pattern, id)| Learning {
            id: id.parse().unwrap(),
            pattern: (*pattern).to_owned(),
            learning_type: None,
            applies_to: Vec::new(),
            labels: Vec::new(),
            created_at: now(),
        })
        .collect();
    for (query, expected) in [
        ("日本語", Some(0)),
        ("ファイル名", Some(0)),
        ("Upload_Res", Some(1)),
        ("may  RETURN dup!", Some(2)),
        ("upload test disk speed", Some(1)),
        ("uploadresumes", None),
        ("🚀", None),
        ("", None),
    ] {
        let found = search(
            &learnings,
            query,
            Relevance::Matching,
            now(),
            Options::default(),
        )
        .unwrap();
        let found: Vec<usize> = found.iter().map(|hit| hit.index).collect();
        assert_eq!(found, Vec::from_iter(expected), "{query}");
    }
}

#[test]
fn nothing_gives_nothing() {
    let subject = subject();
    let ranked = rank(&[], &subject, now(), Options::default()).unwrap();
    assert_eq!(
        (
            ranked.best.conventions.len(),
            ranked.best.tactical.len(),
            ranked.dropped.len()
        ),
        (0, 0, 0)
    );
    assert_eq!(
        rank_best(&[], &subject, now(), Options::default()).unwrap(),
        ranked.best
    );
}

#[test]
fn conventions_and_the_others_are_split_after_deduplication() {
    let mut learnings = generate::learnings(
        vec!["use the pool".into(), "always use the pool here".into()],
        1,
    );
    learnings[0].learning_type = Some(LearningType::Convention);
    learnings[1].learning_type = None;
    let best = rank_best(&learnings, &subject(), now(), Options::default()).unwrap();
    assert_eq!((best.conventions.len(), best.tactical.len()), (0, 1));
}

/// Work is counted, so that growth can be held without a clock: doubling the input may not much more than double it.
#[test]
fn work_grows_in_line_with_the_input() {
    let sizes = if cfg!(debug_assertions) {
        [1_000, 2_000, 4_000]
    } else {
        [16_000, 32_000, 64_000]
    };
    for family in ADVERSARIAL.iter().copied().chain(["natural"]) {
        let work = sizes.map(|size| {
            let patterns = match family {
                "natural" => generate::natural_patterns(size, 1),
                _ => generate::adversarial_patterns(family, size, 1),
            };
            let bytes: usize = patterns.iter().map(|pattern| pattern.len() + 1).sum();
            let work = rank(
                &generate::learnings(patterns, 1),
                &subject(),
                now(),
                Options::default(),
            )
            .unwrap()
            .work;
            (work.steps + work.automaton_bytes, bytes as u64)
        });
        for (work, bytes) in work {
            // Each of two classes may use up its steps and then be read once by an automaton, as may the shortest.
            assert!(
                work <= 5 * bytes + 3 * 4_096,
                "{family}: {work} steps for {bytes} bytes"
            );
        }
    }
}
