//! Learnings from fixed seeds: natural ones, and families made to hurt. Shared by tests and benchmarks.

use symphony_core::Timestamp;
use symphony_core::id::LearningId;
use symphony_core::learning::{Learning, LearningType};

/// A small deterministic generator (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Small numbers far more often than large ones, as words occur in a language.
    pub(crate) fn skewed(&mut self, limit: usize) -> usize {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (((limit as f64 + 1.0).powf(share) - 1.0) as usize).min(limit - 1)
    }
}

pub(crate) const NOW: &str = "2026-11-20T12:00:00Z";

const FAMILIES_WORDS: [&str; 8] = [
    "test", "build", "cargo", "run", "fix", "lint", "merge", "cache",
];

/// The families of texts that would make a careless algorithm quadratic.
pub(crate) const ADVERSARIAL: &[&str] = &[
    "one_word",
    "repeated_letter",
    "shared_prefix",
    "shared_suffix",
    "nested_suffixes",
    "all_equal",
    "empty",
    "huge",
    "mixed_scripts",
    "periodic",
    "binary_words",
];

fn word(number: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "ce", "di", "fo", "gu", "han", "ler", "mi", "no", "pra", "qui", "ros", "ste", "tu",
        "ver", "wol", "xa", "yel", "zon", "ing",
    ];
    let mut rest = number;
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES[rest % 20]);
        rest /= 20;
        if rest == 0 {
            return word;
        }
    }
}

/// A vocabulary of 20,000 words.
pub(crate) fn vocabulary() -> Vec<String> {
    (0..20_000).map(word).collect()
}

/// Texts as people and agents write them: 6 to 18 words, punctuation, some repeated, some part of another, some short.
pub(crate) fn natural_patterns(count: usize, seed: u64) -> Vec<String> {
    let words = vocabulary();
    let mut random = Random(seed);
    let mut all: Vec<String> = Vec::with_capacity(count);
    for number in 0..count {
        let kind = random.below(100);
        let text = if number > 0 && kind < 4 {
            let pick = random.below(number);
            all[pick].to_uppercase()
        } else if number > 0 && kind < 11 {
            let pick = random.below(number);
            let parts: Vec<&str> = all[pick].split(' ').collect();
            let from = random.below(parts.len());
            let to = from + 1 + random.below(parts.len() - from);
            parts[from..to].join(" ")
        } else {
            let length = if kind < 14 {
                1 + random.below(3)
            } else {
                6 + random.below(13)
            };
            let mut text = String::new();
            for at in 0..length {
                if at > 0 {
                    text.push_str(if random.below(9) == 0 { ", " } else { " " });
                }
                let quoted = random.below(12) == 0;
                if quoted {
                    text.push('`');
                }
                text.push_str(&words[random.skewed(words.len())]);
                if quoted {
                    text.push('`');
                }
            }
            if random.below(2) == 0 {
                text.push('.');
            }
            text
        };
        all.push(text);
    }
    all
}

/// Texts of a family (see [`ADVERSARIAL`]).
pub(crate) fn adversarial_patterns(family: &str, count: usize, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let prefix = "always remember that in this project every single module ".repeat(4);
    (0..count)
        .map(|number| match family {
            "one_word" => word(random.below(count.max(1))),
            "repeated_letter" => "a".repeat(1 + number % 400),
            "shared_prefix" => format!("{prefix}{}", word(random.below(count * 2 + 1))),
            "shared_suffix" => format!("{} {prefix}", word(random.below(count * 2 + 1))),
            "nested_suffixes" => {
                let text = "abcabcabdabcabcabe".repeat(16);
                let block = number / 256;
                format!(
                    "{}{}",
                    text.get(number % 256..).expect("ASCII"),
                    if block == 0 {
                        String::new()
                    } else {
                        word(block)
                    }
                )
            }
            "all_equal" => "run the tests before you commit anything".to_owned(),
            "empty" => ["", " ", "!?", "…"][number % 4].to_owned(),
            "huge" => {
                let length = if number % (count / 8 + 1) == 0 {
                    count * 2
                } else {
                    30
                };
                (0..length).map(|_| *random.pick(&['a', 'b'])).collect()
            }
            "mixed_scripts" => {
                const PARTS: [&str; 9] = [
                    "数据库",
                    "Тест",
                    "δοκιμή",
                    "اختبار",
                    "test",
                    "テスト",
                    "🙂",
                    "é",
                    "시험",
                ];
                (0..=random.below(12))
                    .map(|_| *random.pick(&PARTS))
                    .collect::<Vec<_>>()
                    .join(["", " "][number % 2])
            }
            "periodic" => {
                let mut text = "ab".repeat(20 + number % 100);
                if number % 3 != 0 {
                    text.push_str(&word(number));
                }
                text
            }
            "binary_words" => (0..=random.below(40))
                .map(|_| *random.pick(&FAMILIES_WORDS[..2]))
                .collect::<Vec<_>>()
                .join(" "),
            other => unreachable!("no family {other}"),
        })
        .collect()
}

/// Makes learnings of patterns: ids, types, paths, labels and ages from a seed.
pub(crate) fn learnings(patterns: Vec<String>, seed: u64) -> Vec<Learning> {
    let mut random = Random(seed ^ 0xABCD);
    let now: Timestamp = NOW.parse().unwrap();
    let (words, labels) = (
        vocabulary(),
        ["bug", "ui", "db", "api", "docs", "perf", "area:core"],
    );
    patterns
        .into_iter()
        .enumerate()
        .map(|(number, pattern)| Learning {
            id: LearningId::parse(format!("{:08x}-{number}", random.next() as u32)).unwrap(),
            pattern,
            learning_type: *random.pick(&[
                None,
                Some(LearningType::Convention),
                Some(LearningType::Pattern),
                Some(LearningType::Gotcha),
            ]),
            applies_to: (0..random.below(4))
                .map(|_| {
                    format!(
                        "src/{}/{}.rs",
                        words[random.skewed(300)],
                        words[random.skewed(3_000)]
                    )
                })
                .collect(),
            labels: (0..random.below(4))
                .map(|_| (*random.pick(&labels)).to_owned())
                .collect(),
            created_at: Timestamp::from_second(
                now.as_second() - (random.below(150 * 24 * 60) as i64 - 100) * 60,
            )
            .unwrap(),
        })
        .collect()
}

/// The text of an issue of some 300 words that names paths, in the words of [`natural_patterns`].
pub(crate) fn issue_text(seed: u64) -> String {
    let words = vocabulary();
    let mut random = Random(seed);
    (0..300)
        .map(|_| match random.below(8) {
            0 => format!(
                "src/{}/{}.rs",
                words[random.skewed(300)],
                words[random.skewed(3_000)]
            ),
            _ => words[random.skewed(words.len())].clone(),
        })
        .collect::<Vec<_>>()
        .join(" ")
}
