//! Trees of processes that do not want to end, for a supervisor that ends them all.
//!
//! The other side, supervisor and tree, is `examples/process_probe/`.

use serde_json::json;

use crate::process_probe::{NODES, READY, run_probe};

/// Time that a leader has to follow a request, in milliseconds: more than the slowest machine needs. It takes what it needs.
const PATIENCE: &str = "120000";

#[test]
fn no_process_of_a_tree_survives_its_end() {
    let arguments = [&["trees", "20", "stay", PATIENCE], &NODES[..]].concat();
    let reports = run_probe(&arguments);
    assert_eq!(reports.len(), 20);
    for mut report in reports {
        // Leader and the node that ended itself are none; the rabbit counts each time it is hit.
        let strays = report["strays"].take().as_u64().unwrap();
        assert!(strays >= 6, "{strays} {report}");
        assert_eq!(
            report,
            json!({
                "ready": READY, "code": null, "signal": 15, "end": "on request", "strays": null,
                "alive": [], "end_of_output": true, "helper_lives": true, "zombies": 0,
                "descendants": 1,
            })
        );
    }
}

#[test]
fn a_deaf_or_stopped_leader_is_ended_too() {
    for (leader, grace, signal, end) in [
        ("deaf", "30", 9, "killed"),
        ("stopped", PATIENCE, 15, "on request"),
        ("stay", "0", 9, "killed"),
    ] {
        let report = run_probe(&["trees", "1", leader, grace, "background", "deaf"]).remove(0);
        // Without grace the leader may find the time to follow the request all the same.
        assert!(report["signal"] == signal || grace == "0", "{report}");
        assert!(report["end"] == end || grace == "0", "{report}");
        assert_eq!(report["alive"], json!([]), "{report}");
        assert_eq!(report["end_of_output"], true, "{report}");
        assert_eq!(report["descendants"], 1, "{report}");
    }
}

#[test]
fn strays_of_a_normal_end_are_swept_and_its_exit_code_is_kept() {
    let arguments = [&["trees", "3", "exit:5", PATIENCE], &NODES[..]].concat();
    for report in run_probe(&arguments) {
        assert_eq!(report["code"], 5, "{report}");
        assert_eq!(report["end"], "by itself", "{report}");
        assert_eq!(report["alive"], json!([]), "{report}");
        assert_eq!(report["end_of_output"], true, "{report}");
        assert_eq!(
            (&report["zombies"], &report["descendants"]),
            (&json!(0), &json!(1))
        );
    }
}

#[test]
fn a_tree_that_is_still_growing_is_ended_whole() {
    for report in run_probe(&["trees", "3", "stay", PATIENCE, "swarm", "session"]) {
        assert_eq!(report["alive"], json!([]), "{report}");
        assert_eq!(report["end_of_output"], true, "{report}");
        assert_eq!(report["descendants"], 1, "{report}");
        assert_eq!(report["zombies"], 0, "{report}");
    }
}

#[test]
fn orphans_are_reaped_during_a_run_and_the_agents_status_is_not_stolen() {
    assert_eq!(
        run_probe(&["reap"]),
        [json!({ "reaped": 10, "code": 7, "strays": 0, "zombies": 0 })]
    );
}

#[test]
fn agents_are_supervised_from_the_first_thread_only() {
    assert_eq!(
        run_probe(&["thread"]),
        [json!({ "refusal": "only the first thread of a process can supervise an agent" })]
    );
}
