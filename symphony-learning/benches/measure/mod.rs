//! Timing and tables.

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

/// Runs the works in turn (A B A B …) and returns the shortest time of each: what others do on the machine only adds.
/// Small sizes get more rounds.
pub(crate) fn interleaved<const N: usize>(
    count: usize,
    mut works: [&mut dyn FnMut(); N],
) -> [f64; N] {
    let rounds = (500_000 / count.max(1)).clamp(3, 21);
    let mut times = [const { Vec::new() }; N];
    for _ in 0..rounds {
        for (work, times) in works.iter_mut().zip(&mut times) {
            times.push(time(&mut **work));
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
