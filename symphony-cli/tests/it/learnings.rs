//! Learnings over their life: explained, counted, retired, exported and imported.

use serde_json::{Value, json};

use crate::support::{
    Answer, Project, WORKER, bash, call, commit, create_pr, scenario, scenarios, text, turn,
};

fn set_up() -> Project {
    let project = Project::repository("tool");
    project.ok(&["init", "--prefix", "SYM"]);
    project
}

fn learn(project: &Project, arguments: &[&str]) -> String {
    text(&project.json(&[&["learnings", "add"], arguments].concat())["id"])
}

fn piped(project: &Project, arguments: &[&str], document: &str) -> Answer {
    let mut command = assert_cmd::Command::from_std(project.command(arguments));
    command.write_stdin(document).output().unwrap().into()
}

fn items(project: &Project, arguments: &[&str]) -> Vec<Value> {
    let answer = project.json(&[&["learnings"], arguments].concat());
    answer["items"]
        .as_array()
        .expect("a list has items")
        .clone()
}

fn patterns(project: &Project, arguments: &[&str]) -> Vec<String> {
    items(project, arguments)
        .iter()
        .map(|item| text(&item["pattern"]))
        .collect()
}

#[test]
fn an_issue_explains_what_it_is_given_and_what_covers_what() {
    let project = set_up();
    project.ok(&[
        "issue",
        "add",
        "Parse numbers",
        "--description",
        "in src/number.rs",
    ]);
    project.ok(&["issue", "add", "Other"]);
    learn(&project, &["parse numbers strictly"]);
    let long = learn(
        &project,
        &[
            "Parse numbers strictly, always",
            "--applies-to",
            "src/number.rs",
        ],
    );
    learn(&project, &["Own", "--issue", "SYM-1"]);
    learn(
        &project,
        &["Sibling", "--issue", "SYM-2", "--type", "convention"],
    );
    let refused = project.symphony(&["learnings", "add", "?!"]);
    assert_eq!(
        (refused.code, refused.stderr.as_str()),
        (
            4,
            "error: failed to add the learning: pattern must have a letter or a digit\n"
        )
    );
    let imported = piped(
        &project,
        &["learnings", "import", "-"],
        r#"{"pattern": "?!"}"#,
    );
    assert_eq!(imported.code, 0, "{imported:#?}");

    let explained = items(&project, &["list", "--explain", "sym-1"]);
    let fates: Vec<(&str, &str)> = explained
        .iter()
        .map(|item| {
            (
                item["pattern"].as_str().unwrap(),
                item["fate"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        fates[..2],
        [
            ("Sibling", "given"),
            ("Parse numbers strictly, always", "given")
        ]
    );
    let rest = [
        ("Own", "given"),
        ("parse numbers strictly", "covered"),
        ("?!", "empty"),
    ];
    assert!(
        fates.len() == 5 && rest.iter().all(|fate| fates.contains(fate)),
        "{fates:?}"
    );
    let covered = explained
        .iter()
        .find(|item| item["fate"] == "covered")
        .unwrap();
    assert_eq!(covered["covered_by"], json!(long));
    assert_eq!(explained[1]["parts"]["paths"], json!(1.0));
    assert!(
        explained[1]["score"].as_f64().unwrap() > 0.45,
        "{:#}",
        explained[1]
    );

    let shown = project.ok(&[
        "learnings",
        "list",
        "--explain",
        "SYM-1",
        "--type",
        "convention",
    ]);
    assert_eq!(shown.lines().count(), 2, "{shown}");
    let answer = project.symphony(&["learnings", "list", "--explain", "SYM-9"]);
    assert_eq!(answer.code, 3, "{answer:#?}");
}

#[test]
fn a_search_explains_its_scores_when_asked() {
    let project = set_up();
    learn(&project, &["Numbers are parsed in src/number.rs"]);
    let head = |arguments: &[&str]| {
        project
            .ok(arguments)
            .lines()
            .next()
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        head(&["learnings", "search", "numbers"]),
        "SCORE ID TYPE LEARNING"
    );
    let explained = head(&["learnings", "search", "numbers", "--explain"]);
    assert_eq!(explained, "SCORE PATHS WORDS AGE ID TYPE LEARNING");
    let found = items(&project, &["search", "numbers"]);
    assert_eq!(found[0]["parts"]["labels"], json!(0.0));
}

#[test]
fn what_is_retired_is_listed_on_demand_and_found_no_more() {
    let project = set_up();
    let old = learn(&project, &["Old numbers", "--type", "gotcha"]);
    learn(&project, &["New numbers"]);
    let end = old.get(old.len() - 12..).unwrap();
    assert_eq!(
        project.ok(&["learnings", "retire", end]),
        "Retired 1 learning.\n"
    );
    let new = text(&items(&project, &["list"])[0]["id"]);
    for (arguments, answer) in [
        (
            ["retire", &old],
            "Retired 0 learnings; 1 was retired already.\n",
        ),
        (
            ["restore", &new],
            "Restored 0 learnings; 1 was not retired.\n",
        ),
    ] {
        let [command, id] = arguments;
        assert_eq!(project.ok(&["learnings", command, id, id]), answer);
    }
    assert_eq!(patterns(&project, &["list"]), ["New numbers"]);
    assert_eq!(patterns(&project, &["list", "--retired"]), ["Old numbers"]);
    assert_eq!(
        patterns(&project, &["list", "--all"]),
        ["New numbers", "Old numbers"]
    );
    assert_eq!(
        patterns(&project, &["list", "--all", "--type", "gotcha"]),
        ["Old numbers"]
    );
    assert_eq!(
        patterns(&project, &["list", "--all", "--limit", "1"]),
        ["New numbers"]
    );
    assert_eq!(patterns(&project, &["search", "numbers"]), ["New numbers"]);
    let restored = project.json(&["learnings", "restore", &old]);
    assert_eq!(restored["items"][0]["retired"], json!(false));
    assert_eq!(patterns(&project, &["list"]).len(), 2);
    let answer = project.symphony(&["learnings", "retire", &old, "nothing"]);
    assert_eq!(answer.code, 3, "{answer:#?}");
    assert!(
        answer.stderr.contains("there is no learning `nothing`"),
        "{answer:#?}"
    );
    assert_eq!(patterns(&project, &["list"]).len(), 2);
}

#[test]
fn the_text_of_a_learning_is_changed_and_the_log_keeps_the_old_one() {
    let project = set_up();
    let id = learn(&project, &["Numbers are parsed stricly"]);
    let other = learn(&project, &["Dates have a zone"]);
    let edit = |arguments: &[&str]| project.symphony(&[&["learnings", "edit"], arguments].concat());
    let text = "Numbers are parsed strictly";
    let done = edit(&[&id, text]);
    assert_eq!(
        done.stdout,
        format!("Changed learning {id}.\n"),
        "{done:#?}"
    );
    let done = edit(&[&id, text]);
    assert_eq!(
        done.stdout,
        format!("Learning {id} has this text already.\n")
    );
    assert_eq!(patterns(&project, &["list"]), ["Dates have a zone", text]);
    assert_eq!(patterns(&project, &["search", "strictly"]), [text]);
    assert_eq!(
        patterns(&project, &["search", "stricly"]),
        Vec::<String>::new()
    );
    let long = "x".repeat(601);
    let known = format!("learning {other} already says this");
    for (named, text, code, part) in [
        (id.as_str(), "dates have a zone!", 4, known.as_str()),
        (&id, "?!", 4, "must have a letter or a digit"),
        ("nothing", "x", 3, "there is no learning `nothing`"),
        (&id, &long, 4, "pattern"),
    ] {
        let answer = edit(&[named, text]);
        assert_eq!(answer.code, code, "{answer:#?}");
        assert!(answer.stderr.contains(part), "{part} in {answer:#?}");
    }
    let events = project.ok(&["events", "--json"]);
    let events: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let edited: Vec<&Value> = events
        .iter()
        .filter(|event| event["kind"] == "learning_edited")
        .collect();
    assert_eq!(edited.len(), 1, "{events:#?}");
    assert_eq!(edited[0]["source"], "cli");
    assert_eq!(
        (
            &edited[0]["payload"]["before"],
            &edited[0]["payload"]["after"]
        ),
        (&json!("Numbers are parsed stricly"), &json!(text)),
        "{edited:#?}"
    );
}

#[test]
fn an_agent_does_not_write_learnings_as_a_person() {
    let mut project = set_up();
    let id = learn(&project, &["Numbers"]);
    project.set_variable("SYMPHONY_RUN_ID", "run-1");
    for arguments in [
        &["retire", &id][..],
        &["restore", &id],
        &["add", "x"],
        &["edit", &id, "x"],
        &["import", "-"],
    ] {
        let answer = project.symphony(&[&["learnings"], arguments].concat());
        assert_eq!(answer.code, 4, "{arguments:?}: {answer:#?}");
        assert!(answer.stderr.contains("`add_learning`"), "{answer:#?}");
    }
    assert_eq!(patterns(&project, &["list"]), ["Numbers"]);
}

#[test]
fn what_is_exported_is_imported_elsewhere_once() {
    let from = set_up();
    from.ok(&["issue", "add", "One", "--label", "parser"]);
    learn(
        &from,
        &[
            "First",
            "--type",
            "convention",
            "--applies-to",
            "src/a.rs",
            "--issue",
            "SYM-1",
        ],
    );
    let retired = learn(&from, &["Second"]);
    from.ok(&["learnings", "retire", &retired]);
    let exported = from.ok(&["learnings", "export"]);
    assert_eq!(exported.lines().count(), 2, "{exported}");
    let file = from.beside.join("learnings.jsonl");
    from.ok(&["learnings", "export", file.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), exported);

    let into = Project::repository("other");
    into.ok(&["init", "--prefix", "OTH"]);
    let count = |answer: &Value| (answer["added"].clone(), answer["skipped"].clone());
    let first = into.json(&["learnings", "import", file.to_str().unwrap()]);
    assert_eq!(count(&first), (json!(2), json!(0)));
    let second = piped(&into, &["learnings", "import", "-", "--json"], &exported).json();
    assert_eq!(count(&second), (json!(0), json!(2)));
    let (before, after) = (
        items(&from, &["list", "--all"]),
        items(&into, &["list", "--all"]),
    );
    for (before, after) in before.iter().zip(&after) {
        for field in [
            "id",
            "pattern",
            "learning_type",
            "applies_to",
            "labels",
            "author",
            "created_at",
            "retired",
        ] {
            assert_eq!(before[field], after[field], "{field}");
        }
        assert_eq!(after["issue"], Value::Null);
    }
    assert_eq!(after.len(), 2);
}

#[test]
fn a_bad_line_is_named_and_nothing_is_imported() {
    let project = set_up();
    let lines = "{\"pattern\": \"fine\"}\n\n{\"pattern\": \"x\", \"created_at\": \"soon\"}\nnot json\n{\"pattern\": \" \"}\n{\"version\": 2, \"pattern\": \"x\"}\n";
    let answer = piped(&project, &["learnings", "import", "-"], lines);
    assert_eq!(answer.code, 1, "{answer:#?}");
    for problem in [
        "nothing was imported, because 4 lines of standard input cannot be used: line 3: created_at: ",
        "; line 4: ",
        "; line 5: pattern",
        "; line 6: version: 2 is unknown here; expected 1",
    ] {
        assert!(answer.stderr.contains(problem), "{problem}: {answer:#?}");
    }
    assert_eq!(patterns(&project, &["list"]), [""; 0]);
    let answer = project.symphony(&["learnings", "import", "nowhere.jsonl"]);
    assert_eq!(answer.code, 3, "{answer:#?}");
    let answer = piped(
        &project,
        &["learnings", "import", "-"],
        "{\"pattern\": \"fine\"}",
    );
    assert_eq!(answer.stdout, "Imported 1 learning; 0 already existed.\n");
    assert_eq!(items(&project, &["list"])[0]["author"], "human");
}

#[test]
fn what_an_agent_learned_carries_its_commit_and_is_counted_when_given() {
    let worker = scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        [
            commit("hello.txt", "hello"),
            turn(call(
                "mcp__symphony__add_learning",
                json!({ "pattern": "Greet in hello.txt", "applies_to": ["hello.txt"] }),
            )),
            create_pr("Say hello"),
        ],
    );
    let project = Project::new("tool", &scenarios([worker]), &json!({}));
    let given = learn(&project, &["Speak plainly"]);
    learn(&project, &["One file each", "--type", "convention"]);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");

    let learned = items(&project, &["list", "--proposed"]);
    let head = project.git(&["rev-parse", "symphony/SYM-1"]);
    assert_eq!(learned[0]["commit"], json!(head));
    assert_eq!(learned[0]["run"], run["id"]);
    assert_eq!(learned[0]["author"], "worker");
    let stats = items(&project, &["stats"]);
    let succeeded = json!({ "succeeded": 1 });
    let counted: Vec<_> = stats
        .iter()
        .map(|item| {
            (
                item["pattern"].as_str().unwrap(),
                &item["given"],
                &item["runs"],
            )
        })
        .collect();
    let expected = [
        ("One file each", &json!(1), &succeeded),
        ("Speak plainly", &json!(1), &succeeded),
        ("Greet in hello.txt", &json!(0), &json!({})),
    ];
    assert_eq!(counted, expected);
    assert_eq!(stats[1]["id"], json!(given));
    assert_eq!(stats[2]["last_given_at"], Value::Null);
}

#[test]
fn a_learning_without_room_is_passed_over_named_and_not_counted_as_given() {
    let worker = scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        [commit("hello.txt", "hello"), create_pr("Say hello")],
    );
    let budget = json!({ "budget": { "user_tokens": 140 } }); // fewer than the long one takes
    let project = Project::new("tool", &scenarios([worker]), &budget);
    let long = format!("Say hello first of all, {}", "and again, ".repeat(50));
    learn(&project, &[&long]);
    learn(&project, &["Speak plainly"]);
    project.add_issue("Say hello");
    let report = &project.json(&["prompt", "show", "SYM-1"])["report"]["user"];
    let parts = report.as_array().unwrap();
    let part = parts
        .iter()
        .find(|part| part["part"] == "related_learnings");
    let beginning = format!("{}…", long.chars().take(60).collect::<String>());
    assert_eq!(
        part.unwrap()["items"],
        json!({ "given": 2, "kept": 1, "left_out": [{ "index": 0, "tokens": 144, "beginning": beginning }] })
    );
    let page = project.ok(&["prompt", "show", "SYM-1", "--text"]);
    for line in [
        "included what fits, 1 of 2 learnings",
        &format!("left out of related_learnings: number 1 (~144 tokens): {beginning}"),
        "- Speak plainly",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(!page.contains("(truncated)"), "{page}");
    project.tick_one("worker", "succeeded");
    let stats = items(&project, &["stats"]);
    let counted: Vec<_> = stats
        .iter()
        .map(|item| (&item["pattern"], &item["given"]))
        .collect();
    let expected = [
        (&json!("Speak plainly"), &json!(1)),
        (&json!(long), &json!(0)),
    ];
    assert_eq!(counted, expected);
}

#[test]
fn a_proposal_is_accepted_or_rejected_by_a_person() {
    let project = proposing(&[("SYM-1", "Greet in hello.txt")]);
    project.add_issue("One");
    project.tick_one("worker", "succeeded");
    assert_eq!(
        patterns(&project, &["list", "--state", "accepted"]),
        [""; 0]
    );
    let proposed = items(&project, &["list", "--proposed"]);
    assert_eq!(proposed[0]["state"], "proposed");
    assert_eq!(proposed[0]["sources"], json!([{ "issue": "SYM-1" }]));
    let inbox = project.ok(&["inbox"]);
    assert!(!inbox.contains("hello.txt"), "{inbox}");
    let id = text(&proposed[0]["id"]);
    let known = project.symphony(&["learnings", "add", "greet in hello.txt"]);
    assert!(
        known
            .stderr
            .contains(&format!("`symphony learnings accept {id}`")),
        "{known:#?}"
    );
    assert_eq!(
        project.ok(&["learnings", "accept", &id]),
        "Accepted 1 learning.\n"
    );
    assert_eq!(
        project.ok(&["learnings", "accept", &id]),
        "Accepted 0 learnings; 1 was accepted already.\n"
    );
    assert_eq!(patterns(&project, &["search", "greet"]).len(), 1);
    project.ok(&["learnings", "reject", &id]);
    let retired = items(&project, &["list", "--state", "retired"]);
    assert_eq!(retired[0]["id"], json!(id));
}

/// A project whose worker records a learning in each first run on one of these issues.
fn proposing(learned: &[(&str, &str)]) -> Project {
    let first = learned.iter().map(|(issue, pattern)| {
        scenario(
            issue,
            &json!({ "match_system": WORKER, "match_prompt": format!("# {issue}:"), "uses": 1 }),
            [
                commit(&format!("{issue}.txt"), "once"),
                turn(call(
                    "mcp__symphony__add_learning",
                    json!({ "pattern": pattern }),
                )),
                create_pr("Change"),
            ],
        )
    });
    let again = scenario(
        "again",
        &json!({ "match_system": WORKER }),
        [
            bash("date +%s%N >> again.txt && git add again.txt && git commit -qm again"),
            create_pr("Change"),
        ],
    );
    let all = first.chain([again]).collect::<Vec<_>>();
    Project::new("tool", &scenarios(all), &json!({ "judge_enabled": false }))
}

#[test]
fn other_issues_are_given_a_learning_once_its_issue_is_merged() {
    let learned = "Greet in hello.txt";
    let project = proposing(&[("SYM-1", learned), ("SYM-3", "Never greet in capitals")]);
    // the runs whose prompts had it, as recorded when the prompts were built
    let given = |pattern: &str| {
        let stats = items(&project, &["stats"]);
        let found = stats.iter().find(|item| item["pattern"] == pattern);
        found.map(|item| item["given"].as_u64().unwrap())
    };
    project.add_issue("One");
    project.tick_one("worker", "succeeded");
    assert_eq!(given(learned), Some(0));
    project.add_issue("Two");
    project.tick_one("worker", "succeeded");
    assert_eq!(given(learned), Some(0), "not in the prompt of SYM-2");

    // a rejection drops nothing, and the second attempt has it
    project.ok(&["pr", "reject", "SYM-1", "--point", "note: Say it louder"]);
    project.tick_one("worker", "succeeded");
    assert_eq!(given(learned), Some(1), "in the second attempt of SYM-1");

    let cancelled = "Never greet in capitals";
    project.add_issue("Three");
    project.tick_one("worker", "succeeded");
    project.ok(&["issue", "close", "SYM-3", "--cancelled", "--reason", "r"]);
    project.ok(&["pr", "merge", "SYM-1"]);
    project.add_issue("Four");
    project.tick_one("worker", "succeeded");
    assert_eq!(given(learned), Some(2), "in the prompt of SYM-4");
    assert_eq!(given(cancelled), Some(0));
    let dropped = patterns(&project, &["list", "--state", "dropped"]);
    assert_eq!(dropped, [cancelled]);
    project.assert_sound();
}

#[test]
fn a_learning_is_shown_with_the_issues_that_had_it_against_those_that_did_not() {
    let project = proposing(&[]);
    let id = learn(&project, &["Greet in hello.txt"]);
    let nothing = project.ok(&["learnings", "show", id.split('-').next_back().unwrap()]);
    assert!(
        nothing.contains("Not measured yet: no issue whose first agent had this learning is done."),
        "{nothing}"
    );
    assert_eq!(items(&project, &["list"])[0]["usefulness"], Value::Null);
    project.add_issue("One");
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "merge", "SYM-1"]);
    project.ok(&["learnings", "retire", &id]);
    project.add_issue("Two");
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "reject", "SYM-2", "--point", "note: Say it louder"]);
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "merge", "SYM-2"]);
    let found = &project.json(&["learnings", "show", &id])["usefulness"];
    let counts = |group: &str| {
        let group = &found[group];
        (
            group["count"].clone(),
            group["merged_first_time"].clone(),
            group["attempts"]["mean"].clone(),
        )
    };
    assert_eq!(counts("with"), (json!(1), json!(1), json!(1.0)));
    assert_eq!(counts("without"), (json!(1), json!(0), json!(2.0)));
    assert_eq!(found["merged_first_time"]["estimate"], json!(1.0));
    assert_eq!(
        (&found["attempts"], &found["tokens"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(found["score"], json!(0.0));
    let page = project.ok(&["learnings", "show", &id]);
    for sentence in [
        "Issues with it: 1 of 1 merged first time; without: 0 of 1 (difference +100 points, 95% interval -12 to +100).",
        "Attempts: 1.0 on average with it, 2.0 without.",
        "It does not count in the ranking: each group needs at least 10 issues.",
    ] {
        assert!(page.contains(sentence), "{sentence}: {page}");
    }
    let unknown = project.symphony(&["learnings", "show", "nothing"]);
    assert_eq!(unknown.code, 3, "{unknown:#?}");
}
