//! What trackers, people and processes do to the service that a file's author did not think of.

use serde_json::json;

use super::*;

/// An answer of Linear with these tickets, whatever was asked: id, identifier, title.
fn answer(tickets: &[(&str, &str, &str)]) -> Fault {
    let nodes = tickets.iter().map(|(id, identifier, title)| {
        json!({"id": id, "identifier": identifier, "title": title, "state": {"name": "Todo"}})
    });
    let nodes: Vec<Value> = nodes.collect();
    Fault::Answer {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: json!({"data": {"issues": {"nodes": nodes, "pageInfo": {"hasNextPage": false}}}})
            .to_string(),
    }
}

fn problems(state: &Value) -> String {
    state["problems"].to_string()
}

#[test]
fn a_tracker_that_asks_for_a_pause_or_is_silent_ends_no_agent() {
    let site = Site::new(HANG);
    let (_, name) = site.add_issue("Do it");
    let looping = Loop::start(&site);
    looping.until("the run", |state| is_running(state, &name));
    let pause = Fault::status(429, "slow down").with_header("retry-after", "2");
    site.linear.fail(On::any().times(1), pause);
    looping.until("the refusal", |state| {
        problems(state).contains("status 429").then_some(())
    });
    // no request is sent before the pause is over
    site.linear.take_exchanges();
    std::thread::sleep(Duration::from_millis(800));
    assert_eq!(site.linear.take_exchanges().len(), 0);
    looping.until("the end of the pause", |state| {
        (problems(state) == "[]").then_some(())
    });

    site.linear.fail(On::any().times(1), Fault::Silence);
    looping.until("the time limit", |state| {
        problems(state).contains("linear_api_request").then_some(())
    });
    looping.until("an answer", |state| (problems(state) == "[]").then_some(()));
    assert_eq!(looping.state()["counts"]["running"], 1);

    // nothing holds up whoever wants the service to end
    site.linear.fail(On::any(), Fault::Silence);
    std::thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    assert_eq!(looping.end(), 0);
    assert!(asked.elapsed() < Duration::from_secs(15));
    assert_eq!(site.workers().len(), 1);
}

#[test]
fn a_tracker_that_asks_for_a_pause_without_its_length_is_left_in_peace() {
    let site = Site::new(HANG);
    let (_, name) = site.add_issue("Do it");
    let looping = Loop::start(&site);
    looping.until("the run", |state| is_running(state, &name));
    site.linear
        .fail(On::any().times(1), Fault::status(429, "slow down"));
    looping.until("the refusal", |state| {
        problems(state).contains("status 429").then_some(())
    });
    // Linear would answer again, and the loop polls several times a second
    site.linear.take_exchanges();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(site.linear.take_exchanges().len(), 0);
    assert_eq!(looping.state()["counts"]["running"], 1);
    assert_eq!(looping.end(), 0);
    assert_eq!(site.workers().len(), 1);
}

#[test]
fn a_ticket_that_vanishes_keeps_its_agent_and_has_no_other() {
    let site = Site::new(HANG);
    let (id, name) = site.add_issue("Do it");
    site.workflow("agent:\n  max_retry_backoff_ms: 1000\n");
    let looping = Loop::start(&site);
    until("the agent", || {
        site.path("stray.pid").exists().then_some(())
    });
    site.linear.with(|world| world.remove_issue(&id));
    site.linear.take_exchanges();
    until("some looks", || {
        std::thread::sleep(Duration::from_secs(1));
        (site.linear.take_exchanges().len() > 2).then_some(())
    });
    let state = looping.state();
    assert!(is_running(&state, &name).is_some(), "{state}");
    let workers = site.workers();
    assert_eq!(workers.len(), 1);
    Site::kill(workers[0], "-KILL");
    looping.until("the release", |state| {
        (state["counts"]["running"] == 0 && state["counts"]["retrying"] == 0).then_some(())
    });
    assert_eq!(site.workers(), [0; 0]);
    assert!(site.path("work").join(&name).exists());
}

#[test]
fn a_second_ctrl_c_ends_the_agents_with_their_hooks() {
    let site = Site::new(HANG);
    site.add_issue("Do it");
    site.workflow("hooks:\n  after_run: echo after >> \"$HOME/hooks\"\n");
    let mut looping = Loop::start(&site);
    until("the agent", || {
        site.path("stray.pid").exists().then_some(())
    });
    let stray: u32 = site.read("stray.pid").trim().parse().unwrap();
    for _ in 0..2 {
        Site::kill(looping.child.id(), "-INT");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert_eq!(looping.child.wait().unwrap().code(), Some(0));
    assert_eq!(site.read("hooks"), "after\n");
    assert_eq!(site.workers(), [0; 0]);
    assert!(!is_alive(stray));
    let store = Store::open(&site.path(".symphony/service/WORKFLOW.md/state.db")).unwrap();
    assert_eq!(store.service_jobs().unwrap().len(), 0);
}

#[test]
fn a_third_ctrl_c_waits_for_no_hook() {
    let site = Site::new(HANG);
    let (_, name) = site.add_issue("Do it");
    site.workflow("hooks:\n  timeout_ms: 900000\n  after_run: sleep 4323\n");
    let mut looping = Loop::start(&site);
    until("the agent", || {
        site.path("stray.pid").exists().then_some(())
    });
    let asked = Instant::now();
    for _ in 0..3 {
        Site::kill(looping.child.id(), "-INT");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert_eq!(looping.child.wait().unwrap().code(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(30));
    // the next one looks after it
    let state = site.tick();
    assert!(is_running(&state, &name).is_some(), "{state}");
    for pid in site.workers() {
        Site::kill(pid, "-KILL");
    }
    site.workflow("hooks:\n  timeout_ms: 900000\n");
    site.linear.with(|world| {
        let ids: Vec<String> = world.issues().into_iter().map(|issue| issue.id).collect();
        for id in ids {
            world.move_issue(&id, "Backlog");
        }
    });
    site.tick_until("the end", |state| {
        (state["counts"]["running"] == 0).then_some(())
    });
}

#[test]
fn the_port_of_the_command_line_comes_before_that_of_the_file() {
    let site = Site::new(HANG);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    site.workflow(&format!("server:\n  port: {port}\n"));
    let output = site.symphony(&["run", "--workflow"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        stderr(&output).contains(&format!("127.0.0.1:{port}")),
        "{output:?}"
    );
    // `--port 0`
    let looping = Loop::start(&site);
    looping.until("a snapshot", |state| {
        (state["counts"]["running"] == 0).then_some(())
    });
    assert_eq!(looping.end(), 0);
}

#[test]
fn tickets_that_would_share_a_folder_never_work_at_once_and_hostile_ones_reach_no_terminal() {
    let site = Site::new(HANG);
    site.linear.fail(
        On::any(),
        answer(&[
            ("i-1", "ENG/1", "<script>alert(1)</script>"),
            ("i-2", "ENG_1", "\u{1b}]0;owned\u{7}"),
            ("i-2", "ENG_1", "twice"),
            ("i-3", "..", "up"),
            ("i-4", "../../x\u{1b}[2J", "{{ issue.title }}{% if %}"),
        ]),
    );
    let state = site.tick_until("the refusals", |state| {
        problems(state)
            .contains("its workspace would be that of")
            .then(|| state.clone())
    });
    assert!(is_running(&state, "ENG/1").is_some(), "{state}");
    assert!(is_running(&state, "ENG_1").is_none(), "{state}");
    site.tick_until("the name that is none", |state| retry(state, ".."));
    let at_work = |name: &str| {
        site.log()
            .lines()
            .filter(|line| line.contains("event=worker_started") && line.contains(name))
            .count()
    };
    assert_eq!((at_work("ENG/1"), at_work("ENG_1")), (1, 0));
    // below the root, and by no other name
    let mut names: Vec<String> = fs::read_dir(site.path("work"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".._.._x__2J", "ENG_1"]);
    let output = site.symphony(&["tick", "--workflow"]).output().unwrap();
    for bytes in [&output.stdout, &output.stderr] {
        assert!(!bytes.contains(&0x1b), "{output:?}");
    }
    assert!(!site.log().contains('\u{1b}'));
}

#[test]
fn a_ticket_that_its_agent_ended_leaves_no_workspace() {
    let turn = format!("while [ ! -e \"$HOME/go\" ]; do sleep 0.1; done\n{COMPLETE}");
    let site = Site::new(&turn);
    let (id, name) = site.add_issue("Do it");
    let text = site
        .text("hooks:\n  before_run: touch \"$HOME/begun\"\n")
        .replace("interval_ms: 300", "interval_ms: 600000");
    site.write("WORKFLOW.md", &text);
    let looping = Loop::start(&site);
    until("the agent", || site.path("begun").exists().then_some(()));
    // no look at the tracker sees it while the agent works
    site.linear.with(|world| world.move_issue(&id, "Done"));
    site.write("go", "");
    until("the removal", || {
        (!site.path("work").join(&name).exists()).then_some(())
    });
    looping.until("the release", |state| {
        (state["counts"]["running"] == 0 && state["counts"]["retrying"] == 0).then_some(())
    });
    assert_eq!(
        looping.ask("GET", &format!("/api/v1/{name}")).1["last_error"],
        Value::Null
    );
}

#[test]
fn a_worker_that_does_not_end_is_killed_by_ticks_too() {
    let site = Site::new(HANG);
    let (id, _) = site.add_issue("Do it");
    site.workflow("hooks:\n  timeout_ms: 900000\n  after_run: sleep 4325\n");
    site.tick();
    until("the agent", || {
        site.path("stray.pid").exists().then_some(())
    });
    let stray: u32 = site.read("stray.pid").trim().parse().unwrap();
    let workers = site.workers();
    assert_eq!(workers.len(), 1);
    // its hook may take longer than those of the settings in force
    site.workflow("hooks:\n  timeout_ms: 500\n");
    site.linear.with(|world| world.move_issue(&id, "Backlog"));
    site.tick_until("its end", |state| {
        std::thread::sleep(Duration::from_secs(1));
        (state["counts"]["running"] == 0).then_some(())
    });
    assert!(!is_alive(workers[0]) && !is_alive(stray));
    assert!(site.log().contains("event=worker_killed"));
}

#[test]
fn fields_without_an_effect_are_named_once() {
    let site = Site::new(HANG);
    site.workflow("observability:\n  refresh_ms: 5\n");
    let note = "observability: unknown field, ignored";
    let tick = || stderr(&site.symphony(&["tick", "--workflow"]).output().unwrap());
    let first = tick();
    assert!(first.contains(note), "{first}");
    assert!(!first.contains("Cannot write"), "{first}");
    assert!(!tick().contains(note));
    assert!(site.log().contains(note));
}

/// As in openai/symphony's own file: the hook that fills a workspace makes a worktree in it, and the one before its removal
/// removes the folder itself.
#[test]
fn a_workspace_may_be_a_worktree_that_its_hook_removes() {
    let site = Site::new(HANG);
    let (id, name) = site.add_issue("Do it");
    let git = "git init -q -b master \"$HOME/repo\" && cd \"$HOME/repo\" && git -c user.email=a@b -c user.name=a commit -q --allow-empty -m one";
    let made = Command::new("bash")
        .args(["-c", git])
        .env("HOME", site.path(""))
        .status();
    assert!(made.unwrap().success());
    site.workflow(
        "hooks:\n  timeout_ms: 900000\n  after_create: |\n    set -eu\n    name=\"$(basename \"$PWD\")\"\n    git -C \"$HOME/repo\" worktree prune\n    git -C \"$HOME/repo\" worktree add -b \"work/${name}\" \"$PWD\" master\n  before_remove: |\n    git -C \"$HOME/repo\" worktree remove --force \"$PWD\" || true\n",
    );
    let looping = Loop::start(&site);
    until("the agent", || {
        site.path("stray.pid").exists().then_some(())
    });
    let folder = site.path("work").join(&name);
    assert!(folder.join(".git").is_file());
    site.linear.with(|world| world.move_issue(&id, "Done"));
    until("the removal", || (!folder.exists()).then_some(()));
    looping.until("no run", |state| {
        (state["counts"]["running"] == 0 && problems(state) == "[]").then_some(())
    });
    assert!(!site.path("repo/.git/worktrees").join(&name).exists());
}
