//! Nothing left to do: an issue ends without a commit, when its worker shows that the base has it all, a judge agrees and a person
//! confirms it.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, PLANNER, Project, WORKER, approving_judge, bash, call, commit, create_pr, git_commit,
    scenario, scenarios, text, turn, until, worker,
};

pub(crate) fn tool(name: &str, arguments: Value) -> Value {
    turn(call(&format!("mcp__symphony__{name}"), arguments))
}

pub(crate) fn propose(evidence: &Value) -> Value {
    let reason = "Both sub-tasks did all of it.";
    tool(
        "propose_done",
        json!({ "reason": reason, "evidence": evidence }),
    )
}

/// A turn that proposes with the README as evidence.
pub(crate) fn propose_with_readme() -> Value {
    let readme = json!({ "kind": "file", "reference": "README.md", "note": "says it already" });
    propose(&json!([readme]))
}

/// A judge of proposals.
fn judge(name: &str, verdict: &str, arguments: Value) -> Value {
    let when = json!({ "match_system": JUDGE, "match_prompt": "## Nothing Left To Do" });
    scenario(name, &when, [tool(verdict, arguments)])
}

pub(crate) fn agreeing_judge() -> Value {
    judge("agrees", "approve_done", json!({ "comment": "It is so." }))
}

/// Plays in which a planner splits SYM-1 in two, and its worker finds that the parts are all of it.
fn planned() -> Value {
    let part = |title: &str, file: &str| {
        let description = format!("Write {file}.");
        let arguments = json!({ "title": title, "description": description });
        tool("create_subtask", arguments)
    };
    let writes = |number: u64| {
        let when = json!({ "match_system": WORKER, "match_prompt": format!("# SYM-{number}:") });
        let file = format!("part-{number}.txt");
        let turns = [commit(&file, "hello"), create_pr("Part")];
        scenario(&format!("part {number}"), &when, turns)
    };
    let integrates = json!({ "match_system": WORKER, "match_prompt": "## Integration" });
    let evidence = json!([
        { "kind": "pull_request", "reference": "1", "note": "the first part" },
        { "kind": "pull_request", "reference": "2" },
        { "kind": "file", "reference": "part-3.txt" },
        { "kind": "gate", "reference": "check", "note": "passes" },
    ]);
    scenarios([
        scenario(
            "splits",
            &json!({ "match_system": PLANNER }),
            [part("One", "part-2.txt"), part("Two", "part-3.txt")],
        ),
        writes(2),
        writes(3),
        scenario("integrates", &integrates, [propose(&evidence)]),
        agreeing_judge(),
        approving_judge(),
    ])
}

/// Ticks until nothing is started, and returns who ran on which issue.
pub(crate) fn run_all(project: &Project) -> Vec<(String, String)> {
    let mut ran = Vec::new();
    let mut idle = 0;
    until("the end of all runs", || {
        let runs = project.tick_wait();
        // the tick after one that moves an issue starts it
        idle = if runs.is_empty() { idle + 1 } else { 0 };
        ran.extend(runs.iter().map(|run| {
            (
                text(&run["profile"]),
                run["issue"].as_str().unwrap_or_default().to_owned(),
            )
        }));
        // a continuation is due in a second
        (idle > 1 && project.retries().is_empty()).then_some(())
    });
    ran.retain(|(profile, _)| profile != "gates");
    ran
}

/// Drives a planned issue to where its parts are merged, and its worker's proposal is judged.
pub(crate) fn integrate(config: &Value) -> (Project, Vec<(String, String)>) {
    let mut whole = json!({ "planner_enabled": true });
    whole
        .as_object_mut()
        .unwrap()
        .extend(config.as_object().unwrap().clone());
    let project = Project::new("planned", &planned(), &whole);
    project.ok(&["issue", "add", "Write all of it", "--size", "large"]);
    run_all(&project);
    for part in ["SYM-2", "SYM-3"] {
        project.ok(&["pr", "merge", part]);
    }
    let ran = run_all(&project);
    (project, ran)
}

pub(crate) fn on_parent(ran: &[(String, String)]) -> Vec<&str> {
    ran.iter()
        .filter(|(_, issue)| issue == "SYM-1")
        .map(|(profile, _)| profile.as_str())
        .collect()
}

#[test]
fn a_planned_issue_whose_children_did_all_of_it_is_done_when_a_person_confirms_it() {
    let (project, ran) = integrate(&json!({}));
    // one worker and one judge: no run is burnt
    assert_eq!(on_parent(&ran), ["worker", "judge"]);
    let parent = project.issue("SYM-1");
    assert_eq!(parent["status"], "review", "{parent:#}");
    let proposal = &parent["pull_requests"][0];
    assert_eq!(proposal["state"], "approved", "{proposal:#}");
    assert_eq!(
        proposal["proposal"]["evidence"].as_array().unwrap().len(),
        4
    );
    assert_eq!(proposal["gates"][0]["passed"], true, "{proposal:#}");
    assert_eq!(
        proposal["head_commit"],
        project.git(&["rev-parse", "main"]).as_str()
    );

    let runs = project.json(&["runs", "list", "--issue", "SYM-1"]);
    let worker = runs["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|run| run["profile"] == "worker")
        .unwrap();
    let prompt = project.run_file(&text(&worker["id"]), "user-prompt.md");
    for part in [
        "## Integration",
        "sub-task SYM-2 (done)",
        "Pull request 1 was merged as commit",
        "- part-2.txt: +1 -0",
        "Write part-3.txt.",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }

    let waits = project.first_waiting("review");
    let said = text(&waits["text"]);
    for part in [
        "a judge agrees",
        "Both sub-tasks did all of it.",
        "pull request 1: the first part",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let answers = waits["answers"].to_string();
    for command in ["symphony done approve SYM-1", "symphony done reject SYM-1"] {
        assert!(answers.contains(command), "{answers}");
    }
    assert!(!answers.contains("pr merge"), "{answers}");
    let shown = project.ok(&["issue", "show", "SYM-1"]);
    assert!(shown.contains("Why nothing is left to do"), "{shown}");
    let explained = project.ok(&["explain", "SYM-1"]);
    assert!(explained.contains("nothing is left to do"), "{explained}");
    let refused = project.symphony(&["pr", "merge", "SYM-1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    project.assert_sound();

    let done = project.json(&["done", "approve", "SYM-1", "--comment", "Read it."]);
    assert_eq!(done["state"], "confirmed", "{done:#}");
    assert_eq!(project.issue("SYM-1")["status"], "done");
    assert_eq!(run_all(&project), []);
    project.assert_sound();
}

#[test]
fn auto_done_confirms_what_gates_and_judge_agree_on() {
    let (project, ran) = integrate(&json!({ "auto_done": true }));
    assert_eq!(on_parent(&ran), ["worker", "judge"]);
    let parent = project.issue("SYM-1");
    assert_eq!(parent["status"], "done", "{parent:#}");
    assert_eq!(parent["pull_requests"][0]["state"], "confirmed");
    project.assert_sound();
}

#[test]
fn a_sub_task_and_an_issue_without_parts_end_the_same_way_and_close_does_too() {
    let plays = scenarios([worker([propose_with_readme()]), agreeing_judge()]);
    let project = Project::new("project", &plays, &json!({}));
    project.add_issue("Say it");
    project.ok(&["issue", "add", "Say a part", "--parent", "SYM-1"]);
    run_all(&project);
    project.ok(&["issue", "close", "SYM-2", "--done", "--reason", "Seen."]);
    let part = project.issue("SYM-2");
    assert_eq!(part["status"], "done");
    assert_eq!(part["pull_requests"][0]["state"], "confirmed", "{part:#}");
    run_all(&project);
    project.ok(&["done", "approve", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

#[test]
fn what_is_not_so_is_refused_by_name_and_put_right_in_the_same_run() {
    let evidence =
        |kind: &str, reference: &str| propose(&json!([{ "kind": kind, "reference": reference }]));
    let turns = [
        commit("work.txt", "mine"),
        propose_with_readme(),
        bash("git reset -q --hard main"),
        bash("echo x > stray.txt"),
        propose_with_readme(),
        bash("rm stray.txt"),
        propose(&json!([])),
        evidence("file", "src/none.rs"),
        evidence("commit", "0123456789"),
        evidence("gate", "lint"),
        evidence("pull_request", "7"),
        propose_with_readme(),
    ];
    let plays = scenarios([worker(turns), agreeing_judge()]);
    let project = Project::new("project", &plays, &json!({}));
    project.add_issue("Say it");
    let run = project.tick_one("worker", "succeeded");
    let errors = project.tool_errors(&text(&run["id"]));
    insta::assert_snapshot!("done_refusals", errors.join("\n"));
    assert_eq!(project.issue("SYM-1")["status"], "review");
    let shown = project.ok(&["runs", "show", &text(&run["id"])]);
    assert!(!shown.contains("was refused"), "{shown}");
}

#[test]
fn a_rejected_proposal_comes_back_with_points_and_the_third_one_stops_the_issue() {
    let reject = judge(
        "rejects",
        "reject_done",
        json!({ "points": [{ "text": "Empty names are still accepted." }] }),
    );
    let answers = |number: u64| {
        let turns = [
            tool(
                "answer_review_point",
                json!({ "point": number, "answer": "declined", "text": "They are refused in README.md." }),
            ),
            propose_with_readme(),
        ];
        let when =
            json!({ "match_system": WORKER, "match_prompt": format!("### Point {number} ") });
        scenario(&format!("insists {number}"), &when, turns)
    };
    let mut second = answers(2);
    // both points are open then
    second["turns"].as_array_mut().unwrap().insert(
        0,
        tool(
            "answer_review_point",
            json!({ "point": 1, "answer": "declined", "text": "Again: README.md." }),
        ),
    );
    let plays = scenarios([second, answers(1), worker([propose_with_readme()]), reject]);
    let config = json!({ "max_retry_backoff_ms": 1 });
    let project = Project::new("project", &plays, &config);
    project.add_issue("Say it");
    let ran = run_all(&project);
    let who: Vec<&str> = ran.iter().map(|(profile, _)| profile.as_str()).collect();
    assert_eq!(
        who,
        ["worker", "judge", "worker", "judge", "worker", "judge"]
    );
    let breaker = project.first_waiting("breaker");
    assert!(
        breaker["answers"].to_string().contains("--done"),
        "{breaker:#}"
    );
    let comments = project.issue("SYM-1")["comments"].to_string();
    assert!(
        comments.contains("3 proposals in a row that nothing is left to do were rejected"),
        "{comments}"
    );
    project.assert_sound();
}

/// A worker that meets review point 1: it hands in too early, answers, and hands in.
pub(crate) fn answering_worker() -> Value {
    let said = json!({ "point": 1, "answer": "declined", "text": "It is in README.md." });
    let turns = [
        propose_with_readme(),
        tool("answer_review_point", said),
        propose_with_readme(),
    ];
    let when = json!({ "match_system": WORKER, "match_prompt": "### Point 1 " });
    scenario("answers", &when, turns)
}

/// Plays in which a judge rejects a proposal with a point, the next worker answers it, and the next judge closes it.
pub(crate) fn review_plays() -> Value {
    let mut rejects = judge(
        "rejects",
        "reject_done",
        json!({ "points": [{ "text": "Where is it?" }] }),
    );
    rejects["uses"] = json!(1);
    let closed = json!({ "points": [{ "id": 1, "state": "closed" }] });
    scenarios([
        rejects,
        judge("closes", "approve_done", closed),
        answering_worker(),
        worker([propose_with_readme()]),
    ])
}

/// Drives an issue through [`review_plays`], to its end.
pub(crate) fn review_to_the_end(project: &Project) {
    project.add_issue("Say it");
    let ran = run_all(project);
    assert_eq!(on_parent(&ran), ["worker", "judge", "worker", "judge"]);
    let shown = project.json(&["pr", "show", "SYM-1"]);
    assert_eq!(shown["points"][0]["state"], "closed", "{shown:#}");
    assert_eq!(shown["state"], "approved", "{shown:#}");
    project.ok(&["done", "approve", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

#[test]
fn points_of_a_rejection_are_answered_and_closed_before_it_is_done() {
    let project = Project::new("project", &review_plays(), &json!({}));
    review_to_the_end(&project);
    let runs = project.json(&["runs", "list", "--issue", "SYM-1"]);
    let mut runs = runs["items"].as_array().unwrap().iter();
    let second = runs.find(|run| run["profile"] == "worker").unwrap();
    let errors = project.tool_errors(&text(&second["id"]));
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("review point 1"), "{errors:?}");
}

#[test]
fn a_person_rejects_and_confirms_without_a_judge() {
    let plays = scenarios([answering_worker(), worker([propose_with_readme()])]);
    let config = json!({ "judge_enabled": false });
    let project = Project::new("project", &plays, &config);
    project.add_issue("Say it");
    run_all(&project);
    let waits = project.first_waiting("review");
    assert!(
        text(&waits["text"]).contains("no judge has decided: judge_enabled is off"),
        "{waits:#}"
    );
    for wrong in [
        &["pr", "approve", "SYM-1"][..],
        &["pr", "reject", "SYM-1", "--feedback", "x"],
    ] {
        let refused = project.symphony(wrong);
        assert_eq!(refused.code, 4, "{refused:#?}");
        assert!(
            refused.stderr.contains("symphony done reject SYM-1"),
            "{refused:#?}"
        );
    }
    project.ok(&["done", "reject", "SYM-1", "--feedback", "Where is it?"]);
    assert_eq!(on_parent(&run_all(&project)), ["worker"]);
    // the point of a person keeps it back until a person closes it
    let refused = project.symphony(&["done", "approve", "SYM-1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    project.ok(&["point", "close", "SYM-1", "1"]);
    project.ok(&["done", "approve", "SYM-1"]);
    project.assert_sound();
}

#[test]
fn a_moved_base_sends_a_proposal_back_only_where_it_concerns_the_evidence() {
    let mut first = worker([propose_with_readme()]);
    first["uses"] = json!(1);
    let second = worker([commit("new.txt", "more"), create_pr("After all")]);
    let plays = scenarios([first, second, agreeing_judge(), approving_judge()]);
    let project = Project::new("project", &plays, &json!({}));
    project.add_issue("Say it");
    run_all(&project);
    project.commit_files(&[("other.txt", "x")]);
    assert_eq!(run_all(&project), []);
    assert_eq!(project.issue("SYM-1")["status"], "review");
    project.commit_files(&[("README.md", "# Another\n")]);
    let refused = project.symphony(&["done", "approve", "SYM-1"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    let ran = run_all(&project);
    assert_eq!(on_parent(&ran), ["worker", "judge"]);
    let issue = project.issue("SYM-1");
    assert!(
        issue["comments"]
            .to_string()
            .contains("has moved, and changed what the evidence is about: README.md"),
        "{issue:#}"
    );
    let states: Vec<&Value> = issue["pull_requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pr| &pr["state"])
        .collect();
    assert_eq!(states, ["approved", "closed"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    project.assert_sound();
}

#[test]
fn a_worker_that_finds_something_after_all_hands_that_in_instead() {
    let more = git_commit("more.txt", "more");
    let turns = [
        propose_with_readme(),
        bash(&format!("echo more > more.txt && {more}")),
        create_pr("More"),
    ];
    let plays = scenarios([worker(turns), agreeing_judge(), approving_judge()]);
    let project = Project::new("project", &plays, &json!({}));
    project.add_issue("Say it");
    assert_eq!(on_parent(&run_all(&project)), ["worker", "judge"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["show", "main:more.txt"]), "more");
    project.assert_sound();
}

/// Processes that die at the steps of a proposal: the next commands go on from what is recorded, and no step is taken twice.
#[cfg(feature = "failpoints")]
mod deaths {
    use symphony_workspace::Failpoint;

    use super::*;
    use crate::deaths::{Deaths, Row, SUPERVISE, TICK};

    /// Ticks until the issue is done; ticks may die.
    fn lead(project: &Project, deaths: &Deaths) {
        until("the end of the issue", || {
            let _died = deaths.give(project, &["tick", "--wait"]).ok();
            (project.issue("SYM-1")["status"] == "done").then_some(())
        });
    }

    #[test]
    fn whatever_dies_at_a_step_of_a_proposal_the_issue_is_done_once() {
        let rows: [Row; 3] = [
            &[(Failpoint::DoneProposed, SUPERVISE)],
            &[(Failpoint::DoneJudged, SUPERVISE)],
            &[(Failpoint::DoneConfirmed, TICK)],
        ];
        for row in rows {
            let plays = scenarios([worker([propose_with_readme()]), agreeing_judge()]);
            let config = json!({ "auto_done": true, "max_retry_backoff_ms": 1 });
            let mut project = Project::new("project", &plays, &config);
            project.add_issue("Say it");
            let deaths = Deaths::arm(&mut project, row);
            lead(&project, &deaths);
            deaths.check().unwrap();
            assert_confirmed_once(&project);
        }
    }

    #[test]
    fn a_tick_that_dies_when_it_sends_a_proposal_back_is_followed_by_the_worker() {
        let plays = scenarios([worker([propose_with_readme()]), agreeing_judge()]);
        let config = json!({ "auto_done": false, "judge_enabled": false });
        let mut project = Project::new("project", &plays, &config);
        project.add_issue("Say it");
        run_all(&project);
        project.commit_files(&[("README.md", "# Another\n")]);
        project.configure_more(&json!({ "auto_done": true, "judge_enabled": true }));
        let deaths = Deaths::arm(&mut project, &[(Failpoint::DoneReturned, TICK)]);
        lead(&project, &deaths);
        deaths.check().unwrap();
        let states = project.issue("SYM-1")["pull_requests"].clone();
        assert_eq!(states[1]["state"], "closed", "{states:#}");
        assert_confirmed_once(&project);
    }

    fn assert_confirmed_once(project: &Project) {
        let events = project.ok(&["events", "--issue", "SYM-1"]);
        let confirmed = events.matches("Proposal 1 was confirmed").count();
        let again = events.matches("Proposal 2 was confirmed").count();
        assert_eq!(confirmed + again, 1, "{events}");
        project.assert_sound();
    }
}
