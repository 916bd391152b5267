//! The page of `symphony serve` beside a bare server that sends as many bytes, and a bare read of the same file.
//!
//! `cargo bench -p symphony-cli --bench web -- [pages|log|streams|idle]… [quick]`
//!
//! The server is the real program, on this machine's own network. Everything that is compared runs in turn in the same run
//! (A B A B …); of each the median counts, and only ratios say anything. Results are checked before anything is timed.
//! `quick` tries everything with small numbers.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark reads clocks, starts its server, and prints"
)]

#[path = "web/bare.rs"]
mod bare;
#[path = "web/client.rs"]
mod client;
#[path = "web/idle.rs"]
mod idle;
#[path = "web/log.rs"]
mod log;
#[expect(dead_code, reason = "the other benchmark runs commands as well")]
#[path = "processes/measure.rs"]
mod measure;
#[path = "web/pages.rs"]
mod pages;
#[path = "processes/project.rs"]
mod project;
#[path = "web/served.rs"]
mod served;
#[path = "web/streams.rs"]
mod streams;
#[path = "web/writers.rs"]
mod writers;

/// How much of everything.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    rounds: usize,
    /// Issues of the project, and runs on them.
    issues: u32,
    log_bytes: u64,
    streams: usize,
    writers: usize,
    seconds: u64,
}

/// What is measured.
const WHOLE: Sizes = Sizes {
    rounds: 41,
    issues: 10_000,
    log_bytes: 1 << 30,
    streams: 200,
    writers: 20,
    seconds: 20,
};

/// What shows that the benchmark works.
const QUICK: Sizes = Sizes {
    rounds: 3,
    issues: 200,
    log_bytes: 1 << 23,
    streams: 10,
    writers: 2,
    seconds: 3,
};

/// What measures one thing.
type Part = fn(Sizes);

fn main() {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let (quick, asked): (Vec<_>, Vec<_>) = asked.into_iter().partition(|asked| asked == "quick");
    let sizes = if quick.is_empty() { WHOLE } else { QUICK };
    let parts: [(&str, Part); 4] = [
        ("pages", pages::run),
        ("log", log::run),
        ("streams", streams::run),
        ("idle", idle::run),
    ];
    for (name, run) in parts {
        if asked.is_empty() || asked.iter().any(|asked| asked == name) {
            run(sizes);
        }
    }
}
