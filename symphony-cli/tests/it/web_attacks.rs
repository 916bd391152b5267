//! The page under attack and in trouble: floods of connections, odd requests, orders that come twice, and what it says when the
//! configuration, the sessions or the database are broken.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{
    Project, Served, WORKER, bash, commit, create_pr, scenario, scenarios, send, until, worker,
};

fn idle() -> Project {
    Project::new("page", &scenarios([]), &json!({}))
}

#[test]
fn connections_that_say_nothing_keep_nobody_out_for_long() {
    let project = idle();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let silent: Vec<TcpStream> = (0..600)
        .map_while(|_| TcpStream::connect(("127.0.0.1", served.port)).ok())
        .collect();
    assert!(silent.len() > 512, "{}", silent.len());
    let begun = Instant::now();
    assert_eq!(browser.get("/").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(25));
    drop(silent);
    // connections that are closed in the middle of a request leave nothing behind
    for _ in 0..600 {
        let mut half = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        half.write_all(b"POST /issues HTTP/1.1\r\nContent-Length: 5000\r\n")
            .unwrap();
    }
    assert_eq!(browser.get("/").status, 200);
}

#[test]
fn odd_requests_change_nothing_and_are_answered() {
    let project = idle();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let host = &served.host;
    let cookie = &browser.cookie;
    let token = browser.form_token();
    let body = format!("form_token={token}&title=Smuggled&priority=none");
    let length = body.len();
    let head = format!("Host: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n");
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    for (request, expected) in [
        // two lengths, or a length beside chunks: proxies disagree about where such a request ends
        (
            format!(
                "POST /issues HTTP/1.1\r\n{head}{form}Content-Length: {length}\r\nContent-Length: 3\r\n\r\n{body}"
            ),
            &[400][..],
        ),
        (
            format!(
                "POST /issues HTTP/1.1\r\n{head}{form}Transfer-Encoding: chunked, identity\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"
            ),
            &[400, 403],
        ),
        (
            format!("PUT /issues HTTP/1.1\r\n{head}Content-Length: 0\r\n\r\n"),
            &[403, 405],
        ),
        (
            format!("DELETE /issues/SYM-1 HTTP/1.1\r\n{head}\r\n"),
            &[403, 405],
        ),
        (format!("TRACE / HTTP/1.1\r\n{head}\r\n"), &[405]),
        (
            format!("OPTIONS * HTTP/1.1\r\n{head}\r\n"),
            &[400, 404, 405],
        ),
        (
            format!("CONNECT evil.example:443 HTTP/1.1\r\n{head}\r\n"),
            &[400, 404, 405, 421],
        ),
        (format!("GET / HTTP/3.0\r\n{head}\r\n"), &[400]),
        ("\u{16}\u{3}\u{1}\0\u{0}".to_owned(), &[400, 0]),
        (
            format!(
                "GET /?text=%ff%00%0d%0aSet-Cookie:x HTTP/1.1\r\n{head}Connection: close\r\n\r\n"
            ),
            &[200],
        ),
    ] {
        let reply = send(served.port, request.as_bytes());
        assert!(expected.contains(&reply.status), "{request}: {reply:#?}");
        assert!(!reply.headers.contains_key("set-cookie"), "{reply:#?}");
    }
    assert!(!project.ok(&["issue", "list"]).contains("Smuggled"));
    // a form in chunks is a form
    let chunked = format!(
        "POST /issues HTTP/1.1\r\n{head}{form}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n"
    );
    assert_eq!(send(served.port, chunked.as_bytes()).status, 303);
    assert!(project.ok(&["issue", "list"]).contains("Smuggled"));
}

#[test]
fn orders_that_come_twice_or_too_late_are_carried_out_once() {
    let scenarios = scenarios([worker([
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let project = Project::new("page", &scenarios, &json!({}));
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.ok(&["pr", "check", "SYM-1"]);
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    assert_eq!(browser.post("/prs/1/approve", &[]).status, 303);
    let page = browser.get("/prs/1").body;
    let commit = page.split("name=\"commit\" value=\"").nth(1).unwrap();
    let commit = commit.split('"').next().unwrap().to_owned();
    let clicks: Vec<u16> = std::thread::scope(|scope| {
        let clicks: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| browser.post("/prs/1/merge", &[("commit", &commit)]).status))
            .collect();
        clicks
            .into_iter()
            .map(|click| click.join().unwrap())
            .collect()
    });
    assert!(clicks.contains(&303), "{clicks:?}");
    assert!(
        clicks.iter().all(|status| [303, 409].contains(status)),
        "{clicks:?}"
    );
    until("the merge", || {
        (project.issue("SYM-1")["status"] == "done").then_some(())
    });
    let merges = project.git(&[
        "log",
        "--first-parent",
        "--oneline",
        "main",
        "--",
        "hello.txt",
    ]);
    assert_eq!(merges.lines().count(), 1, "{merges}");
    for late in ["/prs/1/approve", "/prs/1/reject", "/prs/1/merge"] {
        let reply = browser.post(
            late,
            &[
                ("text", "Too late"),
                ("severity", "must"),
                ("commit", &commit),
            ],
        );
        assert_eq!(reply.status, 409, "{late}: {reply:#?}");
    }
    project.assert_sound();
}

#[test]
fn a_broken_configuration_or_database_is_said_and_mended_without_a_restart() {
    let project = idle();
    project.add_issue("Still here");
    let mut served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let config = project.root.join("symphony.config.json");
    let good = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, "{ \"max_retries\": ").unwrap();
    let broken = browser.get("/");
    assert!(broken.body.contains("symphony.config.json"), "{broken:#?}");
    let api = browser.get("/api/v1/status");
    assert!(matches!(api.status, 200 | 503), "{api:#?}");
    std::fs::write(&config, good).unwrap();
    assert!(browser.get("/").body.contains("Still here"));

    let database = project.root.join(".symphony/symphony.db");
    let aside = project.beside.join("aside.db");
    for name in ["symphony.db-wal", "symphony.db-shm"] {
        let _none = std::fs::remove_file(project.root.join(".symphony").join(name));
    }
    std::fs::rename(&database, &aside).unwrap();
    let lost = browser.get("/");
    assert_eq!(lost.status, 503, "{lost:#?}");
    assert!(!database.exists(), "no empty database is made");
    std::fs::rename(&aside, &database).unwrap();
    assert!(browser.get("/").body.contains("Still here"));

    // sessions that cannot be read sign everybody out, and a new link signs in
    let folder = project.beside.join("home/.local/state/symphony/web");
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().unwrap() == "json" {
            std::fs::write(path, "{torn").unwrap();
        }
    }
    assert_eq!(browser.get("/").status, 401);
    served.kill();
    let again = Served::start(&project, &[]);
    assert!(again.sign_in().get("/").body.contains("Still here"));
    // the port is taken
    let port = again.port.to_string();
    let second = project.symphony(&["serve", "--port", &port]);
    assert_eq!(second.code, 1, "{second:#?}");
    assert!(second.stderr.contains("--port"), "{second:#?}");
}

#[test]
fn a_long_log_and_many_streams_are_served_in_bounded_memory() {
    let scenarios = scenarios([scenario(
        "worker",
        &json!({ "match_system": WORKER }),
        [bash("echo begun")],
    )]);
    let project = Project::new("page", &scenarios, &json!({}));
    project.add_issue("Talk");
    let run = project.tick_one("worker", "succeeded");
    let run = run["id"].as_str().unwrap().to_owned();
    let line = format!("12:00:00 [text] {}\n", "x".repeat(200));
    let log = line.repeat(200 * 1024 * 1024 / line.len());
    std::fs::write(project.run_folder(&run).join("log.txt"), &log).unwrap();
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let page = browser.get(&format!("/runs/{run}"));
    assert_eq!(page.status, 200);
    assert!(page.body.len() < 4 * 1024 * 1024, "{}", page.body.len());
    let streams: Vec<TcpStream> = (0..100)
        .map(|_| browser.stream(&format!("/events?run={run}"), ""))
        .collect();
    for mut stream in &streams {
        let mut begin = [0; 12];
        stream.read_exact(&mut begin).unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200");
    }
    assert_eq!(browser.get("/").status, 200);
    let peak = served.peak_memory_kib();
    assert!(peak < 200 * 1024, "{peak} KiB");
}
