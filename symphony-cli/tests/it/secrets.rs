//! Secret values stay out of what is recorded, and out of what an agent can read of its supervisor.

use std::os::unix::fs::MetadataExt as _;

use serde_json::{Value, json};

use crate::support::{
    Project, bash, call, commit, create_pr, kill, scenarios, supervisor_of, text, turn, until,
    worker,
};

const KEY: &str = "sk-live-0123456789abcdef";
const TOKEN: &str = "ghp-person-0123456789";
const PROVIDER_KEY: &str = "sk-ant-api-0123456789";

/// Reads everything that is recorded of a project: the database, the files of runs.
fn everything(folder: &std::path::Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            everything(&path, found);
        } else if let Ok(bytes) = std::fs::read(&path) {
            found.push((path.display().to_string(), bytes));
        }
    }
}

fn holds(bytes: &[u8], needle: &str) -> bool {
    bytes
        .windows(needle.len())
        .any(|window| window == needle.as_bytes())
}

#[test]
fn values_of_copied_files_and_keys_are_redacted_where_they_are_written() {
    let say = |tool: &str, input: Value| turn(call(&format!("mcp__symphony__{tool}"), input));
    let scenarios = scenarios([worker([
        bash(
            "cat .env; base64 < .env; echo $ANTHROPIC_API_KEY; cat .env >&2; printf 'sk-live-'; sleep 0.1; echo 0123456789abcdef",
        ),
        say(
            "add_comment",
            json!({ "content": format!("the key is {KEY}") }),
        ),
        say(
            "add_learning",
            json!({ "pattern": format!("use {PROVIDER_KEY}") }),
        ),
        say(
            "add_finding",
            json!({ "kind": "bug", "text": format!("{KEY} is rejected") }),
        ),
        json!({ "content": [{ "type": "text", "text": format!("Done with {KEY}.") }] }),
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let mut project = Project::new("project", &scenarios, &json!({}));
    project.set_variable("ANTHROPIC_API_KEY", PROVIDER_KEY);
    std::fs::write(project.root.join(".env"), format!("API_KEY={KEY}\n")).unwrap();
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let id = text(&run["id"]);
    let errors = project.tool_errors(&id);
    assert_eq!(errors.len(), 2, "{errors:#?}");
    assert!(
        errors
            .iter()
            .all(|error| error.contains("holds a secret value")),
        "{errors:#?}"
    );
    let finding = &project.issue("SYM-1")["findings"][0]["text"];
    assert_eq!(finding, "[redacted: API_KEY] is rejected");
    assert!(
        project
            .run_file(&id, "log.txt")
            .contains("Done with [redacted: API_KEY].")
    );
    let mut files = Vec::new();
    everything(&project.root.join(".symphony"), &mut files);
    for secret in [KEY, PROVIDER_KEY] {
        for (path, bytes) in &files {
            assert!(!holds(bytes, secret), "{secret} is in {path}");
        }
    }
    project.assert_sound();
}

#[test]
fn texts_of_a_person_with_a_secret_value_are_refused_and_name_file_and_key() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    std::fs::write(project.root.join(".env"), format!("API_KEY={KEY}\n")).unwrap();
    project.add_issue("Say hello");
    let before = project.ok(&["events", "--json"]);
    let line = json!({ "pattern": format!("use {KEY}") }).to_string();
    std::fs::write(project.beside.join("learnings.jsonl"), line).unwrap();
    let line = json!({ "title": "T", "description": format!("use {KEY}") }).to_string();
    std::fs::write(project.beside.join("issues.jsonl"), line).unwrap();
    let learnings = project.beside.join("learnings.jsonl");
    let issues = project.beside.join("issues.jsonl");
    let text = format!("call it with {KEY}");
    let encoded = format!("call it with {}", "c2stbGl2ZS0wMTIzNDU2Nzg5YWJjZGVm");
    for arguments in [
        &["issue", "add", text.as_str()][..],
        &["issue", "add", "T", "--description", &text],
        &["issue", "add", "T", "--label", KEY],
        &["issue", "comment", "SYM-1", &text],
        &["issue", "comment", "SYM-1", &encoded],
        &["issue", "edit", "SYM-1", "--title", &text],
        &["issue", "edit", "SYM-1", "--description", &text],
        &["issue", "import", issues.to_str().unwrap()],
        &["learnings", "add", &text],
        &["learnings", "import", learnings.to_str().unwrap()],
        &["pr", "reject", "SYM-1", "--feedback", &text],
        &["pr", "reject", "SYM-1", "--point", &text],
        &["point", "add", "SYM-1", &text],
        &["point", "reply", "SYM-1", "1", &text],
        &["done", "reject", "SYM-1", "--feedback", &text],
        &["phase", "reject", "SYM-1", "--feedback", &text],
    ] {
        let answer = project.symphony(arguments);
        assert_ne!(answer.code, 0, "{arguments:?}");
        let stderr = &answer.stderr;
        assert!(
            stderr.contains("contains the value of `API_KEY` in .env"),
            "{arguments:?}: {stderr}"
        );
        assert!(!stderr.contains(KEY) && !answer.stdout.contains(KEY));
    }
    assert_eq!(project.ok(&["events", "--json"]), before);
    project.ok(&["issue", "comment", "SYM-1", "call it with API_KEY"]);
    project.assert_sound();
}

#[test]
fn a_text_of_a_person_on_standard_input_is_checked_and_a_public_value_is_no_secret() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    let public = "the-value-of-the-example";
    project.commit_files(&[("example.txt", public)]);
    let contents = format!("API_KEY={KEY}\nEXAMPLE={public}\n");
    std::fs::write(project.root.join(".env"), contents).unwrap();
    project.add_issue("Say hello");
    let comment = ["issue", "comment", "SYM-1", "-"];
    let mut child = project
        .command(&comment)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, format!("with {KEY}").as_bytes()).unwrap();
    drop(input);
    let answer = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&answer.stderr);
    assert!(stderr.contains("`API_KEY` in .env"), "{stderr}");
    project.ok(&["issue", "comment", "SYM-1", &format!("with {public}")]);
}

#[test]
fn tokens_of_a_login_file_are_redacted_and_other_words_of_it_are_not() {
    let token = "sk-ant-oat01-0123456789abcdef";
    let login =
        json!({ "claudeAiOauth": { "accessToken": token, "subscriptionType": "enterprise" } });
    let scenarios = scenarios([worker([
        bash("cat ~/.claude/.credentials.json; base64 -w 0 < ~/.claude/.credentials.json"),
        json!({ "content": [{ "type": "text", "text": format!("On enterprise I found {token}.") }] }),
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let mut project = Project::new("project", &scenarios, &json!({ "judge_enabled": false }));
    let home = project.beside.join("logged-in");
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    std::fs::write(home.join(".claude/.credentials.json"), login.to_string()).unwrap();
    project.set_variable("HOME", home.to_str().unwrap());
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let log = project.run_file(&text(&run["id"]), "log.txt");
    assert!(
        log.contains("On enterprise I found [redacted: claude.accessToken]."),
        "{log}"
    );
    let mut files = Vec::new();
    everything(&project.root.join(".symphony"), &mut files);
    for (path, bytes) in &files {
        assert!(!holds(bytes, token), "{path}");
        // Of the base64 form: some groups of bytes inside of the token.
        assert!(!holds(bytes, "LW9hdDAxLTAxMjM0NTY3ODlhYmNk"), "{path}");
    }
}

#[test]
fn what_set_up_and_gates_print_is_redacted_wherever_it_goes() {
    let scenarios = scenarios([worker([
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.configure_more(&json!({
        "judge_enabled": false,
        "worktree": { "setup": "cat .env; echo set up" },
        "gates": [{
            "name": "tests",
            // plain, wrapped by `base64`, and cut by a line end of its own
            "command": "cat .env; base64 -w 11 .env; printf 'it is sk-live-0123'; echo; echo 456789abcdef; ! grep -q hello hello.txt || exit 3"
        }]
    }));
    std::fs::write(project.root.join(".env"), format!("API_KEY={KEY}\n")).unwrap();
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let pr = project.json(&["pr", "show", "SYM-1"]);
    let output = pr.to_string();
    assert!(output.contains("it is [redacted: API_KEY]"), "{pr:#}");
    let mut files = Vec::new();
    everything(&project.root.join(".symphony"), &mut files);
    let live = files.iter().filter(|(path, _)| path.ends_with("/log.txt"));
    assert!(
        live.clone()
            .any(|(_, text)| holds(text, "[tests] API_KEY=[redacted: API_KEY]")),
        "{:#?}",
        live.map(|(path, text)| (path, String::from_utf8_lossy(text)))
            .collect::<Vec<_>>()
    );
    // of "API_KEY=sk-live-…": from a group of bytes inside the value on
    let encoded = "LTAxMjM0NTY3ODlhYmNkZW";
    for (path, bytes) in &files {
        assert!(!holds(bytes, KEY), "{path}");
        let text: String = String::from_utf8_lossy(bytes).split_whitespace().collect();
        assert!(!text.contains(KEY), "{path}");
        assert!(!text.contains(encoded), "{path}");
    }
}

#[test]
fn a_value_that_a_program_wraps_in_base64_is_redacted_and_refused() {
    let wrap = "printf %s \"$ANTHROPIC_API_KEY\" | base64 -w 10";
    let scenarios = scenarios([worker([
        bash(wrap),
        bash(&format!("({wrap}) >&2; exit 1")),
        turn(call(
            "mcp__symphony__add_comment",
            json!({ "content": "c2stYW50LW\nFwaS0wMTIz\nNDU2Nzg5" }),
        )),
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let mut project = Project::new("project", &scenarios, &json!({}));
    project.set_variable("ANTHROPIC_API_KEY", PROVIDER_KEY);
    project.add_issue("Say hello");
    let run = project.tick_one("worker", "succeeded");
    let id = text(&run["id"]);
    assert!(
        project
            .tool_errors(&id)
            .iter()
            .any(|error| error.contains("holds a secret value")),
    );
    let log = project.run_file(&id, "log.txt");
    assert!(log.contains("[redacted: ANTHROPIC_API_KEY]"), "{log}");
    let mut files = Vec::new();
    everything(&project.root.join(".symphony"), &mut files);
    for (path, bytes) in &files {
        assert!(!holds(bytes, "FwaS0wMTIz"), "{path}");
    }
}

#[test]
fn an_agent_finds_no_key_in_the_environment_of_its_supervisor() {
    // from the shell up to the supervisor, and what each was started with
    let climb = "p=$$; while [ $p -gt 1 ]; do tr '\\0' ' ' < /proc/$p/cmdline; echo; \
                 case \"$(tr '\\0' ' ' < /proc/$p/cmdline)\" in *' supervise'' --run '*) tr '\\0' '\\n' < /proc/$p/environ > seen.txt; ls -l /proc/$p/fd >> seen.txt; test -r /proc/$p/mem && echo readable >> seen.txt; break;; esac; \
                 p=$(awk '/^PPid:/ {print $2}' /proc/$p/status); done; \
                 echo \"own: $ANTHROPIC_API_KEY\" >> seen.txt";
    let scenarios = scenarios([worker([bash(climb)])]);
    let mut project = Project::new("project", &scenarios, &json!({}));
    project.set_variable("ANTHROPIC_API_KEY", PROVIDER_KEY);
    project.set_variable("GITHUB_TOKEN", TOKEN);
    project.set_variable("DATABASE_URL", "postgres://u:secret-password@db");
    project.add_issue("Look up");
    project.tick_wait();
    let seen = std::fs::read_to_string(project.worktree("SYM-1").join("seen.txt")).unwrap();
    // it is the supervisor's: without the marker of the run
    assert!(
        seen.contains("SYMPHONY_ENVIRONMENT_HANDED_OVER=1"),
        "{seen}"
    );
    for secret in [TOKEN, "secret-password"] {
        assert!(!seen.contains(secret), "{seen}");
    }
    assert!(!seen.contains("memfd"), "{seen}");
    // root reads everything
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    assert!(is_root || !seen.contains("readable"), "{seen}");
    // the provider's key reaches the agent all the same, and the supervisor does not show it
    assert_eq!(seen.matches(PROVIDER_KEY).count(), 1, "{seen}");
    assert!(seen.ends_with(&format!("own: {PROVIDER_KEY}\n")), "{seen}");
}

#[test]
fn a_process_that_is_not_below_the_supervisor_does_not_speak_for_its_run() {
    use std::io::{Read as _, Write as _};
    let scenarios = scenarios([worker([
        bash("touch ready; until test -e go; do sleep 0.05; done"),
        turn(call(
            "mcp__symphony__add_comment",
            json!({ "content": "from the agent" }),
        )),
        commit("hello.txt", "hello"),
        create_pr("Say hello"),
    ])]);
    let project = Project::new("project", &scenarios, &json!({ "judge_enabled": false }));
    project.add_issue("Talk");
    project.ok(&["tick"]);
    let worktree = project.worktree("SYM-1");
    until("the agent", || {
        worktree.join("ready").exists().then_some(())
    });
    let runs = project.json(&["runs", "list"]);
    let id = text(&runs["items"][0]["id"]);
    let socket = project
        .root
        .join(".symphony/runs")
        .join(&id)
        .join("mcp.sock");
    let mut stranger = std::os::unix::net::UnixStream::connect(socket).unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" }
    }});
    let _refused = writeln!(stranger, "{hello}");
    let mut answer = String::new();
    let _refused = stranger.read_to_string(&mut answer);
    assert_eq!(answer, "");
    std::fs::write(worktree.join("go"), "").unwrap();
    until("the pull request", || {
        let runs = project.json(&["runs", "list"]);
        (runs["items"][0]["status"] != "running").then_some(())
    });
    let comments = project.issue("SYM-1")["comments"].to_string();
    assert!(comments.contains("from the agent"), "{comments}");
    let log = project.run_file(&id, "supervisor.log");
    assert!(
        log.contains("refused a process that is not of this run"),
        "{log}"
    );
}

#[test]
fn an_agent_that_clears_its_environment_is_recognised_by_what_is_above_it() {
    let symphony = env!("CARGO_BIN_EXE_symphony");
    let clear = "env -i PATH=\"$PATH\" HOME=\"$HOME\"";
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" }
    }});
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let approve = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "approve_pr", "arguments": {} } });
    let scenarios = scenarios([worker([
        bash(&format!(
            "{clear} {symphony} -C ../.. pr approve SYM-1 > asked.txt 2>&1; echo \"code $?\" >> asked.txt"
        )),
        bash(&format!(
            "for what in 'issue add planted' 'config set publish evil' 'learnings add Trust-me' 'profile set worker --model evil' \
             'issue comment SYM-1 planted' 'issue edit SYM-1 --title planted' 'issue move SYM-1 backlog' 'issue retry SYM-1' \
             'runs cancel SYM-1' 'project wizard project' init clean tick run pause resume; do \
             {clear} {symphony} -C ../.. $what; echo \"code $?\"; done > tried.txt 2>&1"
        )),
        bash(&format!(
            "printf '%s\\n' '{hello}' '{initialized}' '{approve}' | {clear} {symphony} -C ../.. mcp --issue-id SYM-1 --agent-type judge > served.txt 2>&1; true"
        )),
        // in a session of its own, orphaned, in the project's folder
        bash(&format!(
            "here=$PWD; root=$(cd ../.. && pwd); {clear} HERE=\"$here\" ROOT=\"$root\" setsid sh -c 'cd \"$ROOT\"; ({symphony} pr approve SYM-1 >> \"$HERE/hidden.txt\" 2>&1; echo \"code $?\" >> \"$HERE/hidden.txt\") & ' ; until grep -q code hidden.txt 2>/dev/null; do sleep 0.05; done"
        )),
    ])]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.add_issue("Approve yourself");
    project.tick_wait();
    for file in ["asked.txt", "hidden.txt"] {
        let asked = std::fs::read_to_string(project.worktree("SYM-1").join(file)).unwrap();
        assert!(
            asked.contains("this looks like an agent"),
            "{file}: {asked}"
        );
        assert!(
            asked.contains("code 4") || asked.contains("code 1"),
            "{file}: {asked}"
        );
    }
    let tried = std::fs::read_to_string(project.worktree("SYM-1").join("tried.txt")).unwrap();
    assert_eq!(
        tried.matches("this looks like an agent").count(),
        16,
        "{tried}"
    );
    assert_eq!(tried.matches("code 4").count(), 16, "{tried}");
    let served = std::fs::read_to_string(project.worktree("SYM-1").join("served.txt")).unwrap();
    assert!(served.contains("verdicts are refused here"), "{served}");
    assert_eq!(
        project.json(&["issue", "list"])["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    // whoever runs the tests may type it: it fails for another reason
    let answer = project.symphony(&["pr", "approve", "SYM-1"]);
    assert!(!answer.stderr.contains("is an agent's"), "{answer:#?}");
}

#[test]
fn the_agents_of_another_installation_may_use_symphony_in_a_project_of_their_own() {
    let project = Project::new("project", &scenarios([]), &json!({}));
    // the gates of a project that tests itself with Symphony: its shell has the mark of a run that is unknown here
    let symphony = env!("CARGO_BIN_EXE_symphony");
    let added = project
        .program("sh")
        .args([
            "-c",
            "env -u SYMPHONY_RUN_ID \"$0\" issue add Fine; true",
            symphony,
        ])
        .env("SYMPHONY_RUN_ID", "01a20441-0ca1-7001-a594-74fc8b81b25d")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&added.stdout);
    assert_eq!(said, "Added SYM-1: Fine\n", "{added:?}");
}

#[test]
fn an_unmarked_orphan_does_not_outlive_the_supervisor_by_more_than_a_tick() {
    let scenarios = scenarios([worker([bash(
        "(setsid env -i PATH=\"$PATH\" sh -c 'exec 3>>kept; cd /; exec sleep 613' >/dev/null 2>&1 </dev/null & echo $! > by-file.pid); \
         (setsid env -i PATH=\"$PATH\" sleep 614 >/dev/null 2>&1 </dev/null & echo $! > by-folder.pid); \
         touch forked; sleep 600",
    )])]);
    let project = Project::new("project", &scenarios, &json!({}));
    project.add_issue("Leave something");
    let run = project.tick_start();
    let worktree = project.worktree("SYM-1");
    let pids: Vec<i32> = ["by-file.pid", "by-folder.pid"]
        .iter()
        .map(|name| {
            until("the orphans", || {
                worktree.join("forked").exists().then_some(())?;
                let pid: i32 = std::fs::read_to_string(worktree.join(name))
                    .ok()?
                    .trim()
                    .parse()
                    .ok()?;
                let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
                command.starts_with(b"sleep").then_some(pid)
            })
        })
        .collect();
    kill(until("the supervisor", || supervisor_of(&run)));
    project.ok(&["pause"]);
    until("the end of the orphans", || {
        project.ok(&["tick"]);
        pids.iter()
            .all(|pid| {
                let status = std::fs::read_to_string(format!("/proc/{pid}/stat"));
                status.map_or(true, |status| status.contains(") Z "))
            })
            .then_some(())
    });
}
