//! Cuts by the count of a real tokenizer.

use symphony_core::unit::Tokens;
use symphony_prompt::{BpeCounter, TRUNCATION_MARKER, TokenCounter, truncate_head, truncate_tail};

#[test]
fn cuts_fit_by_the_real_count_too() {
    let counter = BpeCounter::o200k();
    assert_eq!(counter.count("hello world").get(), 2);
    let text = "Prompts are assembled from layers — naïvely, 👩‍🚀 and all. ".repeat(20);
    for cap in [0, 3, 10, 57, 100] {
        for cut in [
            truncate_tail(&text, Tokens::new(cap), &counter),
            truncate_head(&text, Tokens::new(cap), &counter),
        ] {
            assert!(counter.count(&cut).get() <= cap, "{cap}");
            assert!(cut.is_empty() || cut.contains(TRUNCATION_MARKER));
        }
    }
}
