//! Timing and tables.

use std::ops::RangeInclusive;
use std::time::Instant;

/// Times of half a size and of the size, in seconds, both from the same run: what others do on the machine changes from
/// run to run.
pub(crate) struct Doubling {
    pub(crate) count: usize,
    pub(crate) full: [f64; 2],
    pub(crate) best: [f64; 2],
}

/// Measures the time this thread ran, so that waiting for other processes does not count; the time that passed where
/// the system does not tell.
pub(crate) fn time(run: impl FnOnce()) -> f64 {
    let (start, ran_before) = (Instant::now(), ran());
    run();
    match (ran_before, ran()) {
        (Some(before), Some(after)) => (after - before) as f64 / 1e9,
        _ => start.elapsed().as_secs_f64(),
    }
}

/// Returns the nanoseconds this thread ran. Yielding brings the count up to date.
fn ran() -> Option<u64> {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// Rounds that are made whatever they cost, and those that are enough.
const ROUNDS: RangeInclusive<usize> = 3..=40;
/// Seconds after which the fewest rounds are enough.
const ENOUGH_S: f64 = 6.0;

/// Runs the works in turn (A B A B …) and returns the shortest time of each: what others do on the machine only adds.
/// What is quick gets more rounds.
pub(crate) fn interleaved<const N: usize>(mut works: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    let begin = Instant::now();
    for round in 1..=*ROUNDS.end() {
        for (work, times) in works.iter_mut().zip(&mut times) {
            times.push(time(&mut **work));
        }
        if round >= *ROUNDS.start() && begin.elapsed().as_secs_f64() > ENOUGH_S {
            break;
        }
    }
    times.map(shortest)
}

pub(crate) fn shortest(times: Vec<f64>) -> f64 {
    times.into_iter().fold(f64::INFINITY, f64::min)
}

/// Prints times with t(2n)/t(n).
pub(crate) fn growth(family: &str, rows: &[Doubling]) {
    println!(
        "\n{family}\n{:>10} {:>12} {:>7} {:>12} {:>7}",
        "2n", "full ms", "×", "best ms", "×"
    );
    for Doubling { count, full, best } in rows {
        println!(
            "{count:>10} {:>12.3} {:>7.2} {:>12.3} {:>7.2}",
            full[1] * 1e3,
            full[1] / full[0],
            best[1] * 1e3,
            best[1] / best[0],
        );
    }
}
