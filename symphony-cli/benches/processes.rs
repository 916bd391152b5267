//! Symphony's processes beside their limits and their peers: idle tick, large installations, claim, whole issues, logs, MCP server,
//! supervisor, many agents.
//!
//! `cargo bench -p symphony-cli --bench processes -- [tick|large|claim|issues|logs|mcp|supervisor|fleet]…`
//!
//! Everything that is compared runs in turn in the same run (A B A B …); of each the median counts, and only ratios say
//! anything. Peers in JavaScript are under `benches/peers/`, pinned by a lock file and installed on first use; one that is
//! missing is reported. Results are checked before anything is timed.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark reads clocks, starts its peers, and prints"
)]

#[path = "processes/backup.rs"]
mod backup;
#[path = "processes/claim.rs"]
mod claim;
#[path = "processes/fleet.rs"]
mod fleet;
#[path = "processes/idle_tick.rs"]
mod idle_tick;
#[path = "processes/issues.rs"]
mod issues;
#[path = "processes/large.rs"]
mod large;
#[path = "processes/logs.rs"]
mod logs;
#[path = "processes/mcp_start.rs"]
mod mcp_start;
#[path = "processes/measure.rs"]
mod measure;
#[path = "processes/new_issue.rs"]
mod new_issue;
#[path = "processes/peers.rs"]
mod peers;
#[path = "processes/project.rs"]
mod project;
#[path = "processes/supervisor.rs"]
mod supervisor;

fn main() {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let parts: [(&str, fn()); 8] = [
        ("tick", idle_tick::run),
        ("large", large::run),
        ("claim", claim::run),
        ("issues", issues::run),
        ("logs", logs::run),
        ("mcp", mcp_start::run),
        ("supervisor", supervisor::run),
        ("fleet", fleet::run),
    ];
    for (name, run) in parts {
        if asked.is_empty() || asked.iter().any(|asked| asked == name) {
            run();
        }
    }
}
