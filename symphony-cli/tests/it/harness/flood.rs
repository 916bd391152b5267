//! Floods: the memory of a supervisor stays bounded whatever its agent writes.

use serde_json::json;

use crate::support::{Project, scenarios, supervisor_of, until};

/// What an agent writes: 1 GiB, as one line or as many.
const FLOOD_BYTES: u64 = 1 << 30;
/// Most memory of a supervisor's own, without the pages of its program. All of it may be 64 MiB (spec: reliability, "How it is
/// proved"); the pages of a program without optimisation are 47 MiB of that, and all supervisors share them.
const OWN_KIB_MAX: u64 = 32 * 1024;

/// Returns the most memory of its own that a process has had so far, in KiB.
fn peak_kib(pid: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.trim().parse().ok()
    };
    Some(kib("VmHWM:")?.saturating_sub(kib("RssFile:")?))
}

/// Runs an agent to its end; returns its supervisor's peak, in KiB.
fn peak_while(agent: &str, output: &str) -> u64 {
    let project = Project::new("a project", &scenarios([]), &json!({}));
    project.configure(&json!({
        "provider": "command",
        "providers": { "command": { "command": agent, "output": output } },
        "turn_timeout_ms": 1_800_000,
    }));
    project.add_issue("Flood");
    let run = project.tick_start();
    let supervisor = until("the supervisor", || supervisor_of(&run));
    let mut peak = 0;
    // each look waits no longer than a minute, which a flood may take in all
    while !project.lock_is_free(&run) {
        peak = peak.max(peak_kib(supervisor).unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let ended = project.run(&run);
    assert!(ended["ended_at"].is_string(), "{ended:#}");
    let log = std::fs::metadata(project.run_folder(&run).join("stream.ndjson")).unwrap();
    println!(
        "{agent}: supervisor's peak {} MiB, {} MiB kept, run {}",
        peak / 1024,
        log.len() >> 20,
        ended["status"]
    );
    assert!(peak > 0, "the supervisor was seen");
    assert!(log.len() <= 65 << 20, "{}", log.len());
    peak
}

#[test]
fn a_line_of_a_gigabyte_stays_out_of_memory() {
    for output in ["text", "claude-stream"] {
        let agent = format!("head -c {FLOOD_BYTES} /dev/zero | tr '\\0' x; echo");
        let peak = peak_while(&agent, output);
        assert!(peak < OWN_KIB_MAX, "{output}: {peak} KiB");
    }
}

#[test]
fn a_gigabyte_of_lines_stays_out_of_memory() {
    let agent = format!(
        "yes '{}' | head -c {FLOOD_BYTES}",
        "a line of output ".repeat(20)
    );
    let peak = peak_while(&agent, "text");
    assert!(peak < OWN_KIB_MAX, "{peak} KiB");
}
