//! Notes of a vault: those that match an issue best by keyword overlap, headings first.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use symphony_core::unit::Tokens;

use crate::hidden::one_line;
use crate::input::VaultNote;
use crate::tokens::TokenCounter;
use crate::truncate::truncate_head;

/// Shortest word that counts as a keyword, in characters.
const KEYWORD_CHARS_MIN: usize = 3;
/// Words that say nothing about what a note is about.
const STOP_WORDS: &[&str] = &[
    "all", "and", "any", "are", "but", "can", "does", "for", "from", "has", "have", "how", "into",
    "its", "not", "one", "our", "out", "should", "that", "the", "then", "this", "use", "was",
    "when", "with", "you",
];

/// Returns the notes that share keywords with a text, best first.
///
/// A note is better when more keywords are in its headings (its file name counts as one), then when more
/// are anywhere in it, then by path. An empty query matches every note, by path.
pub fn match_notes<'n>(notes: &'n [VaultNote], query: &str) -> Vec<&'n VaultNote> {
    let wanted = keywords(query);
    let mut scored: Vec<(Reverse<usize>, Reverse<usize>, &VaultNote)> = notes
        .iter()
        .map(|note| {
            let mut headings: String = note.path.clone();
            for line in note.text.lines().filter(|line| line.starts_with('#')) {
                headings.push('\n');
                headings.push_str(line);
            }
            let in_headings = overlap(&wanted, &headings);
            let anywhere = overlap(&wanted, &[&note.path, "\n", &note.text].concat());
            (Reverse(in_headings), Reverse(anywhere), note)
        })
        .filter(|(_, anywhere, _)| wanted.is_empty() || anywhere.0 > 0)
        .collect();
    scored.sort_by(|a, b| (a.0, a.1, &a.2.path).cmp(&(b.0, b.1, &b.2.path)));
    scored.into_iter().map(|(_, _, note)| note).collect()
}

/// Writes the vault layer: the notes that match best, as far as `cap` reaches, the last one cut. Returns it with a remark
/// for the report: how many matched, and whether the cap cut them.
pub(crate) fn vault_layer(
    notes: &[VaultNote],
    query: &str,
    cap: Tokens,
    counter: &dyn TokenCounter,
) -> (String, String) {
    let mut text = String::new();
    let matching = match_notes(notes, query);
    for note in &matching {
        let heading = if text.is_empty() {
            "## Project Notes\n\n"
        } else {
            "\n\n"
        };
        text += &format!(
            "{heading}### {}\n\n{}",
            one_line(&note.path),
            note.text.trim()
        );
        if !counter.fits(&text, cap) {
            break;
        }
    }
    let mut remark = format!("{} of {} notes match", matching.len(), notes.len());
    if !counter.fits(&text, cap) {
        remark += &format!(", cut at {cap} tokens");
    }
    (truncate_head(&text, cap, counter).into_owned(), remark)
}

fn keywords(text: &str) -> BTreeSet<String> {
    words(text)
        .filter(|word| {
            word.chars().count() >= KEYWORD_CHARS_MIN && !STOP_WORDS.contains(&word.as_str())
        })
        .collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

fn overlap(wanted: &BTreeSet<String>, text: &str) -> usize {
    let found: BTreeSet<String> = words(text).filter(|word| wanted.contains(word)).collect();
    found.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(path: &str, text: &str) -> VaultNote {
        VaultNote {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn headings_count_first_then_overlap_then_path() {
        let notes = [
            note("z.md", "# Release\nsession token cookie login"),
            note("b.md", "# Session\nnothing else"),
            note("a.md", "# Session\nnothing else"),
            note("c.md", "# Session\nthe token"),
            note("none.md", "# Colours\nred and blue"),
        ];
        let found: Vec<&str> = match_notes(&notes, "The session token and the cookie")
            .into_iter()
            .map(|note| note.path.as_str())
            .collect();
        assert_eq!(found, ["c.md", "a.md", "b.md", "z.md"]);
        assert_eq!(match_notes(&notes, "").len(), 5);
        assert_eq!(match_notes(&notes, "the and").len(), 5);
    }

    #[test]
    fn the_layer_stays_below_its_cap() {
        let notes = [
            note("a.md", &"session ".repeat(100)),
            note("b.md", &"session ".repeat(100)),
        ];
        let counter = crate::HeuristicCounter::default();
        for cap in [0, 5, 100, 250, 1000] {
            let (layer, remark) = vault_layer(&notes, "session", Tokens::new(cap), &counter);
            assert!(counter.count(&layer).get() <= cap, "{cap}");
            let expected = if cap < 1000 {
                format!("2 of 2 notes match, cut at {cap} tokens")
            } else {
                "2 of 2 notes match".to_owned()
            };
            assert_eq!(remark, expected);
        }
    }
}
