//! Orders: what a sentence tells its reader to do, or not to do.

use super::prose::{Sentence, Word, same};

/// Words after which a sentence forbids, limits or contrasts: what it names is not simply asked for.
const NEGATIONS: [&str; 26] = [
    "not",
    "never",
    "no",
    "none",
    "nobody",
    "without",
    "cannot",
    "avoid",
    "instead",
    "rather",
    "nor",
    "neither",
    "unless",
    "don't",
    "doesn't",
    "can't",
    "won't",
    "mustn't",
    "shouldn't",
    "isn't",
    "aren't",
    "dont",
    "lack",
    "lacks",
    "except",
    "only",
];

/// Words that lead to the verb of an order.
const LEADS: [&str; 22] = [
    "always",
    "please",
    "finally",
    "first",
    "next",
    "also",
    "now",
    "you",
    "must",
    "should",
    "need",
    "have",
    "to",
    "remember",
    "make",
    "sure",
    "be",
    "ensure",
    "immediately",
    "just",
    "afterwards",
    "agents",
];

/// Words that forbid when they come before the verb.
const FORBID: [&str; 5] = ["never", "don't", "dont", "mustn't", "shouldn't"];

/// The end of a clause, in a pattern. Words at a place that also allows it are checked, but are not part of the order.
const END: &str = "$";

/// A pattern: for each word in turn, the words that match it, separated by blanks; `*` matches any word. With a `?` in
/// front, the word may be missing.
pub(super) type Pattern = &'static [&'static str];

/// Says whether clauses forbid, limit or contrast anything.
pub(super) fn is_negated(clauses: &[Vec<Word<'_>>]) -> bool {
    let mut words = clauses.iter().flatten();
    words.any(|word| !word.is_code && is_one_of(word.text, &NEGATIONS))
}

/// Returns what a clause tells its reader to do, from the verb on; nothing when it does not begin with its verb.
pub(super) fn order<'c, 'a>(clause: &'c [Word<'a>]) -> &'c [Word<'a>] {
    let leads = clause
        .iter()
        .take_while(|word| is_one_of(word.text, &LEADS));
    clause.get(leads.count()..).unwrap_or_default()
}

/// Returns what a clause tells its reader not to do, from the verb on.
pub(super) fn prohibition<'c, 'a>(clause: &'c [Word<'a>]) -> Option<&'c [Word<'a>]> {
    let clause = order(clause);
    match clause {
        [first, rest @ ..] if is_one_of(first.text, &FORBID) => Some(order(rest)),
        [first, second, rest @ ..] if first.is("do") && second.is("not") => Some(order(rest)),
        _ => None,
    }
}

/// Returns the words of an order that a pattern fits, from its first on; none when it does not fit.
pub(super) fn matched(pattern: Pattern, words: &[Word<'_>]) -> Option<String> {
    let words: Vec<&str> = words
        .iter()
        .flat_map(|word| word.text.split_whitespace())
        .collect();
    let mut at = 0;
    for part in pattern {
        let (is_optional, choices) = match part.strip_prefix('?') {
            Some(choices) => (true, choices),
            None => (false, *part),
        };
        let next = words.get(at).copied();
        let mut known = choices.split(' ');
        let fits = known.any(|choice| match next {
            Some(word) => choice == "*" || same(word, choice),
            None => choice == END,
        });
        match fits {
            true if choices.split(' ').any(|choice| choice == END) => {}
            true => at += 1,
            false if is_optional => {}
            false => return None,
        }
    }
    Some(words.get(..at).unwrap_or_default().join(" "))
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|known| same(word, known))
}

/// Says whether a word of a sentence is one of these.
pub(super) fn mentions(sentence: &Sentence<'_>, known: &[&str]) -> bool {
    let mut words = sentence.clauses.iter().flatten();
    words.any(|word| is_one_of(word.text, known))
}
