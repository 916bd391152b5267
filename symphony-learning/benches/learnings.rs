//! Benchmarks of ranking: growth, the ratio to normalising, a naive peer in JavaScript.
//!
//! `cargo bench -p symphony-learning -- [--natural-max N] [--adversarial-max N] [--family NAME] [--skip-growth] [--skip-peer]`
//!
//! Equality is asserted before anything is timed: the fast way against the full one, and the full one against the peer.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark reads clocks and arguments, starts its peer, and prints"
)]

#[path = "../tests/support/generate.rs"]
mod generate;
mod measure;
mod peer;

use std::hint::black_box;

use generate::ADVERSARIAL;
use measure::{Doubling, growth, interleaved, time};
use symphony_core::Timestamp;
use symphony_core::learning::Learning;
use symphony_learning::{
    Head, Options, Prepared, PreparedRef, Ranker, Subject, normalise, rank, rank_best,
};

struct Arguments {
    natural_max: usize,
    adversarial_max: usize,
    family: Option<String>,
    growth: bool,
    peer: bool,
}

fn arguments() -> Arguments {
    let all: Vec<String> = std::env::args().collect();
    let number = |name: &str, default: usize| {
        let at = all.iter().position(|argument| argument == name);
        at.map_or(default, |at| {
            let value = all.get(at + 1).map_or("", String::as_str);
            value
                .parse()
                .unwrap_or_else(|error| panic!("{name} `{value}`: {error}; expected a number"))
        })
    };
    let family = all.iter().position(|argument| argument == "--family");
    Arguments {
        family: family.and_then(|at| all.get(at + 1).cloned()),
        natural_max: number("--natural-max", 1 << 20),
        adversarial_max: number("--adversarial-max", 1 << 17),
        growth: !all.iter().any(|argument| argument == "--skip-growth"),
        peer: !all.iter().any(|argument| argument == "--skip-peer"),
    }
}

fn now() -> Timestamp {
    generate::NOW.parse().expect("a fixed time")
}

fn subject() -> Subject {
    Subject::issue("Cache the build", &generate::issue_text(3), &["db", "perf"])
}

/// Ranks learnings both ways, after asserting that they agree, in turn with twice as many.
fn doubled(family: &str, count: usize, subject: &Subject) -> Doubling {
    let options = Options::default();
    let [once, twice] = [count, 2 * count].map(|count| {
        let patterns = match family {
            "natural" => generate::natural_patterns(count, 1),
            _ => generate::adversarial_patterns(family, count, 1),
        };
        let learnings = generate::learnings(patterns, 1);
        let full = rank(&learnings, subject, now(), options).expect("valid options");
        let best = rank_best(&learnings, subject, now(), options).expect("valid options");
        assert_eq!(full.best, best);
        learnings
    });
    let full = |learnings: &[Learning]| drop(black_box(rank(learnings, subject, now(), options)));
    let best =
        |learnings: &[Learning]| drop(black_box(rank_best(learnings, subject, now(), options)));
    let [full_once, full_twice, best_once, best_twice] = interleaved([
        &mut || full(&once),
        &mut || full(&twice),
        &mut || best(&once),
        &mut || best(&twice),
    ]);
    Doubling {
        count: 2 * count,
        full: [full_once, full_twice],
        best: [best_once, best_twice],
    }
}

fn growth_of(family: &str, max: usize) {
    let subject = subject();
    let sizes = std::iter::successors(Some(1 << 13), |count| Some(count * 2));
    let rows: Vec<Doubling> = sizes
        .take_while(|count| count * 2 <= max)
        .map(|count| doubled(family, count, &subject))
        .collect();
    growth(family, &rows);
}

/// The best 25 against one pass of normalising, and against the same from prepared bytes.
fn against_normalising(count: usize) {
    let learnings = generate::learnings(generate::natural_patterns(count, 2), 2);
    let subject = subject();
    let options = Options::default();
    let prepared: Vec<Vec<u8>> = learnings
        .iter()
        .map(|l| Prepared::new(l).into_bytes())
        .collect();
    let from_prepared = || {
        let mut ranker = Ranker::new(&subject, now(), options).expect("valid options");
        for (learning, bytes) in learnings.iter().zip(&prepared) {
            let head = Head {
                id: learning.id.as_str(),
                learning_type: learning.learning_type,
                created_at: learning.created_at,
            };
            ranker.push(head, PreparedRef::decode(bytes).expect("just made"));
        }
        ranker.best()
    };
    let fresh = || rank_best(&learnings, &subject, now(), options).expect("valid options");
    assert_eq!(fresh(), from_prepared());
    let [pass, fresh, prepared_time] = interleaved([
        &mut || {
            for learning in &learnings {
                black_box(normalise(black_box(&learning.pattern)));
            }
        },
        &mut || drop(black_box(fresh())),
        &mut || drop(black_box(from_prepared())),
    ]);
    println!(
        "\nbest 25 of {count}: normalise pass {:.1} ms, best {:.1} ms = {:.2} passes, from prepared {:.1} ms = {:.2} passes",
        pass * 1e3,
        fresh * 1e3,
        fresh / pass,
        prepared_time * 1e3,
        prepared_time / pass,
    );
}

fn against_peer() {
    let learnings = generate::learnings(generate::natural_patterns(10_000, 4), 4);
    let (title, description) = ("Cache the build", generate::issue_text(3));
    let subject = Subject::issue(title, &description, &["db", "perf"]);
    let ours =
        || rank_best(&learnings, &subject, now(), Options::default()).expect("valid options");
    let full = || rank(&learnings, &subject, now(), Options::default()).expect("valid options");
    let expected = ours();
    let ids = |hits: &[symphony_learning::Hit]| -> Vec<String> {
        hits.iter()
            .map(|hit| learnings[hit.index].id.to_string())
            .collect()
    };
    let input = serde_json::json!({
        "now": generate::NOW, "stop_words": symphony_learning::STOP_WORDS, "learnings": learnings,
        "issue": {"title": title, "description": description, "labels": ["db", "perf"]},
    });
    let Some(mut peer) = peer::Peer::start(&input.to_string()) else {
        println!("\npeer: node is missing, NOT MEASURED");
        return;
    };
    let (mut best_times, mut full_times, mut peer_times) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        best_times.push(time(|| drop(black_box(ours()))));
        full_times.push(time(|| drop(black_box(full()))));
        let answer = peer.round();
        assert_eq!(
            answer.conventions,
            ids(&expected.conventions),
            "the peer's conventions"
        );
        assert_eq!(
            answer.tactical,
            ids(&expected.tactical),
            "the peer's tactical learnings"
        );
        peer_times.push(answer.seconds);
    }
    let [best, full, naive] = [best_times, full_times, peer_times].map(measure::shortest);
    println!(
        "\n10,000: naive JavaScript {:.0} ms, best {:.2} ms = {:.0}×, full {:.2} ms = {:.0}×",
        naive * 1e3,
        best * 1e3,
        naive / best,
        full * 1e3,
        naive / full,
    );
}

fn main() {
    let arguments = arguments();
    if arguments.growth {
        for family in ["natural"].iter().chain(ADVERSARIAL) {
            if arguments.family.as_ref().is_some_and(|only| only != family) {
                continue;
            }
            let natural = *family == "natural";
            growth_of(
                family,
                if natural {
                    arguments.natural_max
                } else {
                    arguments.adversarial_max
                },
            );
        }
    }
    for count in [100_000, 1_000_000] {
        if count <= arguments.natural_max {
            against_normalising(count);
        }
    }
    if arguments.peer {
        against_peer();
    }
}
