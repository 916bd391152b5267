//! How fast runs start on a host of a pool, with the database on a server, beside one host with its file.
//!
//! `SYMPHONY_TEST_SERVER=postgres://USER@/DATABASE?host=FOLDER cargo bench -p symphony-cli --features postgres --bench starts`
//!
//! Both work in turn in the same run, on this machine, whose repository is the hub as well. Each round has projects of its own, and
//! leaves a schema `starts_…` on the server. What the agents note is a clock of this machine's, as is that of the claims.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark reads clocks, starts its peers, and prints"
)]

#[expect(dead_code, reason = "the other benchmark reads processes as well")]
#[path = "processes/measure.rs"]
mod measure;
#[path = "processes/new_issue.rs"]
mod new_issue;
#[expect(dead_code, reason = "the other benchmark opens the database's file")]
#[path = "processes/project.rs"]
mod project;
#[path = "starts/side.rs"]
mod side;

use measure::median;
use side::{Kind, Side};

const ROUNDS: usize = 3;
/// Runs that are started at once in each round.
const AT_ONCE: usize = 32;
/// Runs that are started one after the other in each round.
const ONE_BY_ONE: usize = 20;

/// What a round of one side took.
struct Round {
    /// Agents that started for each second, when all were wanted at once.
    per_second: f64,
    /// From a claim to its agent, in milliseconds, where nothing else was done.
    to_agent_ms: Vec<f64>,
}

fn round(kind: Kind) -> Round {
    let mut side = Side::new(kind);
    // a host of a pool clones the repository once
    side.start(1);
    let first = side.start(AT_ONCE);
    let begin = first.iter().map(|start| start.claimed_ms).min().unwrap();
    let end = first.iter().map(|start| start.agent_ms).max().unwrap();
    let one_by_one = (0..ONE_BY_ONE).map(|_| {
        let start = side.start(1).remove(0);
        (start.agent_ms - start.claimed_ms) as f64
    });
    Round {
        to_agent_ms: one_by_one.collect(),
        per_second: AT_ONCE as f64 * 1e3 / (end - begin) as f64,
    }
}

fn main() {
    let Ok(server) = std::env::var("SYMPHONY_TEST_SERVER") else {
        println!("!! NOT MEASURED: SYMPHONY_TEST_SERVER NAMES NO SERVER");
        return;
    };
    let (mut files, mut servers) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        files.push(round(Kind::File));
        servers.push(round(Kind::Server(&server)));
    }
    let rate = |rounds: &[Round]| median(rounds.iter().map(|round| round.per_second).collect());
    let most = |rounds: &[Round]| {
        let mut all: Vec<f64> = rounds
            .iter()
            .flat_map(|round| round.to_agent_ms.clone())
            .collect();
        all.sort_by(f64::total_cmp);
        (all[all.len() / 2], all[all.len() * 95 / 100])
    };
    let (file, server) = (rate(&files), rate(&servers));
    println!(
        "{AT_ONCE} agents start: {file:.1} a second with a file, {server:.1} with a server and a worker"
    );
    println!("  {:.2} times (goal 0.8)", server / file);
    for (name, rounds) in [("a file", &files), ("a server and a worker", &servers)] {
        let (half, most) = most(rounds);
        println!("from a claim to its agent with {name}: half {half:.0} ms, 95 % {most:.0} ms");
    }
}
