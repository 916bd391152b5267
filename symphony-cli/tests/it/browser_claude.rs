//! The page in a real browser, with the real Claude CLI as the agent, in front of a scripted model.

use serde_json::{Value, json};

use crate::browser::{WIDE, from_idea_to_merge};
use crate::support::{Chromium, RealCli, Served};

/// The script of the demo's agent.
const DEMO: &str = include_str!("../../../examples/demo/scenario.json");

/// Pause before each turn, in seconds: long enough to be seen at work.
const PAUSE_SECONDS: f64 = 1.5;

fn scenarios() -> String {
    let mut file: Value = serde_json::from_str(DEMO).unwrap();
    for scenario in file["scenarios"].as_array_mut().unwrap() {
        for turn in scenario["turns"].as_array_mut().unwrap() {
            turn["faults"] = json!([{ "type": "delay", "seconds": PAUSE_SECONDS }]);
        }
    }
    file.to_string()
}

#[test]
fn the_real_claude_cli_is_watched_and_reviewed_by_clicking() {
    let (project, model) = RealCli::Claude.project(&scenarios(), &json!({}));
    project.commit_files(&[("tests/run.sh", "echo fine\n")]);
    let served = Served::start(&project, &["--tick", "1"]);
    let browser = Chromium::start(WIDE);
    browser.open(&format!("http://{}{}", served.host, served.link));
    browser.wait("//h1[.='Board']");
    from_idea_to_merge(&browser, "SYM-1", "claude");

    let requests = model.requests();
    for scenario in [
        "worker-of-any-other-issue",
        "worker-that-answers-a-point",
        "judge-of-any-other-issue",
    ] {
        let mut played = requests.iter();
        assert!(
            played.any(|request| request["scenario"] == scenario),
            "{scenario}"
        );
    }
    let note = project.git(&["show", "main:notes/SYM-1.md"]);
    assert!(note.contains("Say it in French, please."), "{note}");
    assert_eq!(project.issue("SYM-1")["status"], "done");
}
