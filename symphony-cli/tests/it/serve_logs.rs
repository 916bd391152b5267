//! Logs on the served page: a raw log of any size is handed out whole, and never held in memory.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;

use crate::support::{Project, Served, WORKER, bash, scenario, scenarios};

/// Bytes of a log that is longer than any that Symphony writes.
const LOG_BYTES: usize = 64 * 1024 * 1024;

/// KiB that the server may need more for it: a fraction of the log.
const MORE_KIB: u64 = 16 * 1024;

#[test]
fn a_raw_log_of_any_size_is_handed_out_whole_and_never_held_in_memory() {
    let worker = json!({ "match_system": WORKER });
    let scenarios = scenarios([scenario("worker", &worker, [bash("echo begun")])]);
    let project = Project::new("page", &scenarios, &json!({}));
    project.add_issue("Talk");
    let run = project.tick_start();
    project.until_ended(&run);
    let path = project.run_folder(&run).join("log.txt");
    let mut log = String::with_capacity(LOG_BYTES + 100);
    let mut number = 0;
    while log.len() < LOG_BYTES {
        writeln!(log, "12:00:00 [text] Line {number} – größer").unwrap();
        number += 1;
    }
    fs::write(&path, &log).unwrap();

    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    assert_eq!(browser.get(&format!("/runs/{run}")).status, 200);
    let before = served.peak_memory_kib();
    let raw = browser.get(&format!("/runs/{run}/log"));
    assert_eq!(raw.status, 200);
    assert_eq!(raw.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(raw.headers["x-content-type-options"], "nosniff");
    assert_eq!(raw.headers["content-length"], log.len().to_string());
    // without the texts: nobody wants to read them
    assert!(raw.body == log, "{} bytes came", raw.body.len());
    let more = served.peak_memory_kib() - before;
    assert!(more < MORE_KIB, "the server needed {more} KiB more");
}
