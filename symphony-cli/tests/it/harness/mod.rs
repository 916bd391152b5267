//! Harnesses: many rounds of what must never go wrong, over real processes and real git.
//!
//! Each runs a few rounds in CI and many in `just soak`: `SYMPHONY_HARNESS_ROUNDS` multiplies them by ten or a hundred.
//! What a harness found is a test of its own elsewhere; here chance looks for more.

mod clock;
mod disk;
mod flood;
mod kills;
mod orphans;
mod ticks;
mod week;

/// How many rounds are made: a harness's own number, times what the soak asks for.
fn rounds(own: usize) -> usize {
    let times = std::env::var("SYMPHONY_HARNESS_ROUNDS").ok();
    let times = times.map_or(1, |text| {
        text.parse().expect("SYMPHONY_HARNESS_ROUNDS is a number")
    });
    own * times
}
