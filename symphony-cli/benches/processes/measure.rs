//! Timing.

use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs the works in turn and returns the median time of each, in seconds.
pub(crate) fn in_turn<const N: usize>(rounds: usize, mut works: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..rounds {
        for (work, times) in works.iter_mut().zip(&mut times) {
            let begin = Instant::now();
            work();
            times.push(begin.elapsed().as_secs_f64());
        }
    }
    times.map(median)
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs a command without input and output; it has to succeed.
pub(crate) fn quietly(command: &mut Command) {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

/// Returns a figure of `/proc/PID/smaps_rollup` in KiB.
pub(crate) fn memory_kib(pid: u32, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Returns the processor time that a process has taken, in microseconds.
pub(crate) fn processor_us(pid: u32) -> u64 {
    // the scheduler's own count: the ticks of `stat` are too coarse
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).unwrap() {
        let path = thread.unwrap().path().join("schedstat");
        let text = std::fs::read_to_string(path).unwrap();
        nanoseconds += text.split(' ').next().unwrap().parse::<u64>().unwrap();
    }
    nanoseconds / 1_000
}
