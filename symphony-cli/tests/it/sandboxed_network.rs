//! The network of runs in a sandbox: real bubblewrap, the real proxy, servers on loopback.

use serde_json::json;

use crate::support::{Project, bash, create_pr, scenarios, worker};

/// Serves an answer to every connection; returns the port.
fn server(answer: &'static str) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for peer in listener.incoming() {
            let mut peer = peer.unwrap();
            let mut head = [0; 1024];
            // a peer that is gone needs no answer
            drop(std::io::Read::read(&mut peer, &mut head));
            let answer = format!(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{answer}",
                answer.len()
            );
            drop(std::io::Write::write_all(&mut peer, answer.as_bytes()));
        }
    });
    port
}

/// Bash can connect itself, so the test needs no other program.
#[test]
fn an_agent_reaches_an_allowed_host_and_what_it_is_refused_is_shown() {
    let (allowed, closed) = (server("from outside"), server("secret"));
    let look = format!(
        "ask() {{ exec 3<>/dev/tcp/127.0.0.1/$1 && printf \"$2\\r\\nHost: x\\r\\n\\r\\n\" >&3 && cat <&3; echo; exec 3>&-; }}; \
         {{ ask {allowed} 'GET / HTTP/1.1'; ask 3128 'GET http://127.0.0.1:{allowed}/ HTTP/1.1'; \
         ask {closed} 'GET / HTTP/1.1'; ask 3128 'GET http://127.0.0.1:{closed}/ HTTP/1.1'; \
         ask 3128 'CONNECT unlisted.example:443 HTTP/1.1'; echo proxy $https_proxy $HTTPS_PROXY; \
         getent hosts localhost || grep localhost /etc/hosts; }} > seen.txt 2>&1; git add seen.txt; git commit -qm seen; true"
    );
    let scenarios = scenarios([worker([bash(&look), create_pr("Say hello")])]);
    let config = json!({
        "judge_enabled": false,
        "sandbox": { "level": "namespace", "hosts": [format!("127.0.0.1:{allowed}")] },
    });
    let project = Project::new("project", &scenarios, &config);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let seen = project.git(&["show", "symphony/SYM-1:seen.txt"]);
    assert_eq!(seen.matches("from outside").count(), 2, "{seen}");
    assert!(!seen.contains("secret"), "{seen}");
    assert!(seen.contains("Connection refused"), "{seen}");
    assert_eq!(seen.matches("403 Forbidden").count(), 2, "{seen}");
    assert!(
        seen.contains("proxy http://127.0.0.1:3128 http://127.0.0.1:3128"),
        "{seen}"
    );
    assert!(seen.contains("localhost"), "{seen}");

    let network = &run["metadata"]["network"];
    let refused = network["refused"].as_array().unwrap();
    let entries: Vec<_> = refused.iter().map(|host| &host["entry"]).collect();
    assert_eq!(
        json!(entries),
        json!(["unlisted.example", format!("127.0.0.1:{closed}")]),
        "{network:#}"
    );
    let shown = project.ok(&["runs", "show", run["id"].as_str().unwrap()]);
    assert!(shown.contains("Refused hosts"), "{shown}");
    assert!(
        shown.contains(&format!(
            "add `127.0.0.1:{closed}`, `unlisted.example` to `sandbox.hosts`"
        )),
        "{shown}"
    );
    let left = project
        .run_folder(run["id"].as_str().unwrap())
        .join("network");
    assert!(!left.exists(), "the sockets of the run are gone");
    project.assert_sound();
}
