//! A person takes an issue over: they work in its agent's session in a terminal, and give the issue back.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{Project, Served, Terminal, agents_of, kill, supervisor_of, text, until};

/// A program that is called like Claude's. Alone it reports its session and ends; with a person it does what they type.
const CLI: &str = r#"#!/bin/sh
how=new; session=11111111-2222-4333-8444-555555555555; before=
for argument; do
  case "$before" in
    --resume) how=resumed; session=$argument ;;
    --session-id) session=$argument ;;
  esac
  before=$argument
done
case " $* " in *" -p "*)
  while [ -e BESIDE/wait ]; do sleep 0.05; done
  echo '{"type":"system","subtype":"init","session_id":"'$session'","model":"m","tools":[],"mcp_servers":[{"name":"symphony","status":"connected"}]}'
  echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","session_id":"'$session'","terminal_reason":"completed","usage":{"input_tokens":1,"output_tokens":1},"model_usage_since_last_result":{"m":{"inputTokens":1,"outputTokens":1,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"costUSD":0.0}}}'
  exit 0
esac
trap 'echo interrupted; again=yes' INT
terminal=nothing
[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && terminal="a terminal"
echo "$how $session on $terminal with $(stty size)"
while :; do
  again=
  read -r word rest || { [ "$again" ] && continue; exit 0; }
  case "$word" in
    write) echo "$rest" > made.txt; echo "wrote it" ;;
    commit) git add -A; git -c user.name=A -c user.email=a@b commit -qm "$rest"; echo "committed it" ;;
    full) printf '\033[?1049h\033[?25lfull screen' ;;
    fail) exit 3 ;;
    leave) exit 0 ;;
  esac
done
"#;

/// The session of the agent alone.
const SESSION: &str = "11111111-2222-4333-8444-555555555555";

fn project(config: &Value) -> Project {
    let mut project = Project::new("project", &json!({ "scenarios": [] }), &json!({}));
    project.set_variable("IS_SANDBOX", "1");
    let cli = project.beside.join("claude");
    let script = CLI.replace("BESIDE", project.beside.to_str().unwrap());
    std::fs::write(&cli, script).unwrap();
    std::fs::set_permissions(&cli, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut whole = json!({
        "judge_enabled": false,
        "max_retry_backoff_ms": 1,
        "max_concurrent_agents": 1,
        "gates": [],
        "provider": "claude-cli",
        "providers": { "claude-cli": { "binary": cli } },
    });
    for (key, value) in config.as_object().unwrap() {
        whole[key] = value.clone();
    }
    project.configure_more(&whole);
    project
}

fn has(lines: &[String], text: &str) -> bool {
    // a line that is too long for the screen goes on in the next one
    lines.concat().contains(text)
}

/// Opens the session of an issue, and waits until its agent is there.
fn opened(project: &Project, issue: &str, how: &str) -> Terminal {
    let terminal = Terminal::start(project, 120, &["runs", "open", issue]);
    terminal.until_seen("the agent", |lines| has(lines, how));
    terminal
}

fn typed(terminal: &mut Terminal, keys: &str, answer: &str) {
    terminal.press(keys);
    terminal.until_seen(answer, |lines| lines.iter().any(|line| line == answer));
}

fn newest(project: &Project) -> Value {
    project.json(&["runs", "list"])["items"][0].clone()
}

#[test]
fn a_person_takes_an_issue_over_and_gives_it_back() {
    let project = project(&json!({}));
    let issue = project.add_issue("Do it");
    let other = project.add_issue("Do something else");
    project.ok(&["issue", "move", &other, "backlog"]);
    project.tick_one("worker", "succeeded");
    let counted = project.issue(&issue)["total_runs"].clone();

    let mut terminal = opened(&project, &issue, &format!("resumed {SESSION}"));
    let screen = terminal.seen();
    assert!(has(&screen, "on a terminal with 50 120"), "{screen:#?}");
    typed(&mut terminal, "write hello\r", "wrote it");
    typed(&mut terminal, "\u{3}", "^Cinterrupted");
    let run = text(&newest(&project)["id"]);

    // no tick starts another agent on it, and everyone sees why
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    let explained = project.ok(&["explain", &issue]);
    let by_whom = "A person has taken the issue over and is working with the worker";
    assert!(explained.contains(by_whom), "{explained}");
    let status = project.ok(&["status"]);
    assert!(status.contains("a person works in its session"), "{status}");
    // what is written to the issue waits for the next agent
    let said = project.json(&["runs", "say", &issue, "Mind the tests"]);
    assert_eq!(said["reach"], "next_run", "{said:#}");
    // it takes no slot of an agent
    project.ok(&["issue", "move", &other, "todo"]);
    project.tick_one("worker", "succeeded");
    project.ok(&["issue", "move", &other, "backlog"]);
    // a second person, and one in a hurry
    let (code, screen) = Terminal::start(&project, 120, &["runs", "open", &issue]).end();
    assert_eq!(code, 4, "{screen:#?}");
    let refused = format!("the session of {issue} is already open in a terminal (run {run})");
    assert!(has(&screen, &refused), "{screen:#?}");
    assert_eq!(project.symphony(&["issue", "release", &issue]).code, 4);

    terminal.press("leave\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen:#?}");
    assert!(has(&screen, &format!("{issue} stays yours")), "{screen:#?}");
    let ended = project.run(&run);
    assert_eq!(ended["status"], "succeeded", "{ended:#}");
    assert_eq!(ended["metadata"]["session"], SESSION, "{ended:#}");
    let shown = project.issue(&issue);
    assert_eq!(
        json!([shown["status"], shown["total_runs"]]),
        json!(["blocked", counted]),
        "{shown:#}"
    );
    let worktree = project.worktree(&issue);
    let log = || project.git(&["log", "--format=%s", &format!("symphony/{issue}")]);
    assert!(
        log().starts_with(&format!("symphony({issue}): work in progress")),
        "{}",
        log()
    );
    assert_eq!(
        std::fs::read_to_string(worktree.join("made.txt")).unwrap(),
        "hello\n"
    );
    let waits = project.first_waiting("blocked");
    assert_eq!(
        json!([waits["text"], waits["answers"]]),
        json!([
            "a person has taken it over",
            [
                format!("symphony issue release {issue}"),
                format!("symphony runs open {issue}")
            ],
        ])
    );
    assert_eq!(project.tick_wait(), Vec::<Value>::new());

    // it goes on, with a commit of its own
    let mut terminal = opened(&project, &issue, &format!("resumed {SESSION}"));
    typed(&mut terminal, "write hello again\r", "wrote it");
    typed(&mut terminal, "commit by hand\r", "committed it");
    terminal.press("leave\r");
    assert_eq!(terminal.end().0, 0);
    assert!(log().starts_with("by hand\n"), "{}", log());

    // what the person changes in the checkout without the agent is committed with the release
    std::fs::write(worktree.join("more.txt"), "more\n").unwrap();
    let released = project.ok(&["issue", "release", &issue]);
    assert!(released.contains("is back in `todo`"), "{released}");
    assert!(
        released.contains("Its uncommitted changes are in commit "),
        "{released}"
    );
    assert!(
        log().starts_with(&format!("symphony({issue}): work in progress")),
        "{}",
        log()
    );
    assert_eq!(project.symphony(&["issue", "release", &issue]).code, 4);

    // the next agent goes on in the same session
    let next = project.tick_one("worker", "succeeded");
    assert_eq!(next["metadata"]["session"], SESSION, "{next:#}");
    let resumed = json!({ "outcome": "resumed", "run": newest_before(&project) });
    assert_eq!(next["metadata"]["resumed"], resumed, "{next:#}");
    project.assert_sound();
}

/// The run before the newest one.
fn newest_before(project: &Project) -> Value {
    project.json(&["runs", "list"])["items"][1]["id"].clone()
}

#[test]
fn uncommitted_changes_are_kept_as_files_for_whoever_asks_for_it() {
    let project = project(&json!({}));
    let issue = project.add_issue("Do it");
    let mut terminal = opened(&project, &issue, "new ");
    terminal.press("leave\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen:#?}");
    let why = "a new session, which has the agent's instructions but not the task";
    assert!(has(&screen, why), "{screen:#?}");
    let run = newest(&project);
    assert_eq!(run["metadata"]["session"], run["id"], "{run:#}");
    let worktree = project.worktree(&issue);
    std::fs::write(worktree.join("more.txt"), "more\n").unwrap();
    let released = project.ok(&["issue", "release", &issue, "--keep"]);
    assert!(
        released.contains("Uncommitted changes of 1 file stay in its checkout."),
        "{released}"
    );
    assert!(worktree.join("more.txt").exists());
    assert_eq!(project.issue(&issue)["status"], "todo");
    project.assert_sound();
}

#[test]
fn a_merge_that_is_not_finished_is_not_committed_by_the_release() {
    let project = project(&json!({}));
    let issue = project.add_issue("Do it");
    let mut terminal = opened(&project, &issue, "new ");
    terminal.press("leave\r");
    terminal.end();
    let worktree = project.worktree(&issue);
    let git = |arguments: &[&str]| {
        let names = ["-c", "user.name=A", "-c", "user.email=a@b"];
        let at = ["-C", worktree.to_str().unwrap()];
        project.git(&[&at, &names[..], arguments].concat())
    };
    let write = |text: &str| {
        std::fs::write(worktree.join("f"), text).unwrap();
        git(&["add", "f"]);
        git(&["commit", "-qm", text]);
    };
    write("base");
    git(&["checkout", "-q", "-b", "side"]);
    write("theirs");
    git(&["checkout", "-q", &format!("symphony/{issue}")]);
    write("ours");
    let merge = "git -C \"$1\" -c user.name=A -c user.email=a@b merge -q side >&2; test $? = 1";
    let merged = project
        .program("sh")
        .args(["-c", merge, "sh"])
        .arg(&worktree)
        .status();
    assert!(merged.unwrap().success());
    let head = git(&["rev-parse", "HEAD"]);
    let refused = project.symphony(&["issue", "release", &issue]);
    assert_eq!(refused.code, 4, "{refused:#?}");
    assert!(
        refused
            .stderr
            .contains("has conflicts in its checkout: f\n")
            && refused.stderr.contains("`git merge --abort`"),
        "{}",
        refused.stderr
    );
    assert_eq!(git(&["rev-parse", "HEAD"]), head);
    assert_eq!(project.issue(&issue)["status"], "blocked");
    git(&["merge", "--abort"]);
    project.ok(&["issue", "release", &issue]);
    project.assert_sound();
}

#[test]
fn a_session_whose_terminal_or_supervisor_dies_leaves_the_work_and_the_issue_with_the_person() {
    let project = project(&json!({}));
    let issue = project.add_issue("Do it");

    // the window is closed
    let mut terminal = opened(&project, &issue, "new ");
    typed(&mut terminal, "write one\r", "wrote it");
    let run = text(&newest(&project)["id"]);
    terminal.close();
    project.until_ended(&run);
    let ended = project.run(&run);
    assert_eq!(
        json!([ended["status"], ended["error"]["message"]]),
        json!(["cancelled", "its terminal was closed"]),
        "{ended:#}"
    );
    assert_eq!(project.issue(&issue)["status"], "blocked");
    assert_eq!(
        project
            .git(&["show", &format!("symphony/{issue}:made.txt")])
            .trim(),
        "one"
    );

    // the command itself is killed
    let mut terminal = opened(&project, &issue, "resumed ");
    typed(&mut terminal, "write two\r", "wrote it");
    let run = text(&newest(&project)["id"]);
    terminal.kill();
    project.until_ended(&run);
    assert_eq!(project.run(&run)["status"], "cancelled");
    assert_eq!(
        project
            .git(&["show", &format!("symphony/{issue}:made.txt")])
            .trim(),
        "two"
    );

    // the supervisor is killed: the next tick does the exit handling, and starts no one
    let mut terminal = opened(&project, &issue, "resumed ");
    typed(&mut terminal, "write three\r", "wrote it");
    terminal.press("full\r");
    terminal.until_seen("the full screen", |lines| lines == ["full screen"]);
    let run = text(&newest(&project)["id"]);
    kill(supervisor_of(&run).unwrap());
    let (code, screen) = terminal.end();
    assert_eq!(code, 1, "{screen:#?}");
    assert!(has(&screen, "the work of run"), "{screen:#?}");
    until("the exit handling", || {
        assert_eq!(project.tick_wait(), Vec::<Value>::new());
        (project.run(&run)["status"] == "crashed").then_some(())
    });
    assert_eq!(agents_of(&run), Vec::<String>::new());
    assert_eq!(
        project
            .git(&["show", &format!("symphony/{issue}:made.txt")])
            .trim(),
        "three"
    );
    let waits = project.first_waiting("blocked");
    let text = waits["text"].as_str().unwrap();
    assert!(
        text.starts_with("a person has taken it over; its last session ended early: "),
        "{text}"
    );
    assert_eq!(project.issue(&issue)["total_runs"], 0, "no attempt is used");
    project.ok(&["issue", "release", &issue]);
    project.tick_one("worker", "succeeded");
    project.assert_sound();
}

#[test]
fn a_session_is_refused_with_what_to_do_instead() {
    let project = project(&json!({}));
    let issue = project.add_issue("Do it");
    let open = ["runs", "open", issue.as_str()];
    let answer = project.symphony(&open);
    assert_eq!(answer.code, 2, "{answer:#?}");
    assert!(
        answer
            .stderr
            .contains("standard input and output must be a terminal"),
        "{answer:#?}"
    );
    // an agent
    let refused = |arguments: &[&str]| {
        let (code, screen) = Terminal::start(&project, 200, arguments).end();
        assert_eq!(code, 4, "{screen:#?}");
        screen.concat()
    };
    for command in [&open[..], &["issue", "release", &issue]] {
        let mut agent = project.command(command);
        let output = agent.env("SYMPHONY_RUN_ID", "some-run").output().unwrap();
        assert_eq!(output.status.code(), Some(4));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("only a person may run"), "{said}");
    }
    // an agent is at work
    let wait = project.beside.join("wait");
    std::fs::write(&wait, "").unwrap();
    let run = project.tick_start();
    let said = refused(&open);
    assert!(
        said.contains(&format!("run {run} is working on {issue}")),
        "{said}"
    );
    assert!(
        said.contains(&format!("symphony runs cancel {run}")),
        "{said}"
    );
    std::fs::remove_file(&wait).unwrap();
    project.until_ended(&run);
    // not taken over, and done
    let answer = project.symphony(&["issue", "release", &issue]);
    assert_eq!(answer.code, 4, "{answer:#?}");
    assert!(
        answer.stderr.contains("no one has taken it over"),
        "{answer:#?}"
    );
    project.ok(&["issue", "close", &issue, "--done", "--reason", "enough"]);
    assert!(refused(&open).contains(&format!("symphony issue move {issue} todo")));
    // no interactive mode
    let next = project.add_issue("Do more");
    project.configure_more(&json!({
        "provider": "command",
        "providers": { "command": { "command": ["true"] } },
    }));
    let said = refused(&["runs", "open", &next]);
    let expected = "Symphony cannot open a session of the provider `command` in a terminal";
    assert!(said.contains(expected), "{said}");
    assert!(
        said.contains(&format!("symphony issue edit {next} --agent claude-cli")),
        "{said}"
    );
    assert_eq!(project.issue(&next)["status"], "todo");
    project.assert_sound();
}

#[test]
fn an_agent_that_fails_is_reported_and_its_issue_stays_with_the_person() {
    let project = project(&json!({}));
    let issue = project.add_issue("Do it");
    let mut terminal = opened(&project, &issue, "new ");
    terminal.press("fail\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 1, "{screen:#?}");
    assert!(
        has(&screen, "the agent's program ended with exit code 3"),
        "{screen:#?}"
    );
    assert_eq!(project.issue(&issue)["status"], "blocked");
    // by the run's id, and ended from elsewhere
    let run = text(&newest(&project)["id"]);
    let terminal = Terminal::start(&project, 120, &["runs", "open", &run]);
    terminal.until_seen("the agent", |lines| has(lines, "on a terminal"));
    project.ok(&["runs", "cancel", &issue]);
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen:#?}");
    assert!(has(&screen, "ended: cancelled"), "{screen:#?}");
    project.assert_sound();
}

#[test]
fn a_session_whose_supervisor_died_is_saved_by_the_next_order_and_not_only_by_a_tick() {
    let project = project(&json!({}));
    let issue = project.add_issue("Do it");
    let died = |terminal: Terminal| {
        let run = text(&newest(&project)["id"]);
        kill(supervisor_of(&run).unwrap());
        let (code, screen) = terminal.end();
        assert_eq!(code, 1, "{screen:#?}");
        let hint = format!("`symphony issue release {issue}` saves it");
        assert!(has(&screen, &hint), "{screen:#?}");
        assert_eq!(project.run(&run)["status"], "running");
        run
    };
    let saved = |run: &str, content: &str| {
        assert_eq!(project.run(run)["status"], "crashed");
        assert_eq!(agents_of(run), Vec::<String>::new());
        let file = format!("symphony/{issue}:made.txt");
        assert_eq!(project.git(&["show", &file]).trim(), content);
    };
    let mut terminal = opened(&project, &issue, "new ");
    typed(&mut terminal, "write one\r", "wrote it");
    let run = died(terminal);
    let mut terminal = opened(&project, &issue, "new ");
    saved(&run, "one");
    typed(&mut terminal, "write two\r", "wrote it");
    let run = died(terminal);
    let released = project.symphony(&["issue", "release", &issue]);
    assert_eq!(released.code, 0, "{released:?}");
    let note = format!("The supervisor of run {run} has died.");
    assert!(released.stderr.contains(&note), "{released:?}");
    saved(&run, "two");
    assert_eq!(project.issue(&issue)["status"], "todo");
    project.assert_sound();
}

#[test]
fn whoever_closes_an_issue_ends_its_session_and_is_told_so() {
    let project = project(&json!({}));
    let issue = project.add_issue("Do it");
    let mut terminal = opened(&project, &issue, "new ");
    typed(&mut terminal, "write one\r", "wrote it");
    let close = ["issue", "close", &issue, "--done", "--reason", "by hand"];
    let closed = project.symphony(&close);
    assert_eq!(closed.code, 0, "{closed:?}");
    let note = format!("A person works in the session of {issue}");
    assert!(closed.stderr.contains(&note), "{closed:?}");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen:#?}");
    assert!(!has(&screen, "stays yours:"), "{screen:#?}");
    assert_eq!(project.issue(&issue)["status"], "done");
    project.assert_sound();
}

#[test]
fn the_page_gives_an_issue_back_to_agents() {
    let project = project(&json!({}));
    let issue = project.add_issue("Do it");
    let mut terminal = opened(&project, &issue, "new ");
    terminal.press("leave\r");
    assert_eq!(terminal.end().0, 0);
    let served = Served::start(&project, &[]);
    let browser = served.sign_in();
    let page = format!("/issues/{issue}");
    assert!(browser.get(&page).body.contains("Give back to agents"));
    let reply = browser.post(&format!("{page}/release"), &[]);
    assert_eq!(reply.status, 303, "{reply:#?}");
    assert_eq!(project.issue(&issue)["status"], "todo");
    assert!(!browser.get(&page).body.contains("Give back to agents"));
    let reply = browser.post(&format!("{page}/release"), &[]);
    assert!(
        reply.body.contains("no one has taken it over"),
        "{reply:#?}"
    );
}
