//! Markers and quotes on any text.

use proptest::prelude::*;
use symphony_tracker::change::ChangeId;
use symphony_tracker::{marker, quote};

/// Texts that are rich in what the two modules look at.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("```".to_owned()),
        Just("~~~~".to_owned()),
        Just("\n".to_owned()),
        Just("    ".to_owned()),
        Just("> ".to_owned()),
        Just("<!-- symphony:change=a-1 -->".to_owned()),
        Just("@ada #12 GH-1 ENG-12 acme/web#3".to_owned()),
        Just("/symphony approve".to_owned()),
        Just("<!--".to_owned()),
        Just("\u{202e}\r\u{0}".to_owned()),
        ".{0,6}",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_marker_is_found_after_any_text(body in text()) {
        let id = ChangeId::new("0b7c2a52-7f0e-4a5e-9d61-3c2f1f2a9a11");
        let marked = marker::with(&body, &id);
        prop_assert_eq!(marker::find(&marked), Some(id));
        prop_assert!(!marker::without(&marked).contains("0b7c2a52"));
    }

    #[test]
    fn a_quote_has_nothing_that_a_tracker_acts_on(text in text(), max in 0_usize..60) {
        let quote = quote::quoted(&text, max);
        prop_assert!(quote.lines().all(|line| line.is_empty() || line.starts_with(['>', '_'])), "{quote}");
        prop_assert!(!quote.contains("<!--"), "{quote}");
        prop_assert!(!quote.contains("/symphony"), "{quote}");
        prop_assert_eq!(marker::find(&quote), None);
        for (c, next) in quote.chars().zip(quote.chars().skip(1)) {
            prop_assert!(c != '@' || !next.is_alphanumeric(), "{quote}");
            prop_assert!(c != '#' || !next.is_ascii_digit(), "{quote}");
        }
        prop_assert!(quote.chars().count() <= 4 * max + 60, "{quote}");
    }
}
