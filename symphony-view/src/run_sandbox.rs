//! What a run's sandbox allowed and refused, as `runs show` says it.

use symphony_core::run_memory::RunMemory;
use symphony_core::run_network::{RefusedHost, RunNetworkUse};
use symphony_core::wording::counted;

use crate::text::Page;

/// Says whether a run had its limit of memory.
pub(crate) fn limited(memory: RunMemory) -> String {
    let limit = size(memory.limit_bytes);
    let RunMemory {
        enforced, killed, ..
    } = memory;
    match (enforced, killed) {
        (false, _) => format!(
            "no limit: {limit} is configured, but this machine could not enforce it (`symphony doctor` shows why)"
        ),
        (true, 0) => format!("at most {limit}"),
        (true, _) => format!(
            "at most {limit}: the kernel ended {} that needed more",
            counted(killed, "process")
        ),
    }
}

/// Returns how much went through the ways out of a run's sandbox.
pub(crate) fn carried(network: &RunNetworkUse) -> String {
    format!(
        "{}, {} received, {} sent",
        counted(network.connections, "connection"),
        size(network.bytes_in),
        size(network.bytes_out)
    )
}

/// Returns a number of bytes in the unit that a person reads best.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => counted(bytes, "byte"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// Writes the hosts that were refused, and what would allow them.
pub fn write_refused(network: &RunNetworkUse, page: &mut Page) {
    let lines = refused_lines(network);
    if lines.is_empty() {
        return;
    }
    page.heading("Refused hosts");
    for line in lines {
        page.hanging(2, &line);
    }
}

/// Returns the hosts that were refused, one in each line, and what would allow them; nothing where none was.
pub fn refused_lines(network: &RunNetworkUse) -> Vec<String> {
    if network.refused.is_empty() {
        return Vec::new();
    }
    let line = |host: &RefusedHost| {
        let times = counted(host.count, "time");
        format!("- {}:{}, {times}: {}.", host.host, host.port, host.why)
    };
    let mut lines: Vec<String> = network.refused.iter().map(line).collect();
    if network.refused_others > 0 {
        let times = counted(network.refused_others, "time");
        lines.push(format!("- Others, {times}."));
    }
    let entries: Vec<_> = network
        .missing_entries()
        .into_iter()
        .map(|entry| format!("`{entry}`"))
        .collect();
    if !entries.is_empty() {
        lines.push(format!(
            "To allow them, add {} to `sandbox.hosts` in the configuration. Agents can send data to every allowed host.",
            entries.join(", ")
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_memory_is_said_with_what_the_kernel_did() {
        for (enforced, killed, expected) in [
            (
                false,
                0,
                "no limit: 512 MiB is configured, but this machine could not enforce it (`symphony doctor` shows why)",
            ),
            (true, 0, "at most 512 MiB"),
            (
                true,
                1,
                "at most 512 MiB: the kernel ended 1 process that needed more",
            ),
            (
                true,
                3,
                "at most 512 MiB: the kernel ended 3 processes that needed more",
            ),
        ] {
            let memory = RunMemory {
                limit_bytes: 512 << 20,
                enforced,
                killed,
            };
            assert_eq!(limited(memory), expected);
        }
    }

    #[test]
    fn refused_hosts_come_with_the_entry_that_allows_them() {
        let host = |name: &str, entry: Option<&str>| RefusedHost {
            host: name.to_owned(),
            port: 443,
            count: 2,
            why: "it is not allowed".to_owned(),
            entry: entry.map(str::to_owned),
        };
        let network = RunNetworkUse {
            refused: vec![host("a.example", Some("a.example")), host("::1", None)],
            refused_others: 1,
            ..RunNetworkUse::default()
        };
        assert_eq!(
            refused_lines(&network),
            [
                "- a.example:443, 2 times: it is not allowed.",
                "- ::1:443, 2 times: it is not allowed.",
                "- Others, 1 time.",
                "To allow them, add `a.example` to `sandbox.hosts` in the configuration. Agents can send data to every allowed host.",
            ]
        );
        assert!(refused_lines(&RunNetworkUse::default()).is_empty());
    }
}
