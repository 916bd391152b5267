//! The page in the browser: who is let in, what attackers get, what is done and shown, without any script.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{
    Browser, JUDGE, Project, Served, WORKER, approving_judge, bash, call, commit, create_pr, get,
    host_and_path, post, scenario, scenarios, send, text, turn, until, worker,
};

/// The pages, with an issue, a run and a pull request.
const PAGES: [&str; 14] = [
    "/",
    "/inbox",
    "/issues/new",
    "/issues/SYM-1",
    "/runs",
    "/prs",
    "/prs/1",
    "/prs/1?view=split",
    "/plans",
    "/learnings",
    "/spending",
    "/health",
    "/nothing/here",
    "/events",
];

/// What is done, each with who may do it.
const ACTS: [&str; 21] = [
    "/issues",
    "/issues/SYM-1/comment",
    "/issues/SYM-1/say",
    "/issues/SYM-1/edit",
    "/issues/SYM-1/move",
    "/issues/SYM-1/retry",
    "/prs/1/approve",
    "/prs/1/reject",
    "/prs/1/merge",
    "/prs/1/check",
    "/runs/1/cancel",
    "/runs/1/say",
    "/messages/1/withdraw",
    "/issues/SYM-1/release",
    "/learnings/1/edit",
    "/learnings/1/retire",
    "/learnings/1/restore",
    "/health/check",
    "/pause",
    "/resume",
    "/sign-out",
];

pub(crate) fn reviewed() -> Project {
    let scenarios = scenarios([
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        approving_judge(),
    ]);
    let project = Project::new("page", &scenarios, &json!({}));
    project.add_issue("Secret plan");
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "check", "SYM-1"]);
    project.tick_one("judge", "succeeded");
    project
}

#[test]
fn nothing_is_shown_to_whoever_is_not_signed_in() {
    let project = reviewed();
    let mut served = Served::start(&project, &[]);
    for path in PAGES {
        for headers in [
            String::new(),
            format!("Cookie: symphony={}\r\n", "0".repeat(64)),
            "Authorization: Bearer short\r\n".to_owned(),
        ] {
            let reply = get(&served.host, path, &headers);
            assert!(matches!(reply.status, 401 | 429), "{path}: {reply:#?}");
            assert!(!reply.body.contains("Secret plan"), "{path}: {reply:#?}");
        }
    }
    let looked = format!(
        "HEAD {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        served.link, served.host
    );
    assert_eq!(
        send(served.port, looked.as_bytes()).status,
        405,
        "a look does not use the link up"
    );
    let browser = served.sign_in();
    let replayed = get(&served.host, &served.link, "");
    assert!(matches!(replayed.status, 401 | 429), "{replayed:#?}");
    assert!(browser.get("/").body.contains("Secret plan"));

    // a session survives the server, in a file that only its owner reads and nobody signs in with
    let port = served.port;
    served.kill();
    let served = Served::on_port(&project, port, &[]);
    assert!(browser.get("/").body.contains("Secret plan"));
    let folder = project.beside.join("home/.local/state/symphony/web");
    let secret = browser.cookie.split('=').next_back().unwrap();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(path.extension().unwrap() == "lock" || mode & 0o777 == 0o600);
        assert!(!kept.contains(secret) && !kept.contains(served.link.rsplit('=').next().unwrap()));
    }
    let another = project.ok(&["serve", "url"]);
    let (host, path) = host_and_path(&another);
    assert_eq!(host, browser.host, "a bookmark stays good");
    assert_eq!(get(&host, &path, "").status, 200);
    assert_eq!(browser.post("/sign-out", &[]).status, 303);
    assert_eq!(browser.get("/").status, 401);
}

#[test]
fn no_other_site_reads_or_changes_anything() {
    let project = reviewed();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let port = served.port;
    let host = served.host.as_str();
    let own = format!("http://{host}");
    let token = browser.form_token();
    let request = |host: &str, rest: &str| {
        let head = format!(
            "GET / HTTP/1.1\r\nConnection: close\r\nCookie: {}\r\n{host}{rest}\r\n",
            browser.cookie
        );
        send(port, head.as_bytes())
    };
    for host in [
        String::new(),
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 0.0.0.0:{port}\r\n"),
        "Host: localhost\r\n".to_owned(),
        format!("Host: symphony-aaaaaaaa.localhost:{port}\r\n"),
        format!("Host: {host}.evil.example\r\n"),
        format!("Host: {host}\r\nHost: evil.example\r\n"),
    ] {
        let reply = request(&host, "");
        assert!(matches!(reply.status, 400 | 421), "{host}: {reply:#?}");
        assert!(!reply.body.contains("Secret plan"));
    }
    let absolute = format!(
        "GET http://evil.example/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: {}\r\n\r\n",
        browser.cookie
    );
    assert_eq!(send(port, absolute.as_bytes()).status, 421);
    let foreign = request(
        &format!("Host: {host}\r\n"),
        "Origin: http://evil.example\r\n",
    );
    assert_eq!(foreign.status, 403, "{foreign:#?}");

    let before = project.json(&["issue", "show", "SYM-1"]);
    for act in ACTS {
        for (origin, site, field) in [
            ("", "", token.as_str()),
            ("Origin: null\r\n", "", &token),
            ("Origin: http://evil.example\r\n", "", &token),
            (&format!("Origin: http://127.0.0.1:{port}\r\n"), "", &token),
            (&format!("Origin: https://{host}\r\n"), "", &token),
            (&format!("Origin: http://localhost:{port}\r\n"), "", &token),
            (
                &format!("Origin: {own}\r\n"),
                "Sec-Fetch-Site: cross-site\r\n",
                &token,
            ),
            (
                &format!("Origin: {own}\r\n"),
                "Sec-Fetch-Site: same-site\r\n",
                &token,
            ),
            (&format!("Origin: {own}\r\n"), "", ""),
            (&format!("Origin: {own}\r\n"), "", &"0".repeat(64)),
        ] {
            let headers = format!("Cookie: {}\r\n{origin}{site}", browser.cookie);
            let fields = [
                ("form_token", field),
                ("title", "x"),
                ("text", "x"),
                ("status", "cancelled"),
            ];
            let reply = post(host, act, &headers, &fields);
            assert_eq!(reply.status, 403, "{act} {origin}{site}: {reply:#?}");
        }
        // a link or an image changes nothing
        assert!(matches!(browser.get(act).status, 403 | 405), "{act}");
    }
    assert_eq!(project.json(&["issue", "show", "SYM-1"]), before);
    let foreign = format!("Origin: {own}.evil.example\r\n");
    assert_eq!(
        post(host, "/sign-in", &foreign, &[("token", "x")]).status,
        403
    );
}

#[test]
fn a_session_is_of_no_use_under_a_name_that_other_servers_have() {
    let project = reviewed();
    let served = Served::start(&project, &[]);
    let port = served.port;
    for name in ["localhost", "127.0.0.1", "[::1]"] {
        // what a server on another port of the name gets from the browser
        let host = format!("{name}:{port}");
        let unused = get(&host, &served.link, "");
        assert_eq!(unused.status, 401, "{unused:#?}");
        assert!(unused.body.contains("symphony serve url"), "{unused:#?}");
        assert!(!unused.body.contains(&served.host), "{unused:#?}");
        let token = [("token", "x")];
        let own = format!("Origin: http://{host}\r\n");
        assert_eq!(post(&host, "/sign-in", &own, &token).status, 401);
    }
    let browser = served.sign_in();
    for name in ["localhost", "127.0.0.1"] {
        let host = format!("{name}:{port}");
        let cookie = format!("Cookie: {}\r\n", browser.cookie);
        for path in PAGES {
            let reply = get(&host, path, &cookie);
            assert_eq!(reply.status, 401, "{path}: {reply:#?}");
            assert!(!reply.body.contains("Secret plan"), "{path}: {reply:#?}");
        }
    }
    // a browser may go to either address of this machine: nobody else listens on the other
    if TcpListener::bind(("::1", 0)).is_ok() {
        assert!(TcpListener::bind(("::1", port)).is_err());
        assert!(TcpStream::connect(("::1", port)).is_ok());
    }
}

#[test]
fn every_answer_forbids_what_a_page_never_does() {
    let project = reviewed();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    for path in PAGES.iter().filter(|path| **path != "/events") {
        let reply = browser.get(path);
        let policy = &reply.headers["content-security-policy"];
        assert!(
            policy.starts_with("default-src 'none';") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(reply.headers["x-content-type-options"], "nosniff");
        assert_eq!(reply.headers["referrer-policy"], "same-origin");
        assert_eq!(reply.headers["cache-control"], "no-store");
        assert!(!reply.headers.contains_key("access-control-allow-origin"));
        // nothing inline, nothing from elsewhere
        for wrong in [
            "<script>",
            " style=",
            "onclick=",
            "src=\"http",
            "href=\"http:",
            "<iframe",
        ] {
            assert!(!reply.body.contains(wrong), "{path}: {wrong}");
        }
    }
}

/// What agents and trackers write, to be run by whoever looks at it.
const PAYLOAD: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)> [x](javascript:alert(4)) ![y](http://evil.example/y.png) \u{1b}]8;;http://evil.example\u{7}link\u{1b}]8;;\u{7}\u{1b}[31mred";

#[test]
fn what_agents_write_is_text() {
    let scenarios = scenarios([
        scenario(
            "worker",
            &json!({ "match_system": WORKER }),
            [
                json!({ "content": [{ "type": "text", "text": PAYLOAD }] }),
                bash(&format!("printf '%s' '{}'", PAYLOAD.replace(['\'', '%'], ""))),
                bash("printf 'hello <script>alert(5)</script>\\n' > hello.txt; mkdir -p '<b>x'; printf '<script>alert(6)</script>' > '<b>x/</td><script>.txt'; git add -A; git -c user.name=w -c user.email=w@example.invalid commit -qm '<script>alert(7)</script>'"),
                turn(call("mcp__symphony__add_finding", json!({ "kind": "risk", "text": PAYLOAD }))),
                turn(call("mcp__symphony__add_learning", json!({ "pattern": "<script>alert(8)</script> is text" }))),
                turn(call("mcp__symphony__create_pr", json!({ "title": "<script>alert(9)</script>", "body": PAYLOAD }))),
            ]
            .map(|mut turn| {
                // the first turn has no call: it would end the run
                if turn["content"][0]["type"] == "text" {
                    turn["content"].as_array_mut().unwrap().push(call("Bash", json!({ "command": "true" })));
                }
                turn
            }),
        ),
        scenario(
            "judge",
            &json!({ "match_system": JUDGE }),
            [turn(call(
                "mcp__symphony__reject_pr",
                json!({ "feedback": PAYLOAD, "points": [{ "text": PAYLOAD, "file": "hello.txt", "lines": "1" }] }),
            ))],
        ),
    ]);
    let gates = json!({ "gates": [{ "name": "check", "command": "printf '<script>alert(10)</script>\\033[31mred\\033]0;title\\007'; cat hello.txt" }] });
    let project = Project::new("page", &scenarios, &gates);
    project.ok(&[
        "issue",
        "add",
        "<script>alert(11)</script>",
        "--description",
        PAYLOAD,
        "--label",
        "<script>alert(12)</script>",
    ]);
    project.ok(&["issue", "comment", "SYM-1", PAYLOAD]);
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "check", "SYM-1"]);
    project.tick_one("judge", "succeeded");
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let mut paths: Vec<String> = PAGES
        .iter()
        .filter(|path| **path != "/events")
        .map(|path| (*path).to_owned())
        .collect();
    let runs = project.json(&["runs", "list"]);
    let runs: Vec<String> = runs["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| text(&run["id"]))
        .collect();
    paths.extend(runs.iter().map(|run| format!("/runs/{run}")));
    paths.extend(
        runs.iter()
            .map(|run| format!("/runs/{run}/lines?before=999999")),
    );
    paths.push("/?text=%3Cscript%3Ealert(13)%3C/script%3E&label=%22%3E%3Cscript%3E".to_owned());
    paths.push("/prs/1?comment=%22%3E%3Cscript%3E:1".to_owned());
    paths.push("/issues/%3Cscript%3Ealert(14)%3C%2Fscript%3E".to_owned());
    let mut seen = 0;
    for path in paths {
        let body = browser.get(&path).body;
        seen += body.matches("&lt;script&gt;alert(").count();
        for wrong in [
            "<script>",
            "<img src=x",
            "<svg onload",
            "javascript:alert",
            "src=\"http",
            "\u{1b}",
            "\u{7}",
        ] {
            let is_link_text = wrong == "javascript:alert" && !body.contains("href=\"javascript:");
            assert!(
                is_link_text || !body.contains(wrong),
                "{path} has {wrong:?}"
            );
        }
    }
    assert!(seen > 20, "the payloads were shown {seen} times");
    let raw = browser.get(&format!("/runs/{}/log", runs.last().unwrap()));
    assert_eq!(raw.headers["content-type"], "text/plain; charset=utf-8");
}

#[test]
fn odd_requests_find_nothing_and_hold_up_nobody() {
    let project = reviewed();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let port = served.port;
    for path in [
        "/assets/../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/runs/..%2f..%2f..%2fetc%2fpasswd/log",
        "/runs/%2e%2e/log",
        "/issues/..%2f..",
        "/prs/99999999999999999999",
        "/prs/-1",
        "/runs/%00/log",
        "//evil.example/",
        "/plans/..%2f..%2fx",
    ] {
        let reply = browser.get(path);
        assert!(matches!(reply.status, 400 | 404), "{path}: {reply:#?}");
        assert!(!reply.body.contains("root:"), "{path}");
    }
    // too large, too many headers, no end
    let large = "x".repeat(2 * 1024 * 1024);
    let reply = browser.post("/issues", &[("title", "x"), ("description", &large)]);
    assert!(matches!(reply.status, 413 | 0), "{}", reply.status);
    let many = "A: b\r\n".repeat(500);
    assert!(matches!(
        get(&served.host, "/", &many).status,
        431 | 400 | 0
    ));
    let long = format!("/?text={}", "x".repeat(100_000));
    assert!(matches!(browser.get(&long).status, 431 | 414 | 400 | 0));
    let begun = Instant::now();
    let mut slow = TcpStream::connect(("127.0.0.1", port)).unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
    slow.set_read_timeout(Some(Duration::from_secs(25)))
        .unwrap();
    let mut rest = Vec::new();
    let _cut = slow.read_to_end(&mut rest);
    assert!(
        begun.elapsed() < Duration::from_secs(24),
        "a slow request is ended"
    );
    assert_eq!(browser.get("/").status, 200);
    // guessing is slowed down, and keeps nobody out who has a session
    let wrong = |byte: u32| {
        get(
            &served.host,
            "/",
            &format!("Authorization: Bearer {byte:064x}\r\n"),
        )
        .status
    };
    let found: Vec<u16> = (0..40).map(wrong).collect();
    assert!(found.contains(&401) && found.contains(&429), "{found:?}");
    assert_eq!(browser.get("/").status, 200);
}

#[test]
fn a_person_does_the_main_job_without_any_script() {
    let scenarios = scenarios([
        scenario(
            "answers",
            &json!({ "match_system": WORKER, "match_prompt": "^### Point 1 \\(must\\), not answered" }),
            [
                commit("hello.txt", "hello world"),
                turn(call(
                    "mcp__symphony__answer_review_point",
                    json!({ "point": 1, "answer": "fixed", "text": "Done." }),
                )),
                create_pr("Say hello to the world"),
            ],
        ),
        worker([commit("hello.txt", "hello"), create_pr("Say hello")]),
        approving_judge(),
    ]);
    let project = Project::new("page", &scenarios, &json!({}));
    let served = Served::start(&project, &["--tick", "1"]);
    let browser = served.sign_in();
    let to = |path: &str, fields: &[(&str, &str)]| {
        let reply = browser.post(path, fields);
        assert_eq!(reply.status, 303, "{path}: {reply:#?}");
        let page = browser.get(&reply.headers["location"]);
        page.body
    };
    let added = to(
        "/issues",
        &[
            ("title", "Greet"),
            ("description", "Please."),
            ("priority", "high"),
            ("todo", "yes"),
        ],
    );
    assert!(added.contains("Added SYM-1: Greet"), "{added}");
    let wait = |path: &str, what: &str| {
        until(what, || {
            let page = browser.get(path).body;
            page.contains(what).then_some(page)
        })
    };
    let page = wait("/prs/1", "approved</b> by judge");
    assert!(page.contains("comment=hello.txt%3A1#comment"), "{page}");
    let form = browser.get("/prs/1?comment=hello.txt%3A1").body;
    let commit = form
        .split("name=\"commit\" value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let fields = [
        ("file", "hello.txt"),
        ("line", "1"),
        ("severity", "must"),
        ("text", "Whom?"),
        ("commit", &commit),
    ];
    let rejected = to("/prs/1/reject", &fields);
    assert!(rejected.contains("Rejected pull request 1"), "{rejected}");
    let second = wait("/prs/2", "approved</b> by judge");
    assert!(
        second.contains("Whom?") && second.contains("Done."),
        "{second}"
    );
    let refused = browser.post("/prs/2/merge", &[]);
    assert_eq!(refused.status, 409, "{refused:#?}");
    to("/prs/2/approve", &[("text", ""), ("close", "1")]);
    let stale = browser.post("/prs/2/merge", &[("commit", &commit)]);
    assert_eq!(stale.status, 409, "a head that was not seen: {stale:#?}");
    let merged = to("/prs/2/merge", &[]);
    assert!(
        merged.contains("Merged pull request 2 into main"),
        "{merged}"
    );
    assert_eq!(project.issue("SYM-1")["status"], "done");
    let refused = browser.post("/issues/SYM-1/move", &[("status", "review")]);
    assert_eq!(refused.status, 409, "{refused:#?}");
    assert!(refused.body.contains("SYM-1"), "{refused:#?}");
}

#[test]
fn a_page_that_is_only_looked_at_changes_nothing() {
    let project = reviewed();
    let served = Served::start(&project, &["--read-only"]);
    let browser = served.sign_in();
    let page = browser.get("/prs/1").body;
    assert!(
        !page.contains(">Merge</button>") && !page.contains(">Approve</button>"),
        "{page}"
    );
    for act in ACTS.iter().filter(|act| **act != "/sign-out") {
        assert_eq!(
            browser.post(act, &[("title", "x"), ("text", "x")]).status,
            403,
            "{act}"
        );
    }
}

/// Reads a stream until it has brought some lines, or ends; returns them with the id of the last message.
fn stream(
    browser: &Browser,
    run: &str,
    cursor: &str,
    enough: impl Fn(&str) -> bool,
) -> (Vec<String>, String) {
    let mut stream = browser.stream(&format!("/events?run={run}&from={cursor}"), "");
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    while let Ok(count) = stream.read(&mut part) {
        bytes.extend_from_slice(&part[..count]);
        if count == 0 || enough(&String::from_utf8_lossy(&bytes)) {
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // whole messages only, as a browser takes them
    let whole = text.rsplit_once("\n\n").map_or("", |(whole, _)| whole);
    let mut lines = Vec::new();
    let mut last = cursor.to_owned();
    for message in whole.split("\n\n") {
        let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name));
        if let (Some("lines"), Some(data)) = (field("event: "), field("data: ")) {
            let html: String = serde_json::from_str(data).unwrap();
            lines.extend(
                html.split("line-")
                    .skip(1)
                    .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect()),
            );
        }
        if let Some(id) = field("id: ") {
            id.clone_into(&mut last);
        }
    }
    (lines, last)
}

#[test]
fn a_log_is_followed_through_the_death_of_the_server_without_a_gap_or_a_double() {
    let turns = (0..40).map(|number| {
        let mut turn = bash(&format!("echo line-{number}-"));
        turn["faults"] = json!([{ "type": "delay", "seconds": 0.1 }]);
        turn
    });
    let scenarios = scenarios([scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        turns,
    )]);
    let project = Project::new("page", &scenarios, &json!({}));
    project.add_issue("Talk");
    let run = project.tick_start();
    let mut served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let (mut lines, cursor) = stream(&browser, &run, "0-0", |text| text.contains("line-9-"));
    assert!(!lines.is_empty());
    let port = served.port;
    served.kill();
    std::thread::sleep(Duration::from_millis(700));
    let _served = Served::on_port(&project, port, &[]);
    let (more, cursor) = stream(&browser, &run, &cursor, |text| text.contains("line-25-"));
    lines.extend(more);
    // the browser sleeps while the rest is written
    project.until_ended(&run);
    let (more, _) = stream(&browser, &run, &cursor, |text| {
        text.contains("event: changed")
    });
    lines.extend(more);
    let log = project.run_file(&run, "log.txt");
    let written: Vec<String> = log
        .split("line-")
        .skip(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect())
        .collect();
    // each is in the call and in its result, and in the page's summary and text alike
    let mut shown: Vec<String> = lines;
    shown.dedup();
    let mut expected = written;
    expected.dedup();
    assert_eq!(shown, expected);
}
