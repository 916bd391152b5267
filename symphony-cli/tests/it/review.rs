//! Reviews: a rejection and a red gate come back to the worker; nobody does what is another's.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, WORKER, approving_judge, bash, call, commit, create_pr, scenario, scenarios,
    text, turn, worker,
};

fn when(system: &str) -> Value {
    json!({ "match_system": system })
}

fn worker_who_read(what: &str) -> Value {
    json!({ "match_system": WORKER, "match_prompt": what })
}

fn expecting(expected: &str, turn: &Value) -> Value {
    json!({ "expect": expected, "content": turn["content"] })
}

/// Asserts that a text stands in a prompt between two lines with the same random marker.
fn assert_fenced(prompt: &str, wanted: &str) {
    let lines: Vec<&str> = prompt.lines().collect();
    let at = lines
        .iter()
        .position(|line| line.contains(wanted))
        .unwrap_or_else(|| panic!("{wanted:?} is not in {prompt}"));
    let (before, after) = lines.split_at(at);
    let marker = |line: &&str| {
        line.split(' ')
            .next()
            .filter(|word| word.len() >= 16)
            .map(str::to_owned)
    };
    let fenced = before
        .iter()
        .rev()
        .filter_map(marker)
        .any(|marker| after.iter().any(|line| *line == marker));
    assert!(fenced, "{wanted:?} is not fenced in {prompt}");
}

#[test]
fn a_rejection_comes_back_to_the_worker_and_the_second_time_passes() {
    const FEEDBACK: &str = "Greet the whole world; hello alone is rude.";
    let scenarios = scenarios([
        scenario(
            "rejects",
            &json!({ "match_system": JUDGE, "uses": 1 }),
            [turn(call(
                "mcp__symphony__reject_pr",
                json!({ "feedback": FEEDBACK }),
            ))],
        ),
        scenario(
            "closes",
            &when(JUDGE),
            [turn(call(
                "mcp__symphony__approve_pr",
                json!({ "points": [{ "id": 1, "state": "closed" }] }),
            ))],
        ),
        scenario(
            "listens",
            &worker_who_read("whole world"),
            [
                commit("hello.txt", "hello world"),
                turn(call(
                    "mcp__symphony__answer_review_point",
                    json!({ "point": 1, "answer": "fixed", "text": "It does." }),
                )),
                create_pr("Say more"),
            ],
        ),
        scenario(
            "begins",
            &when(WORKER),
            [commit("hello.txt", "hello"), create_pr("Say hello")],
        ),
    ]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let issue = project.issue("SYM-1");
    assert_eq!(
        (&issue["status"], &issue["pull_requests"][0]["state"]),
        (&json!("todo"), &json!("rejected"))
    );
    let comment = &issue["comments"][0];
    assert_eq!(comment["author"], "judge", "{issue:#}");
    assert!(
        comment["content"].as_str().unwrap().contains(FEEDBACK),
        "{comment:#}"
    );

    let second = project.tick_one("worker", "succeeded");
    assert_fenced(
        &project.run_file(&text(&second["id"]), "user-prompt.md"),
        FEEDBACK,
    );
    project.tick_one("judge", "succeeded");
    let list = project.json(&["pr", "list"]);
    let states: Vec<&Value> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pr| &pr["state"])
        .collect();
    assert_eq!(states, ["approved", "rejected"], "newest first");
    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.git(&["show", "main:hello.txt"]), "hello world");
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

#[test]
fn a_judge_reads_what_matters_first_and_a_lock_file_as_one_line() {
    const WORK: &str = "mkdir -p auth gen && seq 1 9000 > Cargo.lock && echo 'let door = open;' > auth/key.rs \
        && seq 1 900 > gen/schema.rs && seq 1 9000 > README.md && git add -A \
        && printf '* linguist-generated\\n' > .gitattributes && git add -A && git commit -qm 'Open the door'";
    let scenarios = scenarios([
        approving_judge(),
        scenario(
            "works",
            &when(WORKER),
            [bash(WORK), create_pr("Open the door")],
        ),
    ]);
    let project = Project::new(
        "project",
        &scenarios,
        &json!({ "sensitive_paths": ["auth/**"] }),
    );
    std::fs::write(
        project.root.join(".gitattributes"),
        "gen/** linguist-generated\n",
    )
    .unwrap();
    project.git(&["add", ".gitattributes"]);
    project.git(&["commit", "-qm", "Say what is generated"]);
    project.add_issue("Open the door");
    project.tick_one("worker", "succeeded");
    let preview = project.json(&["prompt", "show", "SYM-1"])["report"].to_string();
    let left_out = "not shown whole: README.md, Cargo.lock, gen/schema.rs";
    assert!(preview.contains(left_out), "{preview}");
    let judge = project.tick_one("judge", "succeeded");
    let prompt = project.run_file(&text(&judge["id"]), "user-prompt.md");
    assert_eq!(
        prompt.matches("- Attempt ").count(),
        1,
        "gates are no attempt"
    );
    let (_, diff) = prompt.split_once("## Diff\n").unwrap();
    let at = |wanted: &str| {
        diff.find(wanted)
            .unwrap_or_else(|| panic!("{wanted:?} is not in {diff}"))
    };
    let sensitive = at("+let door = open;");
    let attributes = at("diff --git a/.gitattributes");
    let readme = at("diff --git a/README.md");
    assert!(sensitive < attributes && attributes < readme, "{diff}");
    assert!(
        !diff.contains("diff --git a/Cargo.lock") && !diff.contains("diff --git a/gen/schema.rs")
    );
    at("- Cargo.lock: lock file, generated or vendored, +9000 -0; 0 of 9006 lines shown");
    at("- gen/schema.rs: lock file, generated or vendored, +900 -0; 0 of 906 lines shown");
}

#[test]
fn a_red_gate_comes_back_to_the_worker_with_its_output() {
    const OUTPUT: &str = "the proof of work is missing";
    let scenarios = scenarios([
        approving_judge(),
        scenario(
            "listens",
            &worker_who_read(OUTPUT),
            [commit("proof.txt", "done"), create_pr("With proof")],
        ),
        scenario(
            "forgets",
            &when(WORKER),
            [commit("hello.txt", "hello"), create_pr("Say hello")],
        ),
    ]);
    let gate = json!([{ "name": "proof", "command": "test ! -e hello.txt -o -e proof.txt || { printf 'the %s of work is missing' proof; exit 3; }" }]);
    let project = Project::new(
        "project",
        &scenarios,
        &json!({ "gates": gate, "max_retry_backoff_ms": 1 }),
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "todo");
    let pr = &issue["pull_requests"][0];
    assert_eq!(
        json!([
            pr["state"],
            pr["gates"][0]["passed"],
            pr["gates"][0]["exit_code"],
            pr["verdict"]["author"]
        ]),
        json!(["rejected", false, 3, "system"]),
        "{pr:#}"
    );
    let finding = &issue["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["author"]),
        (&json!("gate"), &json!("system")),
        "{issue:#}"
    );
    assert!(
        finding["text"].as_str().unwrap().contains(OUTPUT),
        "{finding:#}"
    );

    let second = project.tick_one("worker", "succeeded");
    assert_fenced(
        &project.run_file(&text(&second["id"]), "user-prompt.md"),
        OUTPUT,
    );
    let issue = project.issue("SYM-1");
    assert_eq!(issue["status"], "review", "{issue:#}");
    assert_eq!(
        project.json(&["pr", "show", "SYM-1"])["gates"][0]["passed"],
        true
    );
    project.tick_one("judge", "succeeded");
    project.json(&["pr", "merge", "SYM-1"]);
    assert_eq!(project.issue("SYM-1")["status"], "done");
    project.assert_sound();
}

#[test]
fn nobody_calls_a_tool_of_another_role() {
    let refused = |name: &str, input: Value| turn(call(&format!("mcp__symphony__{name}"), input));
    let scenarios = scenarios([
        scenario(
            "judge",
            &when(JUDGE),
            [
                refused("create_pr", json!({ "title": "Mine", "body": "" })),
                expecting(
                    "a judge.* has no tool `create_pr`",
                    &refused("create_issue", json!({ "title": "Mine" })),
                ),
                expecting(
                    "has no tool `create_issue`",
                    &refused("update_issue_status", json!({ "status": "todo" })),
                ),
                expecting("blocked", &json!({ "content": [] })),
            ],
        ),
        scenario(
            "worker",
            &when(WORKER),
            [
                commit("hello.txt", "hello"),
                refused("approve_pr", json!({ "comment": "I like it" })),
                expecting(
                    "a worker.* has no tool `approve_pr`",
                    &refused("reject_pr", json!({ "feedback": "no" })),
                ),
                expecting("has no tool `reject_pr`", &create_pr("Say hello")),
                refused("approve_pr", json!({})),
            ],
        ),
    ]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.add_issue("Say hello");
    let worker = project.tick_one("worker", "succeeded");
    assert_eq!(project.tool_errors(&text(&worker["id"])).len(), 3);
    let open = |issue: &Value| {
        let prs = issue["pull_requests"].as_array().unwrap();
        assert_eq!(prs.len(), 1, "{issue:#}");
        assert_eq!(
            json!([prs[0]["state"], prs[0]["verdict"], issue["status"]]),
            json!(["open", null, "review"])
        );
        assert_eq!(issue["comments"], json!([]));
    };
    open(&project.issue("SYM-1"));

    let runs = project.tick_wait();
    let judge = &runs[0];
    assert_eq!(
        json!([judge["profile"], judge["exit_code"]]),
        json!(["judge", 0]),
        "{judge:#}"
    );
    assert_eq!(project.tool_errors(&text(&judge["id"])).len(), 3);
    open(&project.issue("SYM-1"));
    assert_eq!(
        project.json(&["issue", "list"])["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    project.assert_sound();
}

#[test]
fn verdicts_and_merges_are_refused_inside_a_run() {
    let scenarios = scenarios([scenario(
        "worker",
        &when(WORKER),
        [commit("hello.txt", "hello"), create_pr("Say hello")],
    )]);
    let mut project = Project::new("project", &scenarios, &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let before = project.json(&["pr", "show", "SYM-1"]);
    project.set_variable("SYMPHONY_RUN_ID", "some-run");
    for arguments in [
        &["pr", "approve", "SYM-1"][..],
        &["pr", "reject", "SYM-1", "--feedback", "no"],
        &["pr", "merge", "SYM-1"],
        &["pr", "merge", "SYM-1", "--force"],
        &["pr", "close", "SYM-1"],
        &["issue", "move", "SYM-1", "done"],
        &["issue", "move", "SYM-1", "cancelled"],
    ] {
        let answer = project.symphony(arguments);
        assert_eq!(answer.code, 4, "{arguments:?}: {answer:#?}");
        assert!(answer.stderr.contains("some-run"), "{answer:#?}");
    }
    assert_eq!(project.json(&["pr", "show", "SYM-1"]), before);
    assert_eq!(project.issue("SYM-1")["status"], "review");
}

#[test]
fn what_would_stand_in_the_place_of_symphonys_folders_is_refused_at_the_hand_in() {
    let scenarios = scenarios([worker([
        bash("echo hi > .symphony && git add -f .symphony && git commit -qm 'In the way'"),
        create_pr("In the way"),
    ])]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.add_issue("Stand in the way");
    let run = project.tick_one("worker", "succeeded");
    let errors = project.tool_errors(&text(&run["id"]));
    assert!(
        errors.iter().any(|error| error.contains(
            "the commits of this branch contain files that only Symphony writes: .symphony."
        )),
        "{errors:?}"
    );
    assert_eq!(project.json(&["pr", "list"])["items"], json!([]));
}

/// The kind and the answers of the only thing that waits for a person.
fn waiting(project: &Project) -> (String, Vec<String>) {
    let inbox = project.json(&["inbox"]);
    let items = inbox["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{inbox:#}");
    let answers = items[0]["answers"].as_array().unwrap().iter();
    (text(&items[0]["kind"]), answers.map(text).collect())
}

#[test]
fn what_the_only_attempt_handed_in_is_judged() {
    let project = Project::new(
        "once",
        &scenarios([
            worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
            approving_judge(),
        ]),
        &json!({ "max_retries": 1, "judge_cooldown_ms": 0 }),
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    assert_eq!(waiting(&project).0, "review");
    project.ok(&["pr", "merge", "SYM-1"]);
    project.assert_sound();
}

#[test]
fn a_question_about_an_open_pull_request_is_answered_without_losing_it() {
    let asks = turn(call(
        "mcp__symphony__update_issue_status",
        json!({ "status": "blocked", "reason": "is this licence allowed?" }),
    ));
    let once = json!({ "match_system": JUDGE, "uses": 1 });
    let project = Project::new(
        "asks",
        &scenarios([
            worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
            scenario("asks", &once, [asks]),
            approving_judge(),
        ]),
        &json!({ "judge_cooldown_ms": 0 }),
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    let (kind, answers) = waiting(&project);
    assert_eq!(kind, "blocked");
    assert_eq!(
        answers,
        [
            "symphony issue comment SYM-1 TEXT",
            "symphony issue move SYM-1 review",
            "symphony issue move SYM-1 todo",
        ]
    );
    project.ok(&["issue", "comment", "SYM-1", "yes, it is"]);
    project.ok(&["issue", "move", "SYM-1", "review"]);
    project.tick_one("judge", "succeeded");
    assert_eq!(waiting(&project).0, "review");
    project.ok(&["pr", "merge", "SYM-1"]);
    project.assert_sound();
}
