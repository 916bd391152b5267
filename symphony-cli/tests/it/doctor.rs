//! `symphony doctor`: each problem comes with a command that repairs it; the audit finds what is planted; what is printed for cron works.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};
use symphony_core::Timestamp;
use symphony_core::agent::AgentType;
use symphony_core::id::{IssueId, ProjectId, RunId};
use symphony_core::run::{ProtectionLevel, RunTarget};
use symphony_core::tick::StartRun;
use symphony_store::{ClaimLimits, ClaimRequest, Context, Store};

use crate::support::{
    Answer, Project, WORKER, approving_judge, commit, create_pr, scenario, scenarios, text, worker,
};

/// SYM-1 is merged, SYM-2 waits for a person, SYM-3 for its turn; one value is secret.
fn project() -> Project {
    let scenarios = scenarios([
        approving_judge(),
        scenario(
            "first",
            &json!({ "match_system": WORKER, "match_prompt": "Say hello" }),
            [commit("hello.txt", "hello"), create_pr("Say hello")],
        ),
        worker([commit("more.txt", "hello"), create_pr("Say more")]),
    ]);
    let config = json!({ "gates": [], "max_concurrency": 1 });
    let project = Project::new("my project", &scenarios, &config);
    std::fs::write(
        project.root.join(".env"),
        "TOKEN=s3cr3t-value-of-this-test\n",
    )
    .unwrap();
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    project.ok(&["pr", "merge", "SYM-1"]);
    project.add_issue("Say more");
    project.tick_one("worker", "succeeded");
    project.tick_one("judge", "succeeded");
    project.add_issue("Wait");
    project
}

fn findings(project: &Project) -> Vec<String> {
    let answer = project.symphony(&["doctor", "--audit", "--json"]);
    let document = answer.json();
    let items = document["items"].as_array().unwrap();
    assert_eq!(answer.code, i32::from(!items.is_empty()), "{answer:#?}");
    let told = |item: &Value| {
        assert!(!text(&item["statement"]).is_empty(), "{item:#}");
        let parts = [&item["invariant"], &item["subject"], &item["detail"]].map(text);
        let root = project.root.display().to_string();
        format!("{} {}: {}", parts[0], parts[1], parts[2]).replace(&root, "ROOT")
    };
    items.iter().map(told).collect()
}

#[test]
fn the_audit_finds_what_is_planted_in_branches_and_worktrees() {
    let project = project();
    project.assert_sound();
    let stray = project.root.join(".symphony-workspaces/stray");
    std::fs::create_dir(&stray).unwrap();
    assert_eq!(
        findings(&project),
        ["I13 ROOT/.symphony-workspaces/stray: git knows no worktree there"]
    );
    std::fs::remove_dir(&stray).unwrap();

    let lock = project.root.join(".git/refs/heads/symphony/SYM-9.lock");
    std::fs::write(&lock, "").unwrap();
    let what =
        "a git process that was killed left this lock of branch symphony/SYM-9, which is gone";
    assert_eq!(
        findings(&project),
        [format!(
            "I13 ROOT/.git/refs/heads/symphony/SYM-9.lock: {what}: `symphony clean` removes it"
        )]
    );
    let planned = project.ok(&["clean", "--dry-run"]);
    assert!(
        planned.contains("SYM-9.lock, which a killed git command left behind."),
        "{planned}"
    );
    let done = project.ok(&["clean"]);
    assert!(
        done.contains("SYM-9.lock, which a killed git command left behind."),
        "{done}"
    );
    assert!(!lock.exists());

    let note = project
        .root
        .join(".git/worktrees/SYM-2/symphony-agent.json");
    std::fs::write(&note, "{}").unwrap();
    assert_eq!(
        findings(&project),
        [
            "I13 ROOT/.symphony-workspaces/SYM-2: its agent's git folder is still in place, and no run of it is live: what the agent \
             committed comes in when the next run of its issue is prepared, or when `symphony clean` removes the worktree"
        ]
    );
    std::fs::remove_file(&note).unwrap();

    let worktree = project.worktree("SYM-2").display().to_string();
    project.git(&["-C", &worktree, "switch", "-q", "--detach"]);
    assert_eq!(
        findings(&project),
        ["I13 ROOT/.symphony-workspaces/SYM-2: it has no branch checked out, not symphony/SYM-2"]
    );
    project.git(&["-C", &worktree, "switch", "-q", "symphony/SYM-2"]);

    let head = project.git(&["rev-parse", "symphony/SYM-2"]);
    project.git(&[
        "-C",
        &worktree,
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "later",
    ]);
    let later = project.git(&["rev-parse", "symphony/SYM-2"]);
    assert_eq!(
        findings(&project),
        [format!(
            "I9 pull request 2: its head is {head}, its branch symphony/SYM-2 is at {later}"
        )]
    );
    project.git(&["-C", &worktree, "reset", "-q", "--hard", &head]);

    let merged = project.git(&["rev-parse", "main"]);
    project.git(&["update-ref", "refs/heads/main", &format!("{merged}~1")]);
    assert_eq!(
        findings(&project),
        [format!(
            "I10 pull request 1: its merged commit {merged} is not in main"
        )]
    );
    project.git(&["update-ref", "refs/heads/main", &merged]);
    project.assert_sound();
}

#[test]
fn the_audit_finds_what_is_planted_in_processes_and_secrets() {
    let project = project();
    let run = text(&project.json(&["runs", "list"])["items"][0]["id"]);
    let mut left = project
        .program("sleep")
        .arg("60")
        .env("SYMPHONY_RUN_ID", &run)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert_eq!(
        findings(&project),
        [format!(
            "I3 {run}: process {} (sleep) is left of it",
            left.id()
        )]
    );
    left.kill().and_then(|()| left.wait()).unwrap();

    // written when nothing said that it is a secret
    let (secrets, away) = (project.root.join(".env"), project.root.join("env-away"));
    std::fs::rename(&secrets, &away).unwrap();
    project.ok(&[
        "issue",
        "comment",
        "SYM-3",
        "It is s3cr3t-value-of-this-test.",
    ]);
    std::fs::rename(&away, &secrets).unwrap();
    let log = project.run_folder(&run).join("log.txt");
    let before = std::fs::read(&log).unwrap();
    std::fs::write(&log, "echo s3cr3t-value-of-this-test").unwrap();
    let found = findings(&project);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].starts_with("I15 comment "), "{found:#?}");
    assert!(
        found[0].ends_with("its content contains the value of `TOKEN` in .env"),
        "{found:#?}"
    );
    let file =
        format!("I15 ROOT/.symphony/runs/{run}/log.txt: it contains the value of `TOKEN` in .env");
    assert_eq!(found[1], file);
    let shown = project.symphony(&["doctor", "--audit"]);
    assert!(
        !shown.stdout.contains("s3cr3t"),
        "the value is not told: {shown:#?}"
    );
    std::fs::write(&log, before).unwrap();

    // a run that was claimed long ago, and nobody is at work on
    let mut store = Store::open_existing(&project.root.join(".symphony/symphony.db")).unwrap();
    let project_id = ProjectId::parse("my-project").unwrap();
    let request = ClaimRequest {
        run: RunId::parse("orphan").unwrap(),
        start: StartRun {
            project: project_id,
            target: RunTarget::Issue(IssueId::parse("SYM-3").unwrap()),
            agent: AgentType::Worker,
            phase: None,
            attempt: 1,
            provider: "scripted".into(),
            probes: vec![],
        },
        protection: ProtectionLevel::None,
    };
    let long_ago = Context::system(Timestamp::from_second(1_700_000_000).unwrap());
    store
        .claim(&long_ago, &[request], &ClaimLimits::total(4))
        .unwrap()
        .remove(0)
        .unwrap();
    let found = findings(&project);
    assert_eq!(
        found[0],
        "I2 orphan: its lock is free because its supervisor died; `symphony tick` does its exit handling"
    );
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn what_is_printed_for_cron_ticks_under_cron() {
    let project = Project::new("100% it's", &scenarios([]), &json!({}));
    let view = project.json(&["doctor", "--cron"]);
    let last_tick = |view: &Value| {
        let checks = view["checks"].as_array().unwrap();
        let check = checks
            .iter()
            .find(|check| check["check"] == "last tick")
            .unwrap();
        text(&check["status"])
    };
    assert_eq!(last_tick(&view), "warning", "{view:#}");
    let bare = |shell: &str| -> Answer {
        let mut command = project.program("env");
        let home = project.beside.join("home");
        command
            .args(["-i", "-C", "/", "SHELL=/bin/sh", "PATH=/usr/bin:/bin"])
            .arg(format!("HOME={}", home.display()))
            .args(["/bin/sh", "-c", shell]);
        command.output().unwrap().into()
    };
    let line = text(&view["crontab"]);
    let command = line.strip_prefix("* * * * * ").unwrap().replace("\\%", "%");
    let answer = bare(&command);
    assert_eq!(
        (answer.code, answer.stdout.as_str()),
        (0, ""),
        "{command}: {answer:#?}"
    );
    let after = project.json(&["doctor", "--cron"]);
    assert_eq!(last_tick(&after), "ok", "{after:#}");

    // what systemd makes of the service: its quoting undone, its environment and nothing else
    let service = text(&view["service"]);
    assert!(service.contains("\nKillMode=process\n"), "{service}");
    let value = |key: &str| {
        let line = service.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap_or_else(|| panic!("{key} in {service}"))
            .replace("%%", "%")
    };
    let command = format!(
        "env {} {} --json",
        value("Environment="),
        value("ExecStart=")
    );
    let answer = bare(&command);
    assert_eq!(answer.code, 0, "{command}: {answer:#?}");
    assert_eq!(answer.json()["actions"], json!([]), "{answer:#?}");
    assert!(text(&view["timer"]).contains("\nOnCalendar=*:0/1\n"));
}

#[test]
fn what_others_may_read_and_what_is_in_the_way_is_said() {
    let project = project();
    let database = project.root.join(".symphony/symphony.db");
    let mode = database.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let said = |wanted: &str| {
        let answer = project.symphony(&["doctor"]);
        assert!(answer.stdout.contains(wanted), "{wanted}: {answer:#?}");
        answer.code
    };
    assert_eq!(
        said("permissions: only you can read the database and the files of runs"),
        0
    );
    assert_eq!(said("schema "), 0);
    std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(
        said(&format!("`chmod -R go-rwx {}`", database.display())),
        0
    );
    let elsewhere = project.beside.join("elsewhere");
    let path = elsewhere.to_str().unwrap();
    project.git(&["worktree", "add", "-q", "-b", "symphony/SYM-9", path]);
    assert_eq!(said(&format!("`git -C {path} switch --detach`")), 1);
}

#[test]
fn a_prefix_that_was_changed_in_the_configuration_is_told() {
    let project = Project::repository("place");
    project.ok(&["init", "--prefix", "OLD"]);
    let told = || {
        let doctor = project.symphony(&["doctor"]).stdout;
        let line = doctor.lines().find(|line| line.contains(" project: "));
        line.unwrap_or_default().trim().to_owned()
    };
    assert_eq!(told(), "ok       project: place, prefix OLD");
    project.ok(&["config", "set", "prefix", "NEW"]);
    assert_eq!(
        told(),
        "warning  project: place, prefix OLD; the prefix NEW of the configuration has no effect: identifiers of issues do not change"
    );
    project.ok(&["config", "set", "prefix", "OLD"]);
    assert_eq!(told(), "ok       project: place, prefix OLD");
}

/// A program on the search path that answers its version.
fn with_program(project: &mut Project, name: &str) {
    let bin = project.beside.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let file = bin.join(name);
    std::fs::write(&file, "#!/bin/sh\necho 1.0.0\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    project.set_variable("PATH", &format!("{}:{path}", bin.display()));
}

fn check(project: &Project, name: &str) -> (String, String, String) {
    let document = project.symphony(&["doctor", "--json"]).json();
    let items = document["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["check"] == name);
    let item = item.unwrap_or_else(|| panic!("{name} in {document:#}"));
    (
        text(&item["status"]),
        text(&item["detail"]),
        text(&item["fix"]),
    )
}

#[test]
fn nothing_that_is_missing_is_called_ok_and_each_failure_names_a_command() {
    let project = Project::repository("place");
    project.ok(&["init", "--no-try"]);
    let gates = r#"[{"name": "test", "command": "cd . && no-such-program-of-this-test --all && sh -c true"}]"#;
    project.ok(&["config", "set", "gates", gates]);
    let missing = json!({ "claude-cli": { "binary": "/nowhere/claude" } });
    project.ok(&["config", "set", "providers", &missing.to_string()]);
    project.ok(&["config", "set", "provider", "claude-cli"]);
    let answer = project.symphony(&["doctor", "--json"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    for item in answer.json()["items"].as_array().unwrap() {
        let (status, detail) = (text(&item["status"]), text(&item["detail"]));
        assert!(
            status != "ok" || !detail.contains("not installed"),
            "{item:#}"
        );
        assert!(
            status != "failed" || text(&item["fix"]).contains('`'),
            "{item:#}"
        );
    }
    let (status, detail, _) = check(&project, "gates");
    assert_eq!(
        (status.as_str(), detail.as_str()),
        (
            "failed",
            "`no-such-program-of-this-test` of test is not in the PATH that gates get"
        )
    );
    assert_eq!(check(&project, "provider").0, "failed");

    for (command, found) in [
        (
            "no-such-agent --run",
            "`no-such-agent`, which providers.command.command starts, is not in the PATH that agents get",
        ),
        (
            "/no/such/agent",
            "`/no/such/agent`, which providers.command.command starts, does not exist, or is not executable",
        ),
    ] {
        project.ok(&["config", "set", "providers.command.command", command]);
        project.ok(&["config", "set", "provider", "command"]);
        let (status, detail, _) = check(&project, "provider");
        assert_eq!((status.as_str(), detail.as_str()), ("failed", found));
    }

    let gates = r#"[{"name": "test", "command": "sh -c true", "required": false}]"#;
    project.ok(&["config", "set", "gates", gates]);
    let (status, detail, _) = check(&project, "gates");
    assert_eq!(status, "warning", "{detail}");
    assert!(detail.contains("`unverified`"), "{detail}");
}

#[test]
fn a_workflow_of_openai_symphony_is_named_and_reaches_no_prompt() {
    let project = Project::repository("place");
    project.ok(&["init", "--no-try"]);
    let issue = project.add_issue("Fix the parser");
    let workflow = project.root.join("WORKFLOW.md");
    std::fs::write(&workflow, "# How we work\n\nSmall commits.\n").unwrap();
    let named = |project: &Project| {
        let answer = project.symphony(&["doctor", "--json"]).json();
        let items = answer["items"].as_array().unwrap();
        let item = items.iter().find(|item| item["check"] == "workflow");
        item.map(|item| (text(&item["status"]), text(&item["detail"])))
    };
    assert_eq!(named(&project), None);
    let shown = project.ok(&["prompt", "show", "--text", &issue]);
    assert!(shown.contains("Small commits."), "{shown}");

    let theirs = "---\ntracker:\n  kind: linear\n---\nWork on {{ issue.identifier }}.\n";
    std::fs::write(&workflow, theirs).unwrap();
    let (status, detail) = named(&project).unwrap();
    assert_eq!(status, "ok");
    assert_eq!(
        detail,
        "WORKFLOW.md is in the format of openai/symphony: run it with `symphony run --workflow`. Prompts leave it out, so workers keep their profile"
    );
    let shown = project.ok(&["prompt", "show", "--text", &issue]);
    for part in ["kind: linear", "issue.identifier"] {
        assert!(!shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn whose_name_merges_carry_is_checked() {
    let project = Project::repository("place");
    project.ok(&["init", "--no-try"]);
    let (status, _, fix) = check(&project, "git identity");
    assert_eq!(status, "warning");
    assert!(fix.contains("git config --global user.email"), "{fix}");
    project.git(&["config", "user.name", "A Person"]);
    project.git(&["config", "user.email", "person@example.invalid"]);
    let (status, detail, _) = check(&project, "git identity");
    assert_eq!(
        (status.as_str(), detail.as_str()),
        ("ok", "A Person <person@example.invalid>")
    );
}

#[test]
#[cfg(not(feature = "temporal"))]
fn a_placement_that_this_program_does_not_have_is_named() {
    let project = Project::repository("place");
    project.ok(&["init", "--no-try"]);
    let service = json!({ "address": "http://127.0.0.1:7233" });
    let placement = json!({ "placement": "temporal", "temporal": service });
    project.configure_home(&placement.to_string());
    let (status, detail, fix) = check(&project, "placement");
    assert_eq!(status, "failed");
    assert!(
        detail.contains("was built without Temporal support"),
        "{detail}"
    );
    assert!(fix.contains("--features postgres,temporal"), "{fix}");
}

#[test]
fn a_login_is_looked_for_without_a_look_at_the_secret() {
    let mut project = Project::repository("place");
    with_program(&mut project, "claude");
    project.ok(&["init", "--no-try"]);
    project.ok(&["config", "set", "provider", "claude-cli"]);
    let (status, detail, fix) = check(&project, "login");
    assert_eq!(status, "warning", "{detail}");
    assert!(
        detail.contains("/home/.claude/.credentials.json does not exist"),
        "{detail}"
    );
    assert!(fix.contains("`/login`"), "{fix}");
    let folder = project.beside.join("home/.claude");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(".credentials.json"), "s3cr3t-of-this-test").unwrap();
    let (status, detail, _) = check(&project, "login");
    assert_eq!(status, "ok", "{detail}");
    assert!(
        detail.ends_with("the first run shows whether it is accepted"),
        "{detail}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
    project.set_variable("ANTHROPIC_API_KEY", "s3cr3t-of-this-test");
    let answer = project.symphony(&["doctor"]);
    assert!(
        answer.stdout.contains("ANTHROPIC_API_KEY is set"),
        "{answer:#?}"
    );
    assert!(!answer.stdout.contains("s3cr3t"), "{answer:#?}");
}

#[test]
fn a_gate_that_misses_an_ignored_file_gets_the_advice_to_copy_it() {
    let gates = json!({ "gates": [{ "name": "test", "command": "cat config.local" }] });
    let project = Project::new("project", &scenarios([]), &gates);
    project.commit_files(&[(".gitignore", "config.local\n")]);
    let trial = || project.symphony(&["doctor", "--gates"]);
    // what is nowhere is no file to copy
    let answer = trial();
    assert_eq!(answer.code, 1, "{answer:#?}");
    assert!(!answer.stderr.contains("worktree.copy"), "{answer:#?}");
    std::fs::write(project.root.join("config.local"), "key = 1\n").unwrap();
    let answer = trial();
    assert_eq!(answer.code, 1, "{answer:#?}");
    let advice = "config.local is in your folder, but git ignores it, so no checkout has it: `symphony config set worktree.copy '[\"config.local\"]'` copies it into each";
    assert!(answer.stderr.contains(advice), "{answer:#?}");
    project.ok(&["config", "set", "worktree.copy", "[\"config.local\"]"]);
    assert_eq!(trial().code, 0);
}
