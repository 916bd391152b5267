//! Review points from end to end: whole in the next prompt, answered before the work is handed in, closed before it is approved.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, WORKER, approving_judge, bash, call, commit, create_pr, scenario, scenarios,
    text, turn, worker,
};

/// As long as a point may be.
const LONG: usize = 2_000;

/// The text of a point that tells its number at both ends.
fn long_point(number: u32) -> String {
    let (begin, end) = (format!("begin of {number}"), format!("end of {number}"));
    let rest = LONG - begin.len() - end.len() - 2;
    format!("{begin} {} {end}", "x".repeat(rest))
}

fn answer(point: u32, answer: &str, said: &str) -> Value {
    let arguments = json!({ "point": point, "answer": answer, "text": said });
    turn(call("mcp__symphony__answer_review_point", arguments))
}

fn judged(name: &str, when: &str, tool: &str, arguments: Value) -> Value {
    let when = json!({ "match_system": JUDGE, "match_prompt": when });
    let verdict = turn(call(&format!("mcp__symphony__{tool}"), arguments));
    scenario(name, &when, [verdict])
}

#[test]
fn fourteen_long_points_reach_the_next_attempt_whole_and_are_answered_before_it_is_handed_in() {
    let raised: Vec<Value> = (1..=14)
        .map(|number| json!({ "text": long_point(number), "file": "hello.txt", "lines": "1" }))
        .collect();
    let closed: Vec<Value> = (1..=14)
        .map(|id| json!({ "id": id, "state": "closed" }))
        .collect();
    let mut head = bash("git rev-parse HEAD");
    head["content"][0]["label"] = json!("head");
    let fixed = json!({ "point": 1, "answer": "fixed", "commit": "${results.head}", "text": "it greets the world" });
    let mut answers = vec![
        commit("hello.txt", "hello world"),
        create_pr("Too early"),
        head,
        turn(call("mcp__symphony__answer_review_point", fixed)),
    ];
    answers.extend((2..=14).map(|number| answer(number, "declined", "by design")));
    answers.push(create_pr("Say more"));
    let second = json!({ "match_system": WORKER, "match_prompt": "end of 14" });
    let scenes = [
        judged(
            "closes",
            "by design",
            "approve_pr",
            json!({ "points": closed }),
        ),
        judged(
            "rejects",
            "Pull Request",
            "reject_pr",
            json!({ "points": raised }),
        ),
        scenario("listens", &second, answers),
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
    ];
    let project = Project::new("project", &scenarios(scenes), &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    // what comes later pushes nothing out
    for number in 0..3 {
        let later = format!("later {number} {}", "y".repeat(9_000));
        project.ok(&["issue", "comment", "SYM-1", &later]);
    }
    let run = project.tick_one("worker", "succeeded");
    let prompt = project.run_file(&text(&run["id"]), "user-prompt.md");
    for number in 1..=14 {
        assert!(
            prompt.contains(&long_point(number)),
            "{number} is missing or cut"
        );
    }
    assert!(prompt.contains("At: hello.txt:1"), "{prompt}");
    let errors = project.tool_errors(&text(&run["id"]));
    assert!(
        errors.len() == 1 && errors[0].contains("review points 1, 2, 3,"),
        "{errors:?}"
    );

    let run = project.tick_one("judge", "succeeded");
    let prompt = project.run_file(&text(&run["id"]), "user-prompt.md");
    for part in [
        "### Point 14 (must), answered",
        "it greets the world",
        "## Changes That Answer Points",
        "which answers review point 1",
        "+hello world",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    let shown = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(shown["state"], "approved", "{shown:#}");
    assert_eq!(shown["points"].as_array().unwrap().len(), 14);
    assert_eq!(
        json!([
            shown["points"][0]["state"],
            shown["points"][0]["answers"][0]["answer"]
        ]),
        json!(["closed", "fixed"])
    );
    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

/// Plays in which a judge rejects a pull request with three points, the next worker hands in too early, answers them and hands
/// in, and the next judge approves too early, closes them and approves.
pub(crate) fn review_plays() -> Value {
    let raised = json!([
        { "text": "Greet the world.", "file": "hello.txt", "lines": "1" },
        { "text": "Say it in a test." },
        { "text": "A nice file.", "severity": "note" },
    ]);
    let mut rejects = judged(
        "rejects",
        "^# SYM-1: ",
        "reject_pr",
        json!({ "points": raised }),
    );
    rejects["uses"] = json!(1);
    let closed: Vec<Value> = (1..=3)
        .map(|id| json!({ "id": id, "state": "closed" }))
        .collect();
    let mut closes = judged("closes", "it greets the world", "approve_pr", json!({}));
    let mut approves = turn(call(
        "mcp__symphony__approve_pr",
        json!({ "comment": "Good now.", "points": closed }),
    ));
    approves["expect"] = json!("review points 1 and 2");
    closes["turns"].as_array_mut().unwrap().push(approves);
    let mut head = bash("git rev-parse HEAD");
    head["content"][0]["label"] = json!("head");
    let fixed = json!({
        "point": 1, "answer": "fixed", "commit": "${results.head~^(?:Output: )?([0-9a-f]+)$}", "text": "it greets the world",
    });
    let mut head_after_refusal = head;
    head_after_refusal["expect"] = json!("review points 1 and 2");
    let answers = [
        commit("hello.txt", "hello world"),
        create_pr("Too early"),
        head_after_refusal,
        turn(call("mcp__symphony__answer_review_point", fixed)),
        answer(2, "declined", "there are no tests of texts"),
        create_pr("Say more"),
    ];
    let second = json!({ "match_system": WORKER, "match_prompt": "### Point 1 " });
    let first = [commit("hello.txt", "hello"), create_pr("Say hello")];
    scenarios([
        closes,
        rejects,
        scenario("answers", &second, answers),
        worker(first),
    ])
}

/// Drives an issue through [`review_plays`], to its end.
pub(crate) fn review_to_the_end(project: &Project) {
    project.add_issue("Say hello");
    for who in ["worker", "judge", "worker", "judge"] {
        project.tick_one(who, "succeeded");
    }
    let shown = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(shown["state"], "approved", "{shown:#}");
    let points = shown["points"].as_array().unwrap();
    let seen: Vec<Value> = points
        .iter()
        .map(|point| {
            json!([
                point["state"],
                point["severity"],
                point["answers"][0]["answer"]
            ])
        })
        .collect();
    assert_eq!(
        json!(seen),
        json!([
            ["closed", "must", "fixed"],
            ["closed", "must", "declined"],
            ["closed", "note", null]
        ])
    );
    assert_eq!(
        points[0]["answers"][0]["commit"], shown["head_commit"],
        "{shown:#}"
    );
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello world");
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

#[test]
fn points_of_a_rejection_are_answered_and_closed_before_the_pull_request_is_approved() {
    let project = Project::new("project", &review_plays(), &json!({}));
    review_to_the_end(&project);
}

#[test]
fn a_question_about_a_point_waits_for_a_person() {
    let again = |name: &str, what: &str, turns: Vec<Value>| {
        let when = json!({ "match_system": WORKER, "match_prompt": what });
        scenario(name, &when, turns)
    };
    let scenes = [
        again(
            "knows",
            "The whole world",
            vec![
                commit("hello.txt", "hello world"),
                answer(1, "fixed", "all of it"),
                create_pr("Say more"),
            ],
        ),
        again(
            "asks",
            "## Review Points",
            vec![answer(1, "question", "Which world?")],
        ),
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
    ];
    let config = json!({ "judge_enabled": false });
    let project = Project::new("project", &scenarios(scenes), &config);
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.ok(&[
        "pr",
        "reject",
        "SYM-1",
        "--point",
        "hello.txt:1: greet the world",
        "--point",
        "note: nice file",
    ]);
    project.tick_one("worker", "succeeded");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "blocked", "{issue:#}");
    assert_eq!(project.tick_wait(), [json!(null); 0]);
    let inbox = project.json(&["inbox"]);
    let item = &inbox["items"][0];
    assert!(
        text(&item["text"]).contains("review point 1: Which world?"),
        "{item:#}"
    );
    assert_eq!(item["answers"][1], "symphony point reply SYM-1 1 TEXT");
    let listed = project.ok(&["point", "list", "SYM-1"]);
    assert!(
        listed.contains("1 (must, hello.txt:1) · waits for your reply · by human"),
        "{listed}"
    );
    let replied = project.ok(&["point", "reply", "SYM-1", "1", "The whole world"]);
    assert!(replied.contains("continues at the next tick"), "{replied}");
    project.tick_one("worker", "succeeded");
    assert_eq!(project.issue("SYM-1")["status"], "review");
    // a person's must-point is open until that person closes it
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert!(
        refused.code == 4
            && refused
                .stderr
                .contains("review point 1 must be closed first"),
        "{refused:#?}"
    );
    let refused = project.symphony(&["pr", "approve", "SYM-1"]);
    assert!(
        refused.code == 4 && refused.stderr.contains("--close NUMBER"),
        "{refused:#?}"
    );
    let added = project.json(&["point", "add", "SYM-1", "hello.txt:1: a note on a line"]);
    assert_eq!(
        json!([
            added["items"][0]["number"],
            added["items"][0]["severity"],
            added["items"][0]["lines"]
        ]),
        json!([3, "note", "1"])
    );
    project.ok(&["pr", "approve", "SYM-1", "--close", "1"]);
    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

#[test]
fn a_judge_approves_and_the_person_whose_point_is_open_decides() {
    let again = json!({ "match_system": WORKER, "match_prompt": "## Review Points" });
    let scenes = [
        scenario(
            "again",
            &again,
            vec![
                commit("hello.txt", "hello world"),
                answer(1, "fixed", "louder"),
                create_pr("Say it louder"),
            ],
        ),
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        approving_judge(),
    ];
    let config = json!({ "judge_cooldown_ms": 0 });
    let project = Project::new("project", &scenarios(scenes), &config);
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "reject", "SYM-1", "--feedback", "Louder"]);
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    // no other judge is paid, and the person learns what is left to do
    assert_eq!(project.tick_wait(), [json!(null); 0]);
    assert_eq!(project.issue("SYM-1")["status"], "review");
    let item = &project.json(&["inbox"])["items"][0];
    assert_eq!(
        item["text"],
        "its review waits for you: review point 1 is open, and only you can close it"
    );
    assert_eq!(item["answers"][1], "symphony point close SYM-1 1");
    project.assert_sound();
    project.ok(&["point", "close", "SYM-1", "1"]);
    let item = &project.json(&["inbox"])["items"][0];
    assert_eq!(
        item["text"],
        "pull request 2 is approved and waits for you to merge it"
    );
    project.ok(&["pr", "merge", "SYM-1"]);
    project.assert_sound();
}

#[test]
fn a_rejection_lets_an_issue_go_on_that_a_judge_stopped_to_ask() {
    let stops = json!({ "status": "blocked", "reason": "Is this wanted?" });
    let stops = turn(call("mcp__symphony__update_issue_status", stops));
    let scenes = [
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        scenario("judge", &json!({ "match_system": JUDGE }), vec![stops]),
    ];
    let project = Project::new("project", &scenarios(scenes), &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    assert_eq!(project.issue("SYM-1")["status"], "blocked");
    assert_eq!(
        project.ok(&["pr", "reject", "SYM-1", "--feedback", "It is not"]),
        "Rejected pull request 1: SYM-1 goes back to an agent.\n"
    );
    assert_eq!(project.issue("SYM-1")["status"], "todo");
    project.assert_sound();
}

#[test]
fn a_person_closes_and_reopens_points_and_an_agent_does_not() {
    let scenes = [worker([
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])];
    let config = json!({ "judge_enabled": false });
    let project = Project::new("project", &scenarios(scenes), &config);
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "reject", "SYM-1", "--feedback", "Louder"]);
    let closed = project.json(&["point", "close", "SYM-1", "--all"]);
    assert_eq!(closed["items"][0]["state"], "closed");
    assert_eq!(
        project.ok(&["point", "list", "SYM-1"]),
        "No review points.\n"
    );
    let reopened = project.json(&[
        "point",
        "reopen",
        "SYM-1",
        "1",
        "--comment",
        "Not loud enough",
    ]);
    assert_eq!(
        json!([
            reopened["items"][0]["state"],
            reopened["items"][0]["answers"][0]["text"]
        ]),
        json!(["open", "Not loud enough"])
    );
    project.ok(&["point", "close", "SYM-1", "1"]);
    assert_eq!(
        project.ok(&["point", "close", "SYM-1", "1"]),
        "Review point 1 of SYM-1 is already closed.\n"
    );
    project.ok(&["point", "reopen", "SYM-1", "1"]);
    let unknown = project.symphony(&["point", "close", "SYM-1", "7"]);
    assert!(
        unknown.code == 4
            && unknown
                .stderr
                .contains("there is no review point 7; known: review point 1"),
        "{unknown:#?}"
    );
    let mut project = project;
    project.set_variable("SYMPHONY_RUN_ID", "0199-run");
    for arguments in [
        &["point", "close", "SYM-1", "1"][..],
        &["point", "reply", "SYM-1", "1", "so"],
    ] {
        let refused = project.symphony(arguments);
        assert_eq!(refused.code, 4, "{refused:#?}");
    }
}

/// The person's part is to close the point: the judge's word is kept, and no second judge is paid.
#[test]
fn a_judge_approves_a_phase_and_the_person_whose_point_is_open_closes_it() {
    let sections = [
        "Problem",
        "Proposed Approach",
        "Alternatives Considered",
        "Impacted Components",
        "Risks",
        "Rollout",
    ];
    let document = sections.map(|section| format!("## {section}\\n\\nSmall.\\n\\n"));
    let write = bash(&format!(
        "mkdir -p docs/tickets/SYM-1 && printf '{}' > docs/tickets/SYM-1/design.md",
        document.concat()
    ));
    let claim = turn(call(
        "mcp__symphony__complete_phase",
        json!({ "phase": "architecture", "summary": "Designed." }),
    ));
    let architect = json!({ "match_system": "^# Phase: architecture$" });
    let again =
        json!({ "match_system": "^# Phase: architecture$", "match_prompt": "^## Review Points$" });
    let turns = [write.clone(), answer(1, "fixed", "Weighed."), claim.clone()];
    let project = Project::new(
        "phase",
        &scenarios([
            scenario("again", &again, turns),
            scenario("first", &architect, [write, claim]),
            judged(
                "judge",
                ".",
                "approve_phase",
                json!({ "comment": "Sound." }),
            ),
        ]),
        &json!({ "judge_enabled": false }),
    );
    project.ok(&["issue", "add", "Design it", "--label", "phase:architecture"]);
    project.tick_one("architect", "succeeded");
    project.ok(&["phase", "reject", "SYM-1", "--point", "weigh a second way"]);
    project.configure_more(&json!({ "judge_enabled": true, "judge_cooldown_ms": 0 }));
    project.tick_one("architect", "succeeded");
    project.tick_one("judge", "succeeded");
    assert_eq!(project.tick_wait(), [Value::Null; 0]);
    let item = project.json(&["inbox"])["items"][0].clone();
    assert_eq!(
        item["answers"],
        json!(["symphony point list SYM-1", "symphony point close SYM-1 1"])
    );
    let explained = project.ok(&["explain", "SYM-1"]);
    assert_eq!(
        explained.matches("review point 1").count(),
        1,
        "{explained}"
    );
    assert!(!explained.contains("merge"), "{explained}");
    let shown = project.ok(&["issue", "show", "SYM-1"]);
    assert!(
        shown.contains("approved; waits until you close your review points"),
        "{shown}"
    );
    let early = project.symphony(&["phase", "approve", "SYM-1"]);
    assert!(
        early.code == 4 && early.stderr.contains("--close NUMBER closes a point"),
        "{early:#?}"
    );
    let reopened = project.ok(&["point", "reopen", "SYM-1", "1"]);
    assert!(
        reopened.contains("`symphony phase reject SYM-1 --feedback TEXT` sends it back"),
        "{reopened}"
    );
    project.ok(&["point", "close", "SYM-1", "1"]);
    let labels = project.issue("SYM-1")["labels"].clone();
    assert_eq!(labels, json!(["phase:grooming"]));
    project.assert_sound();
}
