//! A plan ends in a pull request: opened when every phase is complete, gated and judged by ticks, merged by a person.

use serde_json::{Value, json};

use crate::plan_support::{PLAN_WORKER, any_phase, complete, leave, of_phase, plan_of, write_own};
use crate::support::{JUDGE, Project, bash, call, scenario, scenarios, text, turn};

const GREEN: &str = "true";

fn judge(verdict: &str, input: Value) -> Value {
    let when = json!({ "match_system": JUDGE, "match_prompt": "# plan plan: the plan plan\\.md" });
    scenario(
        "judge",
        &when,
        [turn(call(&format!("mcp__symphony__{verdict}"), input))],
    )
}

/// A project with a plan of two phases and one gate.
fn project(gate: &str, more: impl IntoIterator<Item = Value>) -> Project {
    let scenes: Vec<Value> = more.into_iter().chain([any_phase()]).collect();
    let config = json!({ "gates": [{ "name": "check", "command": gate }] });
    let project = Project::new("project", &scenarios(scenes), &config);
    let plan = plan_of(&[("a", &[]), ("b", &["a"])]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    project
}

fn status(project: &Project) -> String {
    text(&project.json(&["plan", "status"])["status"])
}

/// The plan's status in `.symphony-state.json`.
fn told_status(project: &Project) -> String {
    let state = std::fs::read_to_string(project.root.join(".symphony-state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    text(&state["status"])
}

#[test]
fn the_state_file_follows_every_verdict_and_the_merge() {
    let project = project(GREEN, [judge("reject_pr", json!({ "feedback": "no" }))]);
    let follows = |wanted: &str| {
        let both = (status(&project), told_status(&project));
        assert_eq!(both, (wanted.to_owned(), wanted.to_owned()));
    };
    project.ok(&["plan", "run", "plan.md"]);
    follows("review");
    project.tick_wait();
    project.tick_wait();
    follows("awaiting_user_decision");
    let again = &["pr", "approve", "1", "--force", "--comment", "I read it"];
    project.ok(again);
    follows("review");
    project.ok(&["pr", "reject", "1", "--feedback", "no"]);
    follows("awaiting_user_decision");
    project.ok(again);
    let closed = project.ok(&["pr", "close", "1"]);
    assert!(closed.contains("plan plan waits for you."), "{closed}");
    follows("awaiting_user_decision");
    // the approval before that is not why it was closed
    let shown = project.ok(&["plan", "status"]);
    assert!(
        shown.contains("Pull request 1 was closed by a person.\n"),
        "{shown}"
    );
    project.ok(again);
    project.ok(&["pr", "merge", "1"]);
    follows("completed");
}

fn branches(project: &Project) -> String {
    project.git(&["branch", "--list", "symphony/*"])
}

/// What waits for a person about plans: kind and first sentence.
fn inbox(project: &Project) -> Vec<(String, String)> {
    let items = project.json(&["inbox"]);
    let items = items["items"].as_array().unwrap().iter();
    items
        .map(|item| (text(&item["kind"]), text(&item["text"])))
        .collect()
}

#[test]
fn a_plan_is_gated_judged_and_merged_like_an_issue() {
    let project = project(
        "test -e a.txt && test -e b.txt",
        [judge("approve_pr", json!({ "comment": "good" }))],
    );
    let before = project.git(&["rev-parse", "main"]);
    let told = project.ok(&["plan", "run", "plan.md"]);
    assert!(
        told.ends_with(
            "Pull request 1 is open and brings the work to main.\n`symphony tick` runs its gates and starts its judge, \
             `symphony pr merge 1` merges it.\n"
        ),
        "{told}"
    );
    assert_eq!(status(&project), "review");
    assert_eq!(project.git(&["rev-parse", "main"]), before, "nothing moved");
    let pr = project.json(&["pr", "show", "1"]);
    assert_eq!(
        json!([
            pr["plan"],
            pr.get("issue"),
            pr["state"],
            pr["branch"],
            pr["base"],
            pr["run"]
        ]),
        json!([
            "plan",
            null,
            "open",
            "symphony/plan-plan/base",
            "main",
            null
        ])
    );
    // asked again, nothing is done again
    project.ok(&["plan", "run", "plan.md"]);
    let [gates] = project.tick_wait().try_into().unwrap();
    assert_eq!(
        json!([gates["profile"], gates["status"], gates["plan"]]),
        json!(["gates", "succeeded", "plan"])
    );
    let [judged] = project.tick_wait().try_into().unwrap();
    assert_eq!(
        json!([judged["profile"], judged["status"], judged["plan"]]),
        json!(["judge", "succeeded", "plan"]),
        "{judged:#}"
    );
    let waiting = [(
        "review".to_owned(),
        "pull request 1 of plan plan is approved and waits for you to merge it".to_owned(),
    )];
    assert_eq!(inbox(&project), waiting);
    project.assert_sound();
    let told = project.ok(&["pr", "merge", "1"]);
    assert!(told.contains(". plan plan is completed: "), "{told}");
    assert_eq!(
        (status(&project).as_str(), branches(&project).as_str()),
        ("completed", "")
    );
    assert_eq!(project.git(&["show", "main:b.txt"]), "by b");
    assert_eq!(inbox(&project), []);
    assert_eq!(
        project.json(&["pr", "list", "--plan", "plan.md"])["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    project.assert_sound();
}

#[test]
fn a_rejected_plan_waits_for_a_person_whose_phase_is_told_why() {
    let mut again = of_phase("a");
    again["match_prompt"] = json!("^Phase ID: a$[\\s\\S]*not accepted[\\s\\S]*the name is wrong");
    let answer = json!({ "point": 1, "answer": "fixed", "text": "it is called fixed now" });
    let project = project(
        GREEN,
        [
            judge("reject_pr", json!({ "feedback": "the name is wrong" })),
            scenario(
                "again",
                &again,
                [
                    bash("echo fixed > a.txt"),
                    complete(&json!([])),
                    turn(call("mcp__symphony__answer_review_point", answer)),
                    complete(&json!([])),
                ],
            ),
        ],
    );
    project.ok(&["plan", "run", "plan.md"]);
    project.tick_wait();
    project.tick_wait();
    assert_eq!(status(&project), "awaiting_user_decision");
    let waiting = [(
        "plan".to_owned(),
        "pull request 1 of plan plan was rejected: the name is wrong".to_owned(),
    )];
    assert_eq!(inbox(&project), waiting);
    let shown = project.ok(&["plan", "status"]);
    for part in [
        "Pull request 1 was rejected by the judge:",
        "the name is wrong",
        "`symphony plan retry PHASE --plan plan`",
        "- `symphony pr approve 1 --force --comment TEXT` approves it anyway",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // no tick goes on by itself, and a plan that is run says what waits
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let refused = project.symphony(&["plan", "run", "plan.md"]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.stdout.contains("The plan is waiting for you"),
        "{refused:#?}"
    );
    project.ok(&["plan", "retry", "a"]);
    // nothing carries it on, and the inbox has the command that does
    follows_the_order(&project);
    project.ok(&["plan", "run", "plan.md"]);
    assert_eq!(status(&project), "review");
    let run = text(&project.json(&["runs", "list", "--plan", "plan"])["items"][0]["id"]);
    let said = project.ok(&["runs", "logs", &run]);
    assert!(
        said.contains("review point 1 is not answered yet: call answer_review_point"),
        "{said}"
    );
    let refused = project.symphony(&["pr", "merge", "2"]);
    let answers = &project.json(&["pr", "show", "2"])["points"][0]["answers"];
    assert_eq!(
        json!([answers[0]["answer"], answers[0]["text"]]),
        json!(["fixed", "it is called fixed now"])
    );
    let hint = "`symphony point close plan NUMBER` closes one";
    assert!(refused.stderr.contains(hint), "{refused:#?}");
    project.ok(&["point", "close", "plan", "1"]);
    project.ok(&["pr", "merge", "2"]);
    assert_eq!(
        (status(&project).as_str(), branches(&project).as_str()),
        ("completed", "")
    );
    assert_eq!(project.git(&["show", "main:a.txt"]), "fixed");
    project.assert_sound();
}

/// A phase that writes its file and leaves without a report; its check is green.
fn silent(when: &Value) -> Value {
    scenario("silent", when, [write_own(), leave()])
}

#[test]
fn green_checks_do_not_complete_a_plan_whose_review_points_have_no_answer() {
    let answer = json!({ "point": 1, "answer": "declined", "text": "the name is right" });
    let continued = json!({ "match_system": PLAN_WORKER, "match_prompt": "Your last run of this phase[\\s\\S]*the name is wrong" });
    let project = Project::new(
        "project",
        &scenarios([
            scenario(
                "continued",
                &continued,
                [
                    turn(call("mcp__symphony__answer_review_point", answer)),
                    leave(),
                ],
            ),
            silent(&json!({ "match_system": PLAN_WORKER })),
        ]),
        &json!({ "gates": [{ "name": "check", "command": GREEN }] }),
    );
    let mut plan: Value = json!([{ "id": "a", "title": "A", "objective": "o", "tasks": ["t"], "success_criteria": "s" }]);
    plan[0]["checks"] = json!([{ "name": "there", "file": "a.txt" }]);
    let plan = format!("```symphony-phases\n{plan}\n```\n");
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    project.ok(&["plan", "run", "plan.md"]);
    project.ok(&["pr", "reject", "1", "--feedback", "the name is wrong"]);
    project.ok(&["plan", "retry", "a"]);
    project.ok(&["plan", "run", "plan.md"]);
    assert_eq!(status(&project), "review");
    let runs = project.json(&["runs", "list", "--plan", "plan"]);
    let of_a = |run: &&Value| run["profile"] == "worker";
    let runs = runs["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(of_a)
        .count();
    assert_eq!(
        runs, 3,
        "the first work, one without an answer, one with it"
    );
    let point = &project.json(&["pr", "show", "2"])["points"][0];
    assert_eq!(point["answered"], true, "{point:#}");
    project.assert_sound();
}

#[test]
fn one_judge_looks_while_a_persons_point_is_open_then_the_person_is_asked() {
    let again = json!({ "match_system": PLAN_WORKER, "match_prompt": "## Review Points" });
    let answer = json!({ "point": 1, "answer": "declined", "text": "it is right" });
    let turns = [
        turn(call("mcp__symphony__answer_review_point", answer)),
        complete(&json!([])),
    ];
    let project = project(
        GREEN,
        [
            judge("approve_pr", json!({ "comment": "good" })),
            scenario("again", &again, turns),
        ],
    );
    project.ok(&["config", "set", "judge_cooldown_ms", "0"]);
    project.ok(&["plan", "run", "plan.md"]);
    project.ok(&["pr", "reject", "1", "--feedback", "the name is wrong"]);
    project.ok(&["plan", "retry", "a"]);
    project.ok(&["plan", "run", "plan.md"]);
    project.tick_wait();
    let [judged] = project.tick_wait().try_into().unwrap();
    assert_eq!(
        json!([judged["profile"], judged["status"]]),
        json!(["judge", "succeeded"]),
        "its approval is kept: {judged:#}"
    );
    assert_eq!(project.json(&["pr", "show", "2"])["state"], "open");
    // no second judge is paid: none can close the point
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let items = project.json(&["inbox"]);
    let item = &items["items"][0];
    assert_eq!(
        json!([item["kind"], item["text"], item["answers"]]),
        json!([
            "review",
            "pull request 2 of plan plan waits for you: review point 1 is open, and only you can close it",
            [
                "symphony point list plan",
                "symphony point close plan 1",
                "symphony pr show 2",
                "symphony pr reject 2 --feedback TEXT"
            ]
        ])
    );
    project.assert_sound();
    project.ok(&["point", "close", "plan", "1"]);
    assert_eq!(project.json(&["pr", "show", "2"])["state"], "approved");
    project.ok(&["pr", "merge", "2"]);
    assert_eq!(status(&project), "completed");
    project.assert_sound();
}

fn follows_the_order(project: &Project) {
    assert_eq!(status(project), "running");
    let left = "plan plan (plan.md) is under way, but no command is running it";
    let waiting = [("plan".to_owned(), left.to_owned())];
    assert_eq!(inbox(project), waiting);
    project.assert_sound();
}

#[test]
fn a_person_overrules_a_rejection() {
    let project = project(GREEN, [judge("reject_pr", json!({ "feedback": "no" }))]);
    project.ok(&["plan", "run", "plan.md"]);
    project.tick_wait();
    project.tick_wait();
    let refused = project.symphony(&["pr", "merge", "1"]);
    for refused in [refused, project.symphony(&["pr", "approve", "1"])] {
        let back = "`symphony pr approve 1 --force --comment TEXT` overrides that";
        assert!(refused.stderr.contains(back), "{refused:#?}");
    }
    project.ok(&["pr", "approve", "1", "--force", "--comment", "I read it"]);
    assert_eq!(status(&project), "review");
    project.ok(&["pr", "merge", "1"]);
    assert_eq!(status(&project), "completed");
    project.assert_sound();
}

#[test]
fn merge_at_once_needs_green_gates_and_no_judge() {
    let project = project("test -e b.txt", []);
    let told = project.ok(&["plan", "run", "plan.md", "--merge"]);
    assert!(told.ends_with("The work is on main.\n"), "{told}");
    // those that the merge ran are the pull request's
    let gates = &project.json(&["pr", "show", "1"])["gates"];
    assert_eq!(gates[0]["passed"], true, "{gates}");
    let plan = project.json(&["plan", "status"]);
    assert_eq!(
        json!([plan["status"], plan["pull_request"]["state"]]),
        json!(["completed", "merged"])
    );
    assert_eq!(branches(&project), "");
    let judges = project.json(&["runs", "list"]);
    let judges = judges["items"].as_array().unwrap().iter();
    assert!(!judges.clone().any(|run| run["profile"] == "judge"));
    project.assert_sound();
}

#[test]
fn red_gates_leave_the_plan_in_review_for_a_person() {
    let project = project("grep -q right a.txt", []);
    let before = project.git(&["rev-parse", "main"]);
    let refused = project.symphony(&["plan", "run", "plan.md", "--merge"]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused.stderr.contains("required gates are red"),
        "{refused:#?}"
    );
    assert_eq!(status(&project), "review");
    assert_eq!(project.git(&["rev-parse", "main"]), before);
    let waiting = [(
        "gates".to_owned(),
        "required gates of pull request 1 of plan plan are red: `check`".to_owned(),
    )];
    assert_eq!(inbox(&project), waiting);
    let shown = project.ok(&["plan", "status"]);
    assert!(
        shown.ends_with(
            "Required gates of pull request 1 are red: check. `symphony pr show 1` shows their output, `symphony inbox` what you can do.\n"
        ),
        "{shown}"
    );
    // no judge is paid for it, and no loop says that all is done
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let idle = project.symphony(&["run", "--until-idle"]);
    let waits = "No issue is ready for an agent. 1 thing waits for you";
    assert!(idle.code == 0 && idle.stderr.contains(waits), "{idle:#?}");
    project.assert_sound();
    // a person takes a phase back: what was under review is not the plan's work any more
    project.ok(&["plan", "retry", "a"]);
    assert_eq!(project.json(&["pr", "show", "1"])["state"], "closed");
    project.ok(&["plan", "run", "plan.md"]);
    project.ok(&["pr", "merge", "2", "--force"]);
    assert_eq!(
        (status(&project).as_str(), branches(&project).as_str()),
        ("completed", "")
    );
}

#[test]
fn a_plan_that_is_given_up_under_review_closes_its_pull_request() {
    let project = project(GREEN, []);
    project.ok(&["plan", "run", "plan.md"]);
    project.ok(&["plan", "abort"]);
    assert_eq!(status(&project), "aborted");
    assert_eq!(project.json(&["pr", "show", "1"])["state"], "closed");
    let [(kind, text)] = inbox(&project).try_into().unwrap();
    assert_eq!(kind, "plan");
    assert!(text.contains("has ended as aborted"), "{text}");
}

#[test]
fn a_plan_that_changes_nothing_completes_without_a_pull_request() {
    let nothing = scenario(
        "nothing",
        &json!({ "match_system": PLAN_WORKER }),
        [complete(&json!([]))],
    );
    let project = project(GREEN, [nothing]);
    let told = project.ok(&["plan", "run", "plan.md"]);
    assert!(
        told.contains("main already has everything, so there is no pull request."),
        "{told}"
    );
    assert_eq!(status(&project), "completed");
    assert_eq!(project.json(&["pr", "list"])["items"], json!([]));
    assert_eq!(branches(&project), "");
    project.assert_sound();
}

#[test]
fn without_worktrees_there_is_no_pull_request_and_the_summary_says_so() {
    let here = scenario(
        "here",
        &json!({ "match_system": PLAN_WORKER }),
        [bash("touch made.txt"), complete(&json!([]))],
    );
    let project = project(GREEN, [here]);
    let told = project.ok(&["plan", "run", "plan.md", "--isolation", "none"]);
    assert!(told.contains("With isolation `none`"), "{told}");
    assert_eq!(status(&project), "completed");
    assert_eq!(project.json(&["pr", "list"])["items"], json!([]));
}

#[test]
fn the_message_of_the_merge_names_the_plan_and_no_folder_of_the_machine() {
    let project = project(GREEN, []);
    let file = project.beside.join("plan.md");
    let plan = std::fs::read_to_string(project.root.join("plan.md")).unwrap();
    std::fs::write(&file, plan.replace("# Plan", "# Docs")).unwrap();
    project.ok(&["plan", "run", file.to_str().unwrap()]);
    project.ok(&["pr", "merge", "1", "--squash"]);
    let message = project.git(&["log", "-1", "--format=%B", "main"]);
    assert!(
        message.starts_with("Plan: Docs\n\nThe phases of plan.md:\n\n- a: Title of a\n"),
        "{message}"
    );
    // a squash has no ancestry: the branches go by the record
    assert_eq!(
        (status(&project).as_str(), branches(&project).as_str()),
        ("completed", "")
    );
    project.assert_sound();
}

#[test]
fn gates_of_a_plan_that_wait_for_a_hold_are_not_announced_for_the_next_tick() {
    // green on the work, red on the base that it goes into
    let project = project("test -e a.txt", []);
    project.ok(&["plan", "run", "plan.md"]);
    let doctor = project.symphony(&["doctor", "--gates"]);
    assert_eq!(doctor.code, 1, "{doctor:#?}");
    let hold = "is on hold until its gates pass on the base: ";
    let shown = project.ok(&["plan", "status"]);
    assert!(
        shown.contains("The gates of pull request 1 wait: project "),
        "{shown}"
    );
    assert!(shown.contains(hold), "{shown}");
    assert!(!shown.contains("`symphony tick` runs its gates"), "{shown}");
    let again = project.symphony(&["plan", "run", "plan.md"]);
    assert!(again.stdout.contains(hold), "{again:#?}");
    let status = project.ok(&["status"]);
    assert!(
        status.contains("on hold until the gates pass on the base"),
        "{status}"
    );
    assert!(!status.contains("waiting for the next tick"), "{status}");
    let status = project.json(&["status"]);
    let gates = &status["pull_requests"][0]["gates"];
    assert_eq!(
        json!([gates["state"], gates["held"]["reason"]]),
        json!(["waiting", "held"]),
        "{gates:#}"
    );
    let explained = project.ok(&["explain", "plan.md"]);
    assert!(explained.contains(hold), "{explained}");
    project.ok(&["resume"]);
    let shown = project.ok(&["plan", "status"]);
    assert!(shown.contains("`symphony tick` runs its gates"), "{shown}");
    project.assert_sound();
}

#[test]
fn a_plan_that_waits_for_a_person_says_so_in_words() {
    let project = project(GREEN, [judge("reject_pr", json!({ "feedback": "no" }))]);
    project.ok(&["plan", "run", "plan.md"]);
    project.tick_wait();
    project.tick_wait();
    assert_eq!(status(&project), "awaiting_user_decision");
    for look in [
        ["plan", "status"].as_slice(),
        &["plan", "list"],
        &["status"],
        &["explain", "plan.md"],
    ] {
        let shown = project.ok(look);
        assert!(
            shown.contains("waiting for your decision"),
            "{look:?}: {shown}"
        );
        assert!(
            !shown.contains("awaiting_user_decision"),
            "{look:?}: {shown}"
        );
    }
}
