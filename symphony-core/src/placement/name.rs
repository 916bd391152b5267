//! The names of pools and hosts.

use crate::id::text_id;

/// Longest name, in characters: what a Linux host name may have.
pub const NAME_CHARS_MAX: usize = 64;

const fn is_letter_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Capitals are refused, since two names that differ only by them would be one to a person and to DNS.
fn is_name(text: &str, between: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= NAME_CHARS_MAX
        && bytes.first().copied().is_some_and(is_letter_or_digit)
        && bytes.last().copied().is_some_and(is_letter_or_digit)
        && bytes
            .iter()
            .all(|byte| is_letter_or_digit(*byte) || between.contains(byte))
}

text_id!(
    /// A group of hosts that can do the same runs, such as `linux` or `gpu-large`. A dot is refused: it separates the parts of a queue's name.
    Pool,
    "a pool's name (at most 64 lowercase letters, digits and `-` between them, such as `linux` or `gpu-large`)",
    |text| is_name(text, b"-")
);

text_id!(
    /// A machine that runs agents, by a name that no other machine of the installation has.
    Host,
    "a host's name (at most 64 lowercase letters, digits, and `-`, `.` or `_` between them, such as `build-7.example`)",
    |text| is_name(text, b"-._")
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_have_one_spelling() {
        let longest = "a".repeat(NAME_CHARS_MAX);
        let too_long = "a".repeat(NAME_CHARS_MAX + 1);
        for (text, is_pool, is_host) in [
            ("linux", true, true),
            ("gpu-large-2", true, true),
            ("7", true, true),
            (longest.as_str(), true, true),
            ("build-7.example", false, true),
            ("build_7", false, true),
            ("", false, false),
            (too_long.as_str(), false, false),
            ("Linux", false, false),
            ("-linux", false, false),
            ("linux-", false, false),
            (".example", false, false),
            ("example.", false, false),
            ("two words", false, false),
            ("a/b", false, false),
            ("größe", false, false),
            ("a\0b", false, false),
        ] {
            assert_eq!(Pool::parse(text).is_ok(), is_pool, "pool {text:?}");
            assert_eq!(Host::parse(text).is_ok(), is_host, "host {text:?}");
        }
        let error = Pool::parse("GPU").unwrap_err().to_string();
        assert!(
            error.starts_with("`GPU` is not a pool's name (at most 64"),
            "{error}"
        );
    }
}
