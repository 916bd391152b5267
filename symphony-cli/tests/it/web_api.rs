//! The interface for programs: the commands' documents over HTTP, their description, the stream of events, and what refuses.

use std::io::Read as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::plan_support::{PlanRun, failed, of_phase, plan_of, until_phase};
use crate::support::{
    Browser, OpenApi, Project, Reply, Served, WORKER, approving_judge, bash, commit, create_pr,
    get, scenario, scenarios, send, text, until, worker,
};

fn document(browser: &Browser, path: &str) -> Value {
    let reply = browser.get(path);
    assert_eq!(reply.status, 200, "{path}: {reply:#?}");
    assert_eq!(reply.headers["content-type"], "application/json", "{path}");
    serde_json::from_str(&reply.body).unwrap()
}

fn description(browser: &Browser) -> OpenApi {
    OpenApi::new(document(browser, "/api/v1/openapi.json"))
}

/// Takes the path of what is described out of an address.
fn described(path: &str) -> String {
    let path = path.split('?').next().unwrap();
    let mut parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        [_, _, _, _, _] if !path.ends_with("/stream") => parts[4] = "{id}",
        [_, _, _, name] if name.contains('-') => parts[3] = "{id}",
        _ => {}
    }
    parts.join("/")
}

#[test]
fn programs_get_the_documents_of_the_commands() {
    let scenarios = scenarios([
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        approving_judge(),
    ]);
    let project = Project::new("api", &scenarios, &json!({}));
    let issue = project.add_issue("Say hello");
    project.ok(&["issue", "add", "Later", "--depends-on", &issue]);
    project.ok(&["issue", "comment", &issue, "A comment"]);
    project.ok(&["learnings", "add", "Say it in a test"]);
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "check", &issue]);
    project.tick_one("judge", "succeeded");
    project.ok(&["pr", "reject", "1", "--feedback", "Say more"]);
    let run = text(&project.json(&["runs", "list"])["items"][0]["id"]);
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let api = description(&browser);

    for (path, command) in [
        ("status", "status"),
        ("inbox", "inbox"),
        ("issues", "issue list"),
        ("issues?status=todo", "issue list --status todo"),
        ("issues?limit=1", "issue list --limit 1"),
        ("issues/SYM-1", "issue show SYM-1"),
        ("issues/SYM-2", "issue show SYM-2"),
        ("runs", "runs list"),
        (
            "runs?issue=SYM-1&limit=1",
            "runs list --issue SYM-1 --limit 1",
        ),
        (&format!("runs/{run}"), &format!("runs show {run}")),
        ("prs", "pr list"),
        ("prs?state=rejected", "pr list --state rejected"),
        ("prs/1", "pr show 1"),
        ("plans", "plan list"),
        ("learnings", "learnings list"),
        ("spending?days=3", "spending --days 3"),
    ] {
        let path = format!("/api/v1/{path}");
        let found = document(&browser, &path);
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(found, project.json(&words), "{path}");
        let wrong = api.differences(&described(&path), "200", &found);
        assert_eq!(wrong, Vec::<String>::new(), "{path}");
    }
    for path in [
        "/api/v1/board",
        "/api/v1/state",
        "/api/v1/SYM-1",
        "/api/v1/SYM-2",
    ] {
        let found = document(&browser, path);
        let wrong = api.differences(&described(path), "200", &found);
        assert_eq!(wrong, Vec::<String>::new(), "{path}");
    }
    // what doctor finds is kept from the last time that somebody asked
    assert_eq!(browser.get("/api/v1/doctor").status, 404);
    assert_eq!(browser.post("/health/check", &[]).status, 303);
    let found = document(&browser, "/api/v1/doctor");
    let mut printed: Value =
        serde_json::from_str(&project.symphony(&["doctor", "--json"]).stdout).unwrap();
    // free space and the age of a backup change from one second to the next
    let mut found_checks = found.clone();
    for checks in [&mut printed, &mut found_checks] {
        checks["items"]
            .as_array_mut()
            .unwrap()
            .retain(|check| check["check"] != "disk" && check["check"] != "backup");
    }
    assert_eq!(found_checks, printed);
    let wrong = api.differences("/api/v1/doctor", "200", &found);
    assert_eq!(wrong, Vec::<String>::new());
    let page = browser.get("/health").body;
    let shown =
        |check: &Value| page.contains(&format!("<b>{}</b>", check["check"].as_str().unwrap()));
    assert!(
        printed["items"].as_array().unwrap().iter().all(shown),
        "{page}"
    );
    assert!(page.contains(">Check again</button>"), "{page}");

    let events = document(&browser, "/api/v1/events?limit=1000");
    let printed = project.ok(&["events", "--json", "--limit", "0"]);
    let printed: Vec<Value> = printed
        .lines()
        .map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            event.as_object_mut().unwrap().remove("version");
            event
        })
        .collect();
    assert_eq!(events["items"].as_array().unwrap(), &printed);
    let page = document(&browser, "/api/v1/events?after=2&limit=3");
    let numbers: Vec<&Value> = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["id"])
        .collect();
    assert_eq!(numbers, [3, 4, 5]);
    assert_eq!(
        api.differences("/api/v1/events", "200", &events),
        Vec::<String>::new()
    );
}

#[test]
fn a_plan_is_a_document_too() {
    let scenes = scenarios([scenario(
        "bad",
        &of_phase("bad"),
        [failed("3 tests failed")],
    )]);
    let project = Project::new("api", &scenes, &json!({ "gates": [] }));
    let plan = plan_of(&[("bad", &[]), ("later", &["bad"])]);
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    let run = PlanRun::start(&project, &["plan.md"]);
    until_phase(&project, "bad", "awaiting_decision");
    run.kill();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let api = description(&browser);
    let id = text(&project.json(&["plan", "status"])["id"]);
    for (path, described, command) in [
        (
            format!("plans/{id}"),
            "/api/v1/plans/{id}",
            &["plan", "status"][..],
        ),
        ("plans".to_owned(), "/api/v1/plans", &["plan", "list"]),
        (format!("runs?plan={id}"), "/api/v1/runs", &["runs", "list"]),
        ("inbox".to_owned(), "/api/v1/inbox", &["inbox"]),
        ("status".to_owned(), "/api/v1/status", &["status"]),
    ] {
        let found = document(&browser, &format!("/api/v1/{path}"));
        assert_eq!(found, project.json(command), "{path}");
        let wrong = api.differences(described, "200", &found);
        assert_eq!(wrong, Vec::<String>::new(), "{path}");
    }
}

#[test]
fn the_state_has_the_form_that_other_programs_know() {
    let waits = "while [ ! -e go ]; do sleep 0.05; done";
    let scenarios = scenarios([scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        [bash("echo begun"), bash(waits)],
    )]);
    let project = Project::new("api", &scenarios, &json!({}));
    let issue = project.add_issue("Wait");
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let api = description(&browser);

    // a tick is asked for: nothing else starts the agent
    let refreshed = browser.post("/api/v1/refresh", &[]);
    assert_eq!(refreshed.status, 202, "{refreshed:#?}");
    let body: Value = serde_json::from_str(&refreshed.body).unwrap();
    assert_eq!(body["queued"], true);
    assert_eq!(
        api.differences("/api/v1/refresh", "202", &body),
        Vec::<String>::new()
    );
    let state = until("the agent is at work", || {
        let state = document(&browser, "/api/v1/state");
        state["running"][0]["last_message"]
            .is_string()
            .then_some(state)
    });
    assert_eq!(state["counts"], json!({ "running": 1, "retrying": 0 }));
    assert_eq!(state["running"][0]["issue_identifier"], json!(issue));
    assert_eq!(state["running"][0]["state"], "in_progress");
    assert!(state["codex_totals"]["seconds_running"].as_f64().unwrap() > 0.0);
    assert_eq!(
        api.differences("/api/v1/state", "200", &state),
        Vec::<String>::new()
    );
    let found = document(&browser, &format!("/api/v1/{issue}"));
    assert_eq!(found["status"], "running");
    assert_eq!(
        found["running"]["session_id"],
        state["running"][0]["session_id"]
    );
    let worktree = text(&found["workspace"]["path"]);
    assert_eq!(worktree, project.worktree(&issue).to_str().unwrap());
    let log = text(&found["logs"]["codex_session_logs"][0]["url"]);
    until("the log has the first call", || {
        browser.get(&log).body.contains("begun").then_some(())
    });
    assert_eq!(
        api.differences("/api/v1/{id}", "200", &found),
        Vec::<String>::new()
    );
    std::fs::write(project.worktree(&issue).join("go"), "").unwrap();
    project.until_ended(&text(&state["running"][0]["session_id"]));
}

#[test]
fn programs_are_refused_in_json() {
    let project = Project::new("api", &scenarios([]), &json!({}));
    project.add_issue("Alone");
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let api = description(&browser);
    for path in api.paths() {
        let known = path.replace("{id}", "SYM-1");
        let reply = get(&served.host, &known, "");
        assert!(matches!(reply.status, 401 | 429), "{path}: {reply:#?}");
        assert!(!reply.body.contains("Alone"), "{path}");
        if reply.status == 401 {
            let body: Value = serde_json::from_str(&reply.body).unwrap();
            assert_eq!(body["error"]["code"], "not_signed_in", "{path}");
            let challenge = &reply.headers["www-authenticate"];
            assert_eq!(challenge, "Bearer realm=\"symphony\"", "{path}");
        }
    }
    for (path, status, code) in [
        ("/api/v1/SYM-9", 404, "issue_not_found"),
        ("/api/v1/SYM-99999999999999999999", 404, "issue_not_found"),
        ("/api/v1/nothing", 404, "issue_not_found"),
        ("/api/v1/issues/SYM-9", 404, "issue_not_found"),
        ("/api/v1/runs/zzzz", 404, "not_found"),
        ("/api/v1/prs/1", 404, "not_found"),
        ("/api/v1/prs/one", 404, "not_found"),
        ("/api/v1/plans/..%2f..", 404, "not_found"),
        ("/api/v1/a/b/c", 404, "not_found"),
        ("/api/v1", 404, "not_found"),
        ("/api/v1/", 404, "not_found"),
        ("/api/v1?x=%ff", 404, "not_found"),
        ("/api/v1/%ff", 400, "malformed"),
        ("/api/v1/runs/%ff", 400, "malformed"),
        ("/api/v1/issues/a%c3(", 400, "malformed"),
        ("/api/v1/runs/%zz", 404, "not_found"),
        ("/api/v1/events?after=%ff", 422, "invalid"),
        ("/api/v1/events/stream?after=%ff", 422, "invalid"),
        ("/api/v1/issues?status=lost", 422, "invalid"),
        ("/api/v1/issues?limit=-1", 422, "invalid"),
        ("/api/v1/issues?after=x", 422, "invalid"),
        ("/api/v1/runs?live=perhaps", 422, "invalid"),
        ("/api/v1/prs?state=lost", 422, "invalid"),
        ("/api/v1/learnings?type=lost", 422, "invalid"),
        ("/api/v1/events?after=x", 422, "invalid"),
        ("/api/v1/spending?days=x", 422, "invalid"),
    ] {
        let reply = browser.get(path);
        assert_eq!(reply.status, status, "{path}: {reply:#?}");
        let body: Value = serde_json::from_str(&reply.body).unwrap();
        assert_eq!(body["error"]["code"], code, "{path}: {body}");
        assert!(!text(&body["error"]["message"]).is_empty());
    }
    drop(served);
    let looked_at = Served::start(&project, &["--read-only"]);
    let refused = looked_at.sign_in().post("/api/v1/refresh", &[]);
    assert_eq!(refused.status, 403, "{refused:#?}");
}

#[test]
fn every_refusal_below_the_interface_is_the_same_document() {
    let project = Project::new("api", &scenarios([]), &json!({}));
    let added = project.json(&["serve", "user", "add", "ada", "--role", "admin"]);
    let token = text(&added["token"]);
    let served = Served::start(&project, &[]);
    let host = served.host.as_str();
    let ask = |method: &str, path: &str, host: &str, token: &str, rest: &str| {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{rest}"
        );
        send(served.port, request.as_bytes())
    };
    let code = |reply: &Reply| {
        assert_eq!(
            reply.headers["content-type"], "application/json",
            "{reply:#?}"
        );
        let body: Value = serde_json::from_str(&reply.body).unwrap();
        assert!(!text(&body["error"]["message"]).is_empty());
        json!([reply.status, body["error"]["code"]])
    };
    let form = "Content-Length: 0\r\n\r\n";
    for (method, path, allowed) in [
        ("POST", "/api/v1/state", "GET,HEAD"),
        ("DELETE", "/api/v1/issues/SYM-1", "GET,HEAD"),
        ("PUT", "/api/v1/events/stream", "GET,HEAD"),
        ("PATCH", "/api/v1/openapi.json", "GET,HEAD"),
        ("GET", "/api/v1/refresh", "POST"),
    ] {
        let reply = ask(method, path, host, &token, form);
        assert_eq!(code(&reply), json!([405, "method_not_allowed"]), "{path}");
        assert_eq!(reply.headers["allow"], allowed, "{method} {path}");
    }
    let unknown = ask("POST", "/api/v1", host, &token, form);
    assert_eq!(code(&unknown), json!([404, "not_found"]));
    let other = ask("GET", "/api/v1/state", "evil.example", &token, form);
    assert_eq!(code(&other), json!([421, "other_host"]));
    let large = format!("Content-Length: 2000000\r\n\r\n{}", "x".repeat(2_000_000));
    let large = ask("POST", "/api/v1/refresh", host, &token, &large);
    // the server closes before it has read all, which may take the answer with it
    assert!(large.status == 0 || code(&large) == json!([413, "too_large"]));
    let announced = ask(
        "POST",
        "/api/v1/refresh",
        host,
        &token,
        "Content-Length: 20\r\n\r\nhalf",
    );
    assert_eq!(code(&announced), json!([408, "timeout"]));
    let guess = |number: u32| {
        ask(
            "GET",
            "/api/v1/state",
            host,
            &format!("{number:064x}"),
            form,
        )
    };
    let limited = (0..40)
        .map(guess)
        .find(|reply| reply.status != 401)
        .unwrap();
    assert_eq!(code(&limited), json!([429, "too_many_attempts"]));
    assert_eq!(limited.headers["retry-after"], "3");
    // a person whose session has ended meanwhile gets the way in
    let ended = format!("Cookie: symphony={}\r\n", "0".repeat(64));
    let page = get(host, "/", &ended);
    assert_eq!(
        (page.status, page.headers["retry-after"].as_str()),
        (429, "3")
    );
    assert!(page.body.contains("action=\"/sign-in\""), "{page:#?}");
    assert!(page.body.contains("Try again in a moment"), "{page:#?}");
    let damaged = ask("GET", "/runs/%ff", host, &token, form);
    assert_eq!(damaged.status, 400);
    assert!(
        damaged.body.contains("<h1>Not accepted</h1>"),
        "{damaged:#?}"
    );
}

/// Reads messages until there are enough of them.
fn messages(browser: &Browser, path: &str, headers: &str, enough: usize) -> Vec<Value> {
    let mut stream = browser.stream(path, headers);
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let said = String::from_utf8_lossy(&bytes);
        let data = said.lines().filter_map(|line| line.strip_prefix("data: "));
        let whole: Vec<Value> = data
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if whole.len() >= enough {
            return whole;
        }
        let count = stream.read(&mut part).unwrap();
        assert!(count > 0, "the stream ended: {said}");
        bytes.extend_from_slice(&part[..count]);
    }
}

#[test]
fn the_stream_of_events_misses_nothing_and_repeats_nothing() {
    let project = Project::new("api", &scenarios([]), &json!({}));
    // more than is read at once
    let backlog: Vec<String> = (0..300)
        .map(|number| format!("## Number {number}\n"))
        .collect();
    project.commit_files(&[("backlog.md", &backlog.join("\n"))]);
    project.ok(&["issue", "import", "backlog.md"]);
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let all = project.json(&["events", "--limit", "1"]);
    let newest = usize::try_from(all["id"].as_u64().unwrap()).unwrap();
    let path = "/api/v1/events/stream?after=0";
    let found = messages(&browser, path, "", newest);
    let numbers: Vec<usize> = found
        .iter()
        .map(|event| usize::try_from(event["id"].as_u64().unwrap()).unwrap())
        .collect();
    assert_eq!(numbers, (1..=newest).collect::<Vec<_>>());
    // a client that comes back goes on where it was, and hears what happens then
    let after = |number: usize| format!("Last-Event-ID: {number}\r\n");
    let again = messages(&browser, path, &after(newest - 2), 2);
    assert_eq!(again[0]["id"], newest - 1);
    let waits = std::thread::spawn({
        let browser = browser.clone();
        move || messages(&browser, "/api/v1/events/stream", "", 1)
    });
    // until the stream is open, what happens is not new to it
    until("the stream says what happens", || {
        project.ok(&["issue", "comment", "SYM-1", "Again"]);
        std::thread::sleep(Duration::from_millis(300));
        waits.is_finished().then_some(())
    });
    let heard = waits.join().unwrap();
    assert_eq!(heard[0]["kind"], "comment_added", "{heard:#?}");
}
