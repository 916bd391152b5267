//! How an agent starts: its session, its environment, its signals, and starts that fail.

#![expect(clippy::disallowed_methods, reason = "these tests start processes")]

use std::process::Command;

use serde_json::{Value, json};
use symphony_runner::environment::RUN_MARKER;

use crate::process_probe::{probe, reports, run_probe};

#[test]
fn an_agent_leads_its_session_and_has_exactly_its_environment() {
    let report = reports(
        Command::new(probe())
            .args(["run", "cat", "/proc/self/stat", "/proc/self/environ"])
            .env("PROBE_VALUE", "seen")
            .env("PROBE_SECRET", "not seen")
            .env(RUN_MARKER, "run-7"),
    )
    .remove(0);
    let (stat, environment) = report["stdout"].as_str().unwrap().split_once('\n').unwrap();
    let fields: Vec<&str> = stat.split(' ').collect();
    let pid = report["pid"].to_string();
    let supervisor = report["supervisor"].to_string();
    assert_eq!(fields[..2], [pid.as_str(), "(cat)"]);
    assert_eq!(fields[3..6], [supervisor.as_str(), &pid, &pid]);
    let mut names: Vec<&str> = environment
        .split_terminator('\0')
        .map(|pair| pair.split_once('=').unwrap().0)
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["PATH", "PROBE_VALUE", RUN_MARKER]);
}

#[test]
fn an_agent_does_not_inherit_ignored_signals() {
    let script = "trap '' HUP INT TERM CHLD USR1; exec \"$0\" run grep SigIgn /proc/self/status";
    let report = reports(Command::new("sh").args(["-c", script]).arg(probe())).remove(0);
    let mask = report["stdout"]
        .as_str()
        .unwrap()
        .trim_start_matches("SigIgn:")
        .trim();
    let mask = u64::from_str_radix(mask, 16).unwrap();
    // Bits 31 and 32 are real-time signals that the C library ignores in what it starts.
    assert_eq!(mask & 0x7fff_ffff, 0, "{mask:x}");
    assert_eq!(report["code"], 0);
}

#[test]
fn a_program_that_cannot_start_is_told_apart_from_one_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    // another process writes them: what this one has open for writing, a child of another test inherits until it executes,
    // and the system executes no file that somebody may write
    let script = |name: &str, text: &str, mode: &str| -> String {
        let path = folder.path().join(name);
        let written = Command::new("sh")
            .args(["-c", "printf %s \"$1\" >\"$0\" && chmod \"$2\" \"$0\""])
            .arg(&path)
            .args([text, mode])
            .status();
        assert!(written.unwrap().success(), "{name}");
        path.display().to_string()
    };
    let orphaned = script("orphaned", "#!/no/such/interpreter\n", "755");
    let honest = script(
        "honest",
        "#!/bin/sh\necho cannot start >&2\nexit 127\n",
        "755",
    );
    let forbidden = script("forbidden", "#!/bin/sh\n", "644");

    let failure = |program: &str| run_probe(&["run", program]).remove(0)["failure"].take();
    assert_eq!(
        failure(&orphaned),
        format!(
            "cannot start {orphaned}: the interpreter or loader that the file names does not exist"
        )
    );
    assert_eq!(failure(&honest), Value::Null);

    for (program, expected) in [
        (
            forbidden.as_str(),
            format!("{forbidden} is not an executable file"),
        ),
        (
            "/no/such/program",
            "the program `/no/such/program` was not found in /no/such/program".to_owned(),
        ),
    ] {
        let output = Command::new(probe())
            .args(["run", program])
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report, json!({ "error": expected }));
    }
}

#[test]
fn the_hidden_command_refuses_people_and_foreign_parents() {
    for (arguments, expected) in [
        (
            &["exec-agent"][..],
            "symphony: cannot start the agent [- 0]: this is an internal command that Symphony runs itself\n",
        ),
        (
            &["exec-agent", "1", "token", "-", "-", "true"][..],
            "symphony: cannot start the agent [token 0]: cannot find the supervisor that started \
             this: entity not found\n",
        ),
    ] {
        let output = Command::new(probe()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(127));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
    }
}

#[test]
fn a_process_becomes_leader_of_its_session_once() {
    assert_eq!(
        run_probe(&["session"]),
        [json!({ "before": false, "after": true })]
    );
}
