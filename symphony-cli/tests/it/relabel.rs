//! A person asks for another phase while a pull request is open: its review ends, its work is kept.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, WORKER, bash, call, commit, create_pr, hang, scenario, scenarios, text, turn,
    write_research,
};
use crate::transcript::{Transcript, assert_transcript};

/// A turn that deliveries the phase `research`.
fn claim() -> Value {
    let claim = json!({ "phase": "research", "summary": "Looked." });
    turn(call("mcp__symphony__complete_phase", claim))
}

fn play() -> Value {
    scenarios([
        scenario("judge", &json!({ "match_system": JUDGE }), [hang()]),
        scenario(
            "research",
            &json!({ "match_system": "^# Phase: research$" }),
            [
                write_research("SYM-1"),
                claim(),
                bash("git rm -q hello.txt"),
                claim(),
            ],
        ),
        scenario(
            "works",
            &json!({ "match_system": WORKER }),
            [commit("hello.txt", "hello"), create_pr("Say hello")],
        ),
    ])
}

#[test]
fn a_label_of_another_phase_ends_the_review_and_keeps_the_work() {
    let mut project = Project::new("tool", &play(), &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let head = project.git(&["rev-parse", "symphony/SYM-1"]);
    // an agent decides over no review, its own label leaves it alone
    project.ok(&["issue", "edit", "SYM-1", "--add-label", "phase:ready"]);
    project.set_variable("SYMPHONY_RUN_ID", "0199-run");
    let research = ["issue", "edit", "SYM-1", "--label", "phase:research"];
    let refused = project.symphony(&research);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    project.unset_variable("SYMPHONY_RUN_ID");
    assert_eq!(project.json(&["pr", "show", "SYM-1"])["state"], "open");

    // a judge at work does not speak after a person
    let judge = project.tick_start();
    let transcript = Transcript::of(&project)
        .run(&research)
        .run(&["pr", "list", "--state", "closed"])
        .run(&["explain", "SYM-1"]);
    assert_eq!(project.run(&judge)["status"], "cancelled");
    let transcript = transcript.text();
    let rescue = project.git(&[
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        "refs/symphony/rescue",
    ]);
    let (name, kept) = rescue.trim().split_once(' ').unwrap();
    assert_eq!(kept, head.trim());
    let transcript = transcript.replace(name, "RESCUE");
    assert_transcript!("relabel", Told(transcript));

    // what is not the phase's is taken back by its agent
    let run = project.tick_one("researcher", "succeeded");
    let errors = project.tool_errors(&text(&run["id"]));
    let told = "this phase may change only `docs/tickets/SYM-1/`; revert `hello.txt`";
    assert!(errors.len() == 1 && errors[0].contains(told), "{errors:?}");
    let issue = project.issue("SYM-1");
    assert_eq!(
        json!([issue["status"], issue["phase"]]),
        json!(["todo", "architecture"])
    );
    assert_eq!(
        issue["comments"][0]["content"],
        "Pull request 1 is closed: the issue is in the phase `research` now. Its commits stay on the branch `symphony/SYM-1`."
    );
    project.assert_sound();
}

/// A transcript whose names were replaced.
struct Told(String);

impl Told {
    fn text(self) -> String {
        self.0
    }
}
