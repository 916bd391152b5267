//! The definition of `learnings.md`, written down as plainly as possible. Quadratic.

use std::collections::BTreeSet;

use symphony_core::Timestamp;
use symphony_core::learning::{Learning, LearningType};
use symphony_learning::{Best, Dropped, Hit, Options, Parts, STOP_WORDS};

pub(crate) struct Issue {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) labels: Vec<String>,
}

pub(crate) struct Reference {
    pub(crate) best: Best,
    pub(crate) dropped: Vec<Dropped>,
}

pub(crate) fn normalise(text: &str) -> String {
    let kept: String = text
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == '_' || c.is_whitespace())
        .collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn tokens(text: &str) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().count() >= 2 && !STOP_WORDS.contains(word))
        .map(str::to_owned)
        .collect()
}

fn jaccard<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let union = a.union(b).count();
    if union == 0 {
        0.0
    } else {
        a.intersection(b).count() as f64 / union as f64
    }
}

pub(crate) fn parts(learning: &Learning, issue: &Issue, now: Timestamp) -> Parts {
    let text = format!("{}\n{}", issue.title, issue.description);
    let paths: Vec<&String> = learning
        .applies_to
        .iter()
        .filter(|p| !p.is_empty())
        .collect();
    let named = paths
        .iter()
        .filter(|path| text.to_lowercase().contains(&path.to_lowercase()))
        .count();
    let age = (now.as_millisecond() - learning.created_at.as_millisecond()).max(0) / 1000;
    Parts {
        labels: jaccard(
            &issue.labels.iter().collect(),
            &learning.labels.iter().collect(),
        ),
        paths: if paths.is_empty() {
            0.0
        } else {
            named as f64 / paths.len() as f64
        },
        keywords: jaccard(&tokens(&text), &tokens(&learning.pattern)),
        recency: 1.0 - age.min(7_776_000) as f64 / 7_776_000.0,
        usefulness: 0.0,
    }
}

/// For each learning what covers it: itself when nothing does, `None` when it is empty.
pub(crate) fn cover(learnings: &[Learning]) -> Vec<Option<usize>> {
    let texts: Vec<String> = learnings.iter().map(|l| normalise(&l.pattern)).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|&a, &b| {
        let newer = learnings[b].created_at.cmp(&learnings[a].created_at);
        let smaller = learnings[a].id.cmp(&learnings[b].id);
        texts[b]
            .len()
            .cmp(&texts[a].len())
            .then(newer)
            .then(smaller)
    });
    let covers = |text: &String| {
        order
            .iter()
            .copied()
            .find(|&other| texts[other].contains(text.as_str()))
    };
    texts
        .iter()
        .map(|text| if text.is_empty() { None } else { covers(text) })
        .collect()
}

pub(crate) fn rank(
    learnings: &[Learning],
    issue: &Issue,
    now: Timestamp,
    options: &Options,
) -> Reference {
    let mut dropped = Vec::new();
    let mut hits = Vec::new();
    for (index, by) in cover(learnings).into_iter().enumerate() {
        if by == Some(index) {
            let parts = parts(&learnings[index], issue, now);
            let weights = options.weights;
            let score = weights.labels * parts.labels
                + weights.paths * parts.paths
                + weights.keywords * parts.keywords
                + weights.recency * parts.recency;
            hits.push(Hit {
                index,
                score,
                parts,
            });
        } else {
            dropped.push(Dropped {
                index,
                covered_by: by,
            });
        }
    }
    hits.sort_by(|a, b| {
        let (of_a, of_b) = (&learnings[a.index], &learnings[b.index]);
        let newer = of_b.created_at.cmp(&of_a.created_at);
        b.score
            .partial_cmp(&a.score)
            .unwrap()
            .then(newer)
            .then(of_a.id.cmp(&of_b.id))
    });
    let mut best = Best::default();
    let mut chars = 0;
    for hit in hits {
        let learning = &learnings[hit.index];
        if learning.learning_type != Some(LearningType::Convention) {
            if best.tactical.len() < options.max_results {
                best.tactical.push(hit);
            }
            continue;
        }
        let needed = format!("- {}\n", learning.pattern).chars().count();
        if chars + needed <= options.convention_char_cap {
            chars += needed;
            best.conventions.push(hit);
        }
    }
    Reference { best, dropped }
}
