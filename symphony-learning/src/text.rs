//! Lower case, normal form and words of a text.
//!
//! Owns what counts as a character of a word; everything else in the crate works on the results.

use symphony_core::learning::Likeness;

use crate::hash::hash_bytes;
use crate::stop_words::is_stop_word;

/// Lowercases (Unicode, the final-sigma rule included) into `out`, which is cleared first.
pub(crate) fn lowercase_into(text: &str, out: &mut String) {
    out.clear();
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
    } else {
        out.push_str(&text.to_lowercase());
    }
}

/// Normalises a pattern (`learnings.md`, step 1): lower case; characters that are neither alphanumeric, `_` nor
/// white space removed (not replaced); white space collapsed to one space; trimmed.
///
/// ```
/// # use symphony_learning::normalise;
/// assert_eq!(normalise("  Don't use\t`foo-bar`!  "), "dont use foobar");
/// assert_eq!(normalise("…?!"), "");
/// ```
pub fn normalise(text: &str) -> String {
    let mut lower = String::new();
    lowercase_into(text, &mut lower);
    let mut out = Vec::with_capacity(lower.len());
    normalise_lower(&lower, &mut out);
    String::from_utf8(out).expect("whole characters were copied")
}

/// Says how a new text, in its normal form, relates to the text of an existing learning; none if the existing text does not
/// contain it.
///
/// ```
/// # use symphony_core::learning::Likeness;
/// # use symphony_learning::likeness;
/// assert_eq!(likeness("run the tests", "Run the tests!"), Some(Likeness::Equal));
/// assert_eq!(likeness("run the tests", "Always run the tests first."), Some(Likeness::Contained));
/// assert_eq!(likeness("always run the tests", "Run the tests"), None);
/// ```
pub fn likeness(normalised: &str, existing: &str) -> Option<Likeness> {
    let existing = normalise(existing);
    if existing == normalised {
        return Some(Likeness::Equal);
    }
    existing.contains(normalised).then_some(Likeness::Contained)
}

/// Appends the normal form of a lowercased text.
pub(crate) fn normalise_lower(lower: &str, out: &mut Vec<u8>) {
    let start = out.len();
    if lower.is_ascii() {
        normalise_ascii(lower.as_bytes(), out);
    } else {
        normalise_unicode(lower, out);
    }
    if out.len() > start && out.last() == Some(&b' ') {
        out.pop();
    }
}

/// What a byte below 128 is: 0 removed, 1 kept, 2 white space. Bytes from 128 on never get here.
const ASCII_CLASS: [u8; 256] = ascii_classes();

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where an index out of range does not compile"
)]
const fn ascii_classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => 1,
            b'\t'..=b'\r' | b' ' => 2,
            _ => 0,
        };
        byte += 1;
    }
    table
}

fn class(byte: u8) -> u8 {
    ASCII_CLASS.get(usize::from(byte)).copied().unwrap_or(0)
}

/// Writes every byte and moves on only behind those that stay, so that the loop has no branch to mispredict.
fn normalise_ascii(lower: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + lower.len(), 0);
    let mut after_space = true;
    let mut kept = 0;
    let room = out.get_mut(start..).unwrap_or_default();
    for &byte in lower {
        let class = class(byte);
        let space = class == 2;
        if let Some(slot) = room.get_mut(kept) {
            *slot = if space { b' ' } else { byte };
        }
        kept += usize::from(class == 1 || (space && !after_space));
        after_space = space || (after_space && class == 0);
    }
    out.truncate(start + kept);
}

fn normalise_unicode(lower: &str, out: &mut Vec<u8>) {
    let mut after_space = true;
    let mut buffer = [0; 4];
    for character in lower.chars() {
        if is_word(character) {
            out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
            after_space = false;
        } else if character.is_whitespace() && !after_space {
            out.push(b' ');
            after_space = true;
        }
    }
}

/// Says whether a character belongs to a word: alphanumeric (Unicode) or `_`.
fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Calls `each` with the hash of every token of a lowercased text: runs of at least two alphanumerics and `_` that are
/// no stop words.
pub(crate) fn for_each_token(lower: &str, mut each: impl FnMut(u64)) {
    let mut token = |word: &str, long_enough: bool| {
        if long_enough {
            let hash = hash_bytes(word.as_bytes());
            if !is_stop_word(word, hash) {
                each(hash);
            }
        }
    };
    if !lower.is_ascii() {
        for word in lower.split(|c| !is_word(c)) {
            token(word, word.chars().nth(1).is_some());
        }
        return;
    }
    let mut start = 0;
    for (place, &byte) in lower.as_bytes().iter().enumerate() {
        if class(byte) != 1 {
            token(
                lower.get(start..place).unwrap_or_default(),
                place - start >= 2,
            );
            start = place + 1;
        }
    }
    let last = lower.get(start..).unwrap_or_default();
    token(last, last.len() >= 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_form_follows_the_rules() {
        for (text, expected) in [
            ("", ""),
            (" \t\n ", ""),
            ("!?", ""),
            ("a - b", "a b"),
            ("-a-", "a"),
            ("Foo::bar_baz()", "foobar_baz"),
            ("A\u{b}B\u{c}C\rD", "a b c d"),
            ("a\u{1c}b\u{0}c", "abc"),
            ("x\u{a0}\u{2003}y", "x y"),
            ("ÄÖÜ ß ﬁ", "äöü ß ﬁ"),
            ("ΟΔΟΣ ΣΑ", "οδος σα"),
            ("İstanbul", "istanbul"),
            ("数据库,连接", "数据库连接"),
            ("e\u{301}a", "ea"),
            ("½ Ⅷ ²", "½ ⅷ ²"),
            ("🙂 ok 🙂", "ok"),
            ("- - a", "a"),
        ] {
            assert_eq!(normalise(text), expected, "{text:?}");
            assert_eq!(normalise(expected), expected, "{text:?} twice");
        }
    }

    #[test]
    fn tokens_are_runs_of_two_and_more_without_stop_words() {
        for (text, expected) in [
            ("use foo-bar, a b cd", vec!["use", "foo", "bar", "cd"]),
            ("the __init__ of x1", vec!["__init__", "x1"]),
            ("é éé 数据 数", vec!["éé", "数据"]),
            ("don't stop", vec!["stop"]),
            ("", vec![]),
        ] {
            let mut found = Vec::new();
            for_each_token(text, |hash| found.push(hash));
            let expected: Vec<u64> = expected.iter().map(|w| hash_bytes(w.as_bytes())).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
