//! The network of runs in a sandbox: real bubblewrap, the real proxy, servers on loopback.

use serde_json::{Value, json};

use crate::plan_support::any_phase;
use crate::support::{Project, bash, commit, create_pr, scenarios, until, worker};

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

/// What a run recorded of a host that was refused, and what `runs show` says of it.
fn assert_refused(project: &Project, run: &Value, host: &str) {
    let refused = &run["metadata"]["network"]["refused"];
    assert_eq!(refused[0]["entry"], host, "{run:#}");
    let shown = project.ok(&["runs", "show", run["id"].as_str().unwrap()]);
    assert!(
        shown.contains(&format!("add `{host}` to `sandbox.hosts`")),
        "{shown}"
    );
}

#[test]
fn hosts_that_gates_and_set_up_commands_were_refused_are_shown_with_their_run() {
    let ask = |host: &str| {
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT {host}:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat <&3 > /dev/null; true"
        );
        json!(["bash", "-c", script])
    };
    let config = json!({
        "judge_enabled": false, "sandbox": "namespace",
        "worktree": { "setup": ask("setup.example") },
        "gates": [{ "name": "check", "command": ask("gate.example") }],
    });
    let work = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let project = Project::new("project", &scenarios([worker(work)]), &config);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    assert_refused(&project, &run, "setup.example");
    let gates = until("the gates have run", || {
        project.ok(&["tick"]);
        let runs = project.json(&["runs", "list"]);
        let ended = |run: &&Value| run["profile"] == "gates" && run["status"] == "succeeded";
        runs["items"].as_array()?.iter().find(ended).cloned()
    });
    let gates = project.run(gates["id"].as_str().unwrap());
    let hosts = gates["metadata"]["network"]["refused"].as_array().unwrap();
    let mut hosts: Vec<_> = hosts
        .iter()
        .filter_map(|host| host["host"].as_str())
        .collect();
    hosts.sort_unstable();
    assert_eq!(hosts, ["gate.example", "setup.example"], "{gates:#}");
    project.assert_sound();
}

#[test]
fn hosts_that_gates_in_a_terminal_were_refused_are_shown_at_once() {
    let ask = |host: &str| {
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT {host}:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat <&3 > /dev/null; true"
        );
        json!({ "gates": [{ "name": "check", "command": ["bash", "-c", script] }] })
    };
    let config = json!({ "judge_enabled": false, "sandbox": "namespace", "gates": [] });
    let work = [commit("hello.txt", "hello"), create_pr("Say hello")];
    let project = Project::new("project", &scenarios([worker(work)]), &config);
    project.configure_more(&ask("trial.example"));
    let hint = |host: &str| format!("add `{host}` to `sandbox.hosts`");
    let shown = project.ok(&["doctor", "--gates"]);
    assert!(shown.contains(&hint("trial.example")), "{shown}");
    let found = project.json(&["doctor", "--gates"]);
    let refused = &found["network"]["refused"][0];
    assert_eq!(refused["entry"], "trial.example", "{found:#}");
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.configure_more(&ask("merge.example"));
    let merged = project.symphony(&["pr", "merge", "SYM-1", "--json"]);
    assert!(merged.stderr.contains(&hint("merge.example")), "{merged:?}");
    let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
    let refused = &merged["network"]["refused"][0];
    assert_eq!(refused["entry"], "merge.example", "{merged:#}");
    project.assert_sound();
}

#[test]
fn hosts_that_checks_of_a_plan_were_refused_are_shown_with_the_run_of_their_phase() {
    let script = "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT check.example:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; cat <&3 > /dev/null; true";
    let config = json!({ "sandbox": "namespace", "gates": [] });
    let project = Project::new("project", &scenarios([any_phase()]), &config);
    let phases = json!([{
        "id": "api", "title": "t", "objective": "o", "tasks": ["t"], "success_criteria": "s",
        "checks": [{ "name": "ask", "command": ["bash", "-c", script] }],
    }]);
    let plan = format!("```symphony-phases\n{phases:#}\n```\n");
    std::fs::write(project.root.join("plan.md"), plan).unwrap();
    project.ok(&["plan", "run", "--merge", "plan.md"]);
    let runs = project.json(&["runs", "list"]);
    let run = project.run(runs["items"][0]["id"].as_str().unwrap());
    assert_refused(&project, &run, "check.example");
}

/// The CLI is a script that says what it was given: the same way leads the real one to its model.
#[test]
fn the_key_in_the_login_of_codex_stays_outside() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    let codex = project.beside.join("codex");
    let script = "#!/bin/sh\n{ echo \"key $CODEX_API_KEY\"; ls -A ~/.codex; echo \"$@\"; grep -rl sk-test-0123456789 ~ /tmp; \
                  env; } > seen.txt 2>&1\n";
    std::fs::write(&codex, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&codex, mode).unwrap();
    std::fs::create_dir(project.home.join(".codex")).unwrap();
    let login =
        json!({ "auth_mode": "apikey", "OPENAI_API_KEY": "sk-test-0123456789", "tokens": null });
    std::fs::write(project.home.join(".codex/auth.json"), login.to_string()).unwrap();
    project.configure_more(&json!({
        "judge_enabled": false, "sandbox": "namespace", "provider": "codex-cli",
        "providers": { "codex-cli": { "binary": codex } },
    }));
    project.add_issue("Say hello");
    project.tick_wait();
    let seen = project.git(&["show", "symphony/SYM-1:seen.txt"]);
    assert!(seen.contains("key kept-outside-the-sandbox"), "{seen}");
    assert!(
        seen.contains("base_url=\"http://127.0.0.1:3129\""),
        "{seen}"
    );
    assert!(!seen.contains("auth.json"), "{seen}");
    assert!(!seen.contains("sk-test"), "{seen}");
}
