//! Messages of a person to agents: they wait for the right agent, and the command says when it gets them.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, Served, bash, call, commit, create_pr, scenario, scenarios, text, turn, until,
    worker,
};

/// Returns the prompt that a run was sent.
fn prompt(project: &Project, run: &str) -> String {
    text(&project.json(&["runs", "prompt", run])["user"])
}

fn messages(project: &Project) -> Vec<Value> {
    let issue = project.json(&["issue", "show", "SYM-1"]);
    let comments = issue["comments"].as_array().unwrap().clone();
    let is_message = |comment: &Value| !comment["message"].is_null();
    comments.into_iter().filter(is_message).collect()
}

#[test]
fn a_message_is_the_first_thing_of_the_next_run_and_only_there() {
    let rejects = json!({ "points": [{ "text": "Greet the world." }] });
    let answer = json!({ "point": 1, "answer": "fixed", "text": "done" });
    let again = json!({ "match_system": "^# Worker$", "match_prompt": "Greet the world" });
    let judge = json!({ "match_system": JUDGE });
    let plays = scenarios([
        scenario(
            "again",
            &again,
            [
                commit("hello.txt", "hello world"),
                turn(call("mcp__symphony__answer_review_point", answer)),
                create_pr("Say hello"),
            ],
        ),
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        scenario(
            "judge",
            &judge,
            [turn(call("mcp__symphony__reject_pr", rejects))],
        ),
    ]);
    let project = Project::new("project", &plays, &json!({ "judge_cooldown_ms": 0 }));
    project.add_issue("Say hello");
    let said = project.ok(&["runs", "say", "SYM-1", "Use one space.\n<!-- x -->Always."]);
    assert_eq!(
        said,
        "Queued: no agent is working on SYM-1 now. The next agent gets the message with its prompt.\n"
    );
    assert_eq!(messages(&project)[0]["message"]["read"], Value::Null);
    let shown = project.ok(&["issue", "show", "SYM-1"]);
    assert!(
        shown.contains("message 1 to the agent, not read yet"),
        "{shown}"
    );

    let first = text(&project.tick_one("worker", "succeeded")["id"]);
    let sent = prompt(&project, &first);
    let place = |what: &str| {
        sent.find(what)
            .unwrap_or_else(|| panic!("no {what} in {sent}"))
    };
    assert!(place("## Messages for You") < place("## Description"));
    assert!(place("Use one space.\nAlways.") < place("## Description"));
    assert!(!sent.contains("## Conversation"), "once: {sent}");
    let message = &messages(&project)[0];
    assert_eq!(message["message"]["read"]["run"], first.as_str());
    let shown = project.ok(&["issue", "show", "SYM-1"]);
    assert!(
        shown.contains(&format!("message 1 to the agent, read in run {first}")),
        "{shown}"
    );

    // The judge knows it as a comment. What is written to a judge after its end is for the next one.
    let judge = text(&project.tick_one("judge", "succeeded")["id"]);
    let sent = prompt(&project, &judge);
    assert!(
        !sent.contains("## Messages for You") && sent.contains("Use one space"),
        "{sent}"
    );
    let said = project.json(&["runs", "say", &judge, "Be kind."]);
    assert_eq!(
        json!([said["reach"], said["run"], said["message"]]),
        json!(["next_run", null, { "addressee": "judge", "read": null }])
    );

    let second = text(&project.tick_one("worker", "succeeded")["id"]);
    let sent = prompt(&project, &second);
    assert!(
        !sent.contains("## Messages for You") && sent.contains("Use one space"),
        "{sent}"
    );
    let next = text(&project.tick_one("judge", "succeeded")["id"]);
    assert!(prompt(&project, &next).contains("Be kind."));
    assert_eq!(
        messages(&project)[1]["message"]["read"]["run"],
        next.as_str()
    );
}

#[test]
fn an_agent_that_takes_no_messages_at_work_leaves_them_to_the_next_run() {
    let meeting = tempfile::tempdir().unwrap();
    let go = meeting.path().join("go").display().to_string();
    let plays = scenarios([worker([
        bash(&format!("until test -e '{go}'; do sleep 0.05; done")),
        bash("false"),
    ])]);
    let config = json!({ "judge_enabled": false, "max_retry_backoff_ms": 1 });
    let project = Project::new("project", &plays, &config);
    project.add_issue("Say hello");
    let run = project.tick_start();
    until("the agent works", || {
        project.run_log_has(&run, "[tool_use]").then_some(())
    });
    let said = project.ok(&["runs", "say", "SYM-1", "Stop that."]);
    assert_eq!(
        said,
        format!(
            "Queued: the agent of run {run} (scripted) accepts no messages while it works. The next run on SYM-1 begins with this one.\n"
        )
    );
    std::fs::write(meeting.path().join("go"), "").unwrap();
    project.until_ended(&run);
    assert_eq!(messages(&project)[0]["message"]["read"], Value::Null);
    let next = until("the next run", || project.tick_wait().pop());
    assert!(prompt(&project, &text(&next["id"])).contains("Stop that."));
}

#[test]
fn an_agent_that_reports_nothing_has_read_its_message_when_it_succeeds() {
    let config = json!({
        "judge_enabled": false,
        "max_retry_backoff_ms": 1,
        "provider": "command",
        "providers": { "command": { "command": "cat > /dev/null; echo done", "output": "text" } },
    });
    let project = Project::new("project", &scenarios([]), &config);
    project.add_issue("Say hello");
    project.ok(&["runs", "say", "SYM-1", "Use tabs."]);
    let run = project.tick_one("worker", "succeeded");
    let read = &messages(&project)[0]["message"]["read"]["run"];
    assert_eq!(*read, run["id"]);
}

#[test]
fn a_message_to_work_in_review_says_that_it_has_to_be_sent_back() {
    let plays = scenarios([worker([
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let config = json!({ "judge_enabled": false });
    let project = Project::new("project", &plays, &config);
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let said = project.ok(&["runs", "say", "SYM-1", "Rename it."]);
    assert!(
        said.contains("SYM-1 is in review")
            && said.contains("`symphony pr reject SYM-1 --feedback TEXT`"),
        "{said}"
    );
}

#[test]
fn whoever_decides_on_work_sees_what_its_agent_never_read() {
    let plays = scenarios([worker([
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let project = Project::new("project", &plays, &json!({ "judge_enabled": false }));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    for text in ["Rename it.", "Use tabs."] {
        project.ok(&["runs", "say", "SYM-1", text]);
    }
    let waits = project.first_waiting("review");
    let sentence = text(&waits["text"]);
    assert!(
        sentence.ends_with(". 2 messages to its agent are unread"),
        "{sentence}"
    );
    let unread = |project: &Project| {
        let shown = project.json(&["pr", "show", "SYM-1"]);
        let unread = shown["unread_messages"].as_array().cloned();
        unread.map_or(0, |unread| unread.len())
    };
    assert_eq!(unread(&project), 2);
    let shown = project.ok(&["pr", "show", "SYM-1"]);
    assert!(
        shown.contains("Unread messages")
            && shown.contains("Rename it.")
            && shown.contains("`symphony runs withdraw 1`"),
        "{shown}"
    );
    let said = project.ok(&["runs", "withdraw", "1"]);
    assert_eq!(said, "Message 1 is withdrawn: no agent gets it.\n");
    let shown = project.ok(&["issue", "show", "SYM-1"]);
    assert!(
        shown.contains("message 1 to the agent, withdrawn"),
        "{shown}"
    );
    // the page shows it beside the pull request, and withdraws it as well
    project.ok(&["runs", "say", "SYM-1", "Mind the tests."]);
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let page = browser.get("/prs/1").body;
    assert!(
        page.contains("No agent has read this message: Mind the tests."),
        "{page}"
    );
    let reply = browser.post("/messages/3/withdraw", &[]);
    assert_eq!(reply.status, 303, "{reply:#?}");
    assert_eq!(unread(&project), 1);
    let merged = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_eq!(merged.code, 0, "{merged:?}");
    assert!(
        merged
            .stderr
            .contains("no agent has read message 2: Use tabs."),
        "{merged:?}"
    );
    let late = project.symphony(&["runs", "say", "SYM-1", "Too late."]);
    assert!(
        late.stderr
            .contains("`symphony issue move SYM-1 todo` reopens it"),
        "{late:?}"
    );
    let small = project.symphony(&["runs", "say", "sym-1", "x"]);
    assert!(
        small.stderr.contains("write the issue as `SYM-1`"),
        "{small:?}"
    );
    project.assert_sound();
}

#[test]
fn what_takes_no_message_says_why() {
    let plays = scenarios([worker([
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let config =
        json!({ "judge_enabled": false, "gates": [{ "name": "fine", "command": "true" }] });
    let project = Project::new("project", &plays, &config);
    project.add_issue("Say hello");
    project.add_issue("Say nothing");
    project.ok(&[
        "issue",
        "close",
        "SYM-2",
        "--cancelled",
        "--reason",
        "not wanted",
    ]);
    project.tick_one("worker", "succeeded");
    let runs = project.json(&["runs", "list"])["items"].clone();
    let gates = runs.as_array().unwrap().iter();
    let mut gates = gates.filter(|run| run["profile"] == "gates");
    let mut cases = vec![
        (
            vec!["runs", "say", "SYM-2", "Hello"],
            "SYM-2 is `cancelled`: no agent will read a message",
        ),
        (vec!["runs", "say", "SYM-1", " "], "text must not be empty"),
        (
            vec!["runs", "say", "SYM-9", "Hello"],
            "there is no issue `SYM-9`",
        ),
    ];
    let gates = gates.next().map(|run| text(&run["id"]));
    if let Some(id) = &gates {
        cases.push((
            vec!["runs", "say", id, "Hello"],
            "runs gates: it has no agent",
        ));
    }
    for (command, why) in cases {
        let refused = project.symphony(&command);
        assert_ne!(refused.code, 0, "{command:?}");
        assert!(
            refused.stderr.contains(why),
            "{command:?}: {}",
            refused.stderr
        );
    }
    assert!(messages(&project).is_empty());
}
