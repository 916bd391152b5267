//! What a run's sandbox allowed and refused, as `runs show` says it.

use symphony_core::run_memory::RunMemory;
use symphony_core::run_network::RunNetworkUse;
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
            "no limit: {limit} is configured, and this machine could not enforce it (`symphony doctor` says why)"
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
pub(crate) fn write_refused(network: &RunNetworkUse, page: &mut Page) {
    if network.refused.is_empty() {
        return;
    }
    page.heading("Refused hosts");
    for host in &network.refused {
        page.hanging(
            2,
            &format!(
                "- {}:{}, {}: {}.",
                host.host,
                host.port,
                counted(host.count, "time"),
                host.why
            ),
        );
    }
    if network.refused_others > 0 {
        page.hanging(
            2,
            &format!("- Others, {}.", counted(network.refused_others, "time")),
        );
    }
    let entries: Vec<_> = network
        .missing_entries()
        .into_iter()
        .map(|entry| format!("`{entry}`"))
        .collect();
    if !entries.is_empty() {
        page.hanging(
            2,
            &format!(
                "To allow them, add {} to `sandbox.hosts` in the configuration. An agent can send data to every host \
                 that is allowed.",
                entries.join(", ")
            ),
        );
    }
}
