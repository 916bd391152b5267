//! Repositories that are not plain: work goes on in them, or the message says what to do.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
use serde_json::{Value, json};

use crate::support::{
    Answer, Project, WORKER, bash, commit, create_pr, scenario, scenarios, text, until, worker,
};
use crate::transcript::{Transcript, assert_transcript};

fn project() -> Project {
    let works = scenario(
        "works",
        &json!({ "match_system": WORKER }),
        [commit("hello.txt", "hello"), create_pr("Say hello")],
    );
    Project::new("tool", &scenarios([works]), &json!({}))
}

/// Clones the project's repository into a folder beside it and sets Symphony up there.
fn clone(project: &Project, name: &str, options: &[&str]) -> PathBuf {
    let folder = project.beside.join(name);
    let (target, source) = (
        folder.to_str().unwrap(),
        format!("file://{}", project.root.display()),
    );
    project.git(&["config", "uploadpack.allowFilter", "true"]);
    project.git(&[&["clone", "-q"], options, &[&source, target]].concat());
    project.ok(&["-C", target, "init", "--prefix", "ODD"]);
    let config = project.root.join("symphony.config.json");
    let text = std::fs::read_to_string(config).unwrap();
    std::fs::write(
        folder.join("symphony.config.json"),
        text.replace("SYM", "ODD"),
    )
    .unwrap();
    folder
}

/// Works on a new issue in a folder; returns how the run ended, and its error.
fn work(project: &Project, folder: &Path) -> (Value, Value) {
    let folder = folder.to_str().unwrap();
    project.ok(&["-C", folder, "issue", "add", "Say hello"]);
    let tick = project.json(&["-C", folder, "tick", "--wait"]);
    let run = &tick["runs"][0];
    (run["status"].clone(), run["error"].clone())
}

fn succeeded() -> (Value, Value) {
    (json!("succeeded"), Value::Null)
}

#[test]
fn repositories_without_a_checkout_or_a_base_say_what_to_do() {
    let project = project();
    let bare = project.beside.join("bare.git");
    let bare = bare.to_str().unwrap();
    project.git(&["clone", "-q", "--bare", ".", bare]);
    let empty = project.beside.join("empty");
    let empty = empty.to_str().unwrap();
    project.git(&["init", "-q", empty]);
    let transcript = Transcript::of(&project)
        .run(&["-C", bare, "init"])
        .run(&["-C", bare, "status"])
        .run(&["-C", empty, "init"])
        .run(&["-C", empty, "status"]);
    project.git(&["checkout", "-q", "--detach"]);
    project.git(&["branch", "-m", "main", "odd"]);
    project.git(&["branch", "odder"]);
    let transcript = transcript
        .run(&["doctor"])
        .run(&["config", "set", "base_branch", "nowhere"])
        .run(&["doctor"])
        .run(&["config", "set", "base_branch", "odd"]);
    assert_transcript!("odd_repositories", transcript);
    assert_eq!(work(&project, &project.root), succeeded());
}

#[test]
fn a_shallow_clone_is_worked_in() {
    let project = project();
    project.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    let shallow = clone(&project, "shallow", &["--depth", "1"]);
    assert_eq!(work(&project, &shallow), succeeded());
}

#[test]
fn a_partial_clone_says_how_to_get_what_it_lacks() {
    let project = project();
    let partial = clone(
        &project,
        "partial",
        &["--no-checkout", "--filter=blob:none"],
    );
    let worktree = partial.join(".symphony-workspaces/ODD-1");
    let message = format!(
        "the files of {} cannot be read: its repository is a partial clone that lacks some of them; `git fetch --refetch --no-filter` there gets them",
        worktree.display()
    );
    assert_eq!(
        work(&project, &partial),
        (
            json!("failed"),
            json!({ "class": "worktree_failed", "message": message })
        )
    );
    // what the message says
    project.git(&[
        "-C",
        worktree.to_str().unwrap(),
        "fetch",
        "-q",
        "--refetch",
        "--no-filter",
    ]);
    assert_eq!(work(&project, &partial), succeeded());
}

#[test]
fn submodules_and_files_of_lfs_are_no_hindrance() {
    let project = project();
    let inner = project.beside.join("inner");
    project.git(&["clone", "-q", ".", inner.to_str().unwrap()]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"];
    project.git(&[&add[..], &[inner.to_str().unwrap(), "inner"]].concat());
    std::fs::write(
        project.root.join(".gitattributes"),
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    )
    .unwrap();
    std::fs::write(
        project.root.join("large.bin"),
        "version https://git-lfs.github.com/spec/v1\n",
    )
    .unwrap();
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "more"]);
    assert_eq!(work(&project, &project.root), succeeded());
    let changed = project.git(&["diff", "--name-only", "main", "symphony/SYM-1"]);
    assert_eq!(changed, "hello.txt", "no link and no pointer has changed");
    let pointer = std::fs::read_to_string(project.worktree("SYM-1").join("large.bin")).unwrap();
    assert_eq!(pointer, "version https://git-lfs.github.com/spec/v1\n");
    assert_eq!(
        told(&project),
        [
            "warning submodules: inner: their folders are empty in worktrees, and work continues without them",
            "warning git lfs: *.bin: worktrees have pointers instead of these files, and work continues without them (your global git configuration has no `filter.lfs`)",
        ]
    );
    // the user's own configuration runs a program that does not exist: git could fill no worktree
    project.git(&[
        "config",
        "--global",
        "filter.lfs.process",
        "no-such-lfs filter-process",
    ]);
    project.git(&["config", "--global", "filter.lfs.required", "true"]);
    let setup = json!({ "setup": "true # git submodule update --init" });
    project.configure_more(&json!({ "worktree": setup, "judge_enabled": false }));
    assert_eq!(
        told(&project),
        [
            "ok submodules: inner: the set-up command fills them (true # git submodule update --init)",
            "failed git lfs: no worktree can be created: your global git configuration runs `no-such-lfs` on *.bin, and that program is not in PATH",
        ]
    );
    // nobody's fault: the project waits, and goes on when the program is there
    project.add_issue("Say more");
    let transcript = Transcript::of(&project)
        .run(&["tick"])
        .run(&["explain", "SYM-2"])
        .run(&["inbox"]);
    assert_transcript!("missing_filter", transcript);
    assert_eq!(
        project.json(&["runs", "list"])["items"][0]["issue"],
        "SYM-1"
    );
    // one that git can do without
    project.git(&["config", "--global", "--unset", "filter.lfs.process"]);
    project.git(&["config", "--global", "filter.lfs.required", "false"]);
    project.git(&[
        "config",
        "--global",
        "filter.lfs.smudge",
        "no-such-lfs smudge",
    ]);
    assert_eq!(
        told(&project)[1],
        "warning git lfs: *.bin: worktrees have pointers instead of these files, and work continues without them (`no-such-lfs` is not in PATH)"
    );
    assert_eq!(project.tick_one("worker", "succeeded")["issue"], "SYM-2");
}

/// Symphony runs no command of the repository's own configuration, so its commit of what an agent left would be in clear.
#[test]
fn files_that_only_the_users_git_encrypts_hold_the_project() {
    let attributes = |own: bool| {
        let project = project();
        project.git(&["config", "filter.crypt.clean", "tr a-z A-Z"]);
        project.git(&["config", "filter.crypt.smudge", "tr A-Z a-z"]);
        let file = if own {
            ".git/info/attributes"
        } else {
            ".gitattributes"
        };
        std::fs::write(project.root.join(file), "*.key filter=crypt\n").unwrap();
        std::fs::write(project.root.join("a.key"), "secret\n").unwrap();
        project.git(&["add", "-A"]);
        project.git(&["commit", "-q", "-m", "encrypted"]);
        project
    };
    for own in [false, true] {
        let project = attributes(own);
        project.add_issue("Say hello");
        let answer = project.symphony(&["tick"]);
        assert_eq!(answer.code, 1, "{answer:#?}");
        let held = "no worktree can be created: git's filter `crypt` applies to *.key, and Symphony may not run it";
        assert!(answer.stderr.contains(held), "{answer:#?}");
        assert_eq!(project.json(&["runs", "list"])["items"], json!([]));
        let doctor = project.symphony(&["doctor"]).stdout;
        assert!(
            doctor.contains(&format!("failed   git filters: {held}")),
            "{doctor}"
        );
    }
    // as the fix says
    let project = attributes(false);
    project.add_issue("Say hello");
    assert_eq!(project.symphony(&["tick"]).code, 1);
    project.git(&["config", "--global", "filter.crypt.clean", "tr a-z A-Z"]);
    project.git(&["config", "--global", "filter.crypt.smudge", "tr A-Z a-z"]);
    project.configure_more(&json!({ "git": { "trusted_filters": ["crypt"] } }));
    project.ok(&["resume"]);
    assert_eq!(project.tick_one("worker", "succeeded")["issue"], "SYM-1");
    let plain = std::fs::read_to_string(project.worktree("SYM-1").join("a.key")).unwrap();
    assert_eq!(plain, "secret\n");
    let changed = project.git(&["diff", "--name-only", "main", "symphony/SYM-1"]);
    assert_eq!(changed, "hello.txt");
    let doctor = project.symphony(&["doctor"]).stdout;
    assert!(
        doctor.contains("git filters: *.key: `tr` runs on them"),
        "{doctor}"
    );
}

/// The base has no such filter, so nothing was held when the agent began.
#[test]
fn a_filter_that_a_change_brings_along_commits_nothing_unfiltered_and_is_named() {
    let scenarios = scenarios([worker([
        bash("echo '*.key filter=crypt' > .gitattributes; echo secret > a.key; echo plain > b.txt"),
        create_pr("Add a key"),
        bash("git add .gitattributes b.txt; git commit -qm Attributes; rm a.key"),
        create_pr("Add a key"),
        bash("echo secret > a.key"),
    ])]);
    let project = Project::new("project", &scenarios, &json!({}));
    let marker = project.beside.join("ran");
    let filter = format!("touch {} && cat", marker.display());
    project.git(&["config", "filter.crypt.clean", &filter]);
    project.add_issue("Add a key");
    let runs = project.tick_wait();
    let run = text(&runs[0]["id"]);
    let errors = project.tool_errors(&run);
    assert_eq!(errors.len(), 2, "{errors:#?}");
    for (error, named) in errors.iter().zip(["a.key", "*.key"]) {
        let expected =
            format!("git's filter `crypt` applies to {named}, and Symphony may not run it");
        assert!(error.contains(&expected), "{error}");
    }
    let files = project.git(&["ls-tree", "-r", "--name-only", "symphony/SYM-1"]);
    assert!(
        files.contains("b.txt") && !files.contains("a.key"),
        "{files}"
    );
    assert!(!marker.exists(), "Symphony ran the filter");
    let left = "a.key: filter crypt";
    let shown = project.ok(&["runs", "show", &run]);
    assert!(shown.contains(left), "{shown}");
    let inbox = project.ok(&["inbox"]);
    assert!(inbox.contains(left), "{inbox}");
    project.assert_sound();
}

#[test]
fn a_change_whose_filter_was_configured_later_is_not_merged_without_a_word() {
    let scenarios = scenarios([worker([
        commit(".gitattributes", "*.key filter=crypt"),
        create_pr("Name a filter"),
    ])]);
    let config = json!({ "judge_enabled": false });
    let project = Project::new("project", &scenarios, &config);
    project.add_issue("Name a filter");
    project.tick_one("worker", "succeeded");
    project.git(&["config", "filter.crypt.clean", "cat"]);
    project.ok(&["pr", "approve", "1"]);
    let refused = project.symphony(&["pr", "merge", "1"]);
    let why = "its `.gitattributes` apply the git filter `crypt` to *.key, and Symphony may not run that filter";
    assert!(
        refused.code != 0 && refused.stderr.contains(why),
        "{refused:#?}"
    );
    assert!(
        !project
            .git(&["ls-tree", "--name-only", "main"])
            .contains(".gitattributes")
    );
    project.ok(&["pr", "merge", "1", "--force"]);
}

#[test]
fn a_problem_that_lasts_is_mailed_once() {
    let project = project();
    let gates = json!([{ "name": "test", "command": "true" }]);
    project.configure_more(&json!({ "base_branch": "develop", "gates": gates }));
    project.add_issue("Say hello");
    project.ok(&["pause"]);
    let mailed = || {
        let tick = project.symphony(&["--quiet", "tick"]);
        assert_eq!(tick.stdout, "");
        (tick.code, tick.stderr.contains("project tool is on hold"))
    };
    assert_eq!([mailed(), mailed()], [(1, true), (1, false)]);
    project.git(&["branch", "develop"]);
    assert_eq!(mailed(), (0, false));
    project.git(&["branch", "-D", "develop"]);
    assert_eq!([mailed(), mailed()], [(1, true), (1, false)]);
    assert!(project.json(&["status"])["last_tick_at"].is_string());
    // a person who looks sees it once each time, without a line of a log
    assert_eq!(project.symphony(&["tick"]).stderr.lines().count(), 1);
    for command in [&["inbox"][..], &["explain", "SYM-1"]] {
        let answer = project.symphony(command);
        assert_eq!(answer.stderr, "", "{command:?}");
        let named = answer.stdout.matches("`develop` does not exist").count();
        assert_eq!(named, 1, "{command:?}: {}", answer.stdout);
    }
}

#[test]
fn worktrees_of_ended_issues_wait_quietly_for_a_missing_base() {
    let project = project();
    project.configure_more(&json!({ "base_branch": "develop", "judge_enabled": false }));
    project.git(&["branch", "develop"]);
    assert_eq!(work(&project, &project.root), succeeded());
    project.git(&["branch", "-m", "develop", "elsewhere"]);
    project.ok(&["issue", "move", "SYM-1", "cancelled"]);
    let told = project.symphony(&["tick"]);
    let problem = "warning: project tool is on hold: its base branch `develop` does not exist";
    assert_eq!(told.stderr.matches("warning:").count(), 1, "{told:#?}");
    assert!(told.stderr.starts_with(problem), "{told:#?}");
    assert!(project.worktree("SYM-1").exists());
    project.git(&["branch", "-m", "elsewhere", "develop"]);
    project.ok(&["tick"]);
    assert!(!project.worktree("SYM-1").exists());
}

/// What an issue's agent deletes while it works, and what is missing before any works.
#[test]
fn a_missing_base_holds_the_project_and_uses_no_attempt() {
    let deletes = scenario(
        "deletes the base",
        &json!({ "match_system": WORKER, "uses": 1 }),
        [bash("git -C ../.. branch -D develop")],
    );
    let works = scenario(
        "works",
        &json!({ "match_system": WORKER }),
        [commit("hello.txt", "hello"), create_pr("Say hello")],
    );
    let config = json!({ "base_branch": "develop", "max_concurrency": 1, "judge_enabled": false });
    let project = Project::new("tool", &scenarios([deletes, works]), &config);
    project.add_issue("Say hello");
    project.add_issue("Say more");
    let transcript = Transcript::of(&project)
        .run(&["tick"])
        .run(&["status"])
        .run(&["explain", "SYM-2"])
        .run(&["inbox"])
        .run(&["doctor"]);
    assert_eq!(project.json(&["runs", "list"])["items"], json!([]));

    project.git(&["branch", "develop"]);
    let run = project.tick_one("worker", "cancelled");
    assert_eq!(
        run["error"]["message"],
        format!(
            "after the agent's end: there is no branch `develop` in {}",
            project.root.display()
        )
    );
    let issue = project.issue("SYM-1");
    let counts = ["status", "total_runs", "consecutive_failures"].map(|key| issue[key].clone());
    assert_eq!(counts, [json!("todo"), json!(0), json!(0)]);
    assert_eq!(project.retries(), [json!(null); 0]);
    let transcript = transcript.run(&["tick"]).run(&["explain", "SYM-1"]);
    assert_eq!(
        project.json(&["runs", "list"])["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_transcript!("missing_base", transcript);

    project.git(&["branch", "develop"]);
    project.tick_one("worker", "succeeded");
    assert_eq!(project.json(&["inbox"])["items"][0]["kind"], "review");
}

/// What holds the project, and the first command that answers it.
fn held(project: &Project) -> (String, String) {
    let inbox = project.json(&["inbox"]);
    let item = &inbox["items"][0];
    assert_eq!(item["kind"], "project", "{inbox:#}");
    (text(&item["text"]), text(&item["answers"][0]))
}

#[test]
fn a_repository_that_says_it_is_bare_is_held_until_the_setting_is_repaired() {
    let sets = scenario(
        "sets it",
        &json!({ "match_system": WORKER, "uses": 1 }),
        [bash("git -C ../.. config core.bare true")],
    );
    let works = scenario(
        "works",
        &json!({ "match_system": WORKER }),
        [commit("hello.txt", "hello"), create_pr("Say hello")],
    );
    let config = json!({ "judge_enabled": false, "max_retry_backoff_ms": 500 });
    let project = Project::new("tool", &scenarios([sets, works]), &config);
    project.add_issue("Say hello");
    project.git(&["config", "core.bare", "true"]);
    for _ in 0..3 {
        assert_eq!(project.tick_wait(), [json!(null); 0]);
    }
    let (why, answer) = held(&project);
    assert!(why.contains("`core.bare` is true"), "{why}");
    assert_eq!(answer, "git config core.bare false");
    let doctor = project.symphony(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("`git config core.bare false` repairs it"),
        "{doctor:#?}"
    );
    let audit = project.symphony(&["doctor", "--audit"]);
    assert!(audit.stdout.contains("I13  project tool"), "{audit:#?}");

    // now its first agent sets it: what it left is put away when that can be done again
    project.git(&["config", "core.bare", "false"]);
    project.ok(&["tick"]);
    until("its exit handling to be put off", || {
        project.symphony(&["tick"]);
        let inbox = project.json(&["inbox"]).to_string();
        (inbox.contains("is not saved yet") && inbox.contains("core.bare")).then_some(())
    });
    project.git(&["config", "core.bare", "false"]);
    until("the second agent to hand in", || {
        project.symphony(&["tick"]);
        let issue = project.issue("SYM-1");
        (issue["pull_requests"][0]["state"] == "open").then_some(())
    });
    let runs = project.json(&["runs", "list"]);
    let workers = runs["items"].as_array().unwrap().iter();
    assert_eq!(
        workers.filter(|run| run["profile"] == "worker").count(),
        2,
        "{runs:#}"
    );
}

#[test]
fn a_branch_in_the_place_of_all_branches_holds_the_project_until_it_is_renamed() {
    let project = project();
    project.git(&["branch", "symphony"]);
    project.add_issue("Say hello");
    for _ in 0..3 {
        assert_eq!(project.tick_wait(), [json!(null); 0]);
    }
    let (why, answer) = held(&project);
    assert!(why.contains("the branch `symphony` is in the way"), "{why}");
    assert_eq!(answer, "git branch -m symphony NEWNAME");
    let doctor = project.symphony(&["doctor"]);
    assert!(
        doctor.stdout.contains("`git branch -m symphony NEWNAME`"),
        "{doctor:#?}"
    );
    project.git(&["branch", "-m", "symphony", "mine"]);
    project.tick_one("worker", "succeeded");
    project.assert_sound();
}

/// What doctor tells of files that a checkout does not have.
fn told(project: &Project) -> Vec<String> {
    let doctor = project.symphony(&["doctor", "--json"]).json();
    let items = doctor["items"].as_array().unwrap().iter();
    let about = items.filter(|item| item["check"] == "submodules" || item["check"] == "git lfs");
    about
        .map(|item| {
            let [status, check, detail] = ["status", "check", "detail"].map(|key| text(&item[key]));
            format!("{status} {check}: {detail}")
        })
        .collect()
}

#[test]
fn a_base_that_leads_to_a_branch_of_an_agent_holds_the_project() {
    let project = project();
    project.configure_more(&json!({ "judge_enabled": false }));
    let before = project.git(&["rev-parse", "main"]);
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    project.git(&[
        "symbolic-ref",
        "refs/heads/main",
        "refs/heads/symphony/SYM-1",
    ]);
    let next = project.add_issue("Say more");
    assert_eq!(project.tick_wait(), Vec::<Value>::new());
    assert_eq!(project.issue(&next)["status"], "todo");
    let inbox = project.ok(&["inbox"]);
    let why = "its base branch `main` is a symbolic ref to `symphony/SYM-1`";
    assert!(inbox.contains(why), "{inbox}");
    let repair = "git update-ref --no-deref refs/heads/main COMMIT";
    assert!(inbox.contains(repair), "{inbox}");
    project.git(&["update-ref", "--no-deref", "refs/heads/main", &before]);
    let inbox = project.ok(&["inbox"]);
    assert!(!inbox.contains("is a symbolic ref to"), "{inbox}");
    // a name that a person gave the branch is none of it
    project.git(&["symbolic-ref", "refs/heads/master", "refs/heads/main"]);
    project.ok(&["config", "set", "base_branch", "master"]);
    let inbox = project.ok(&["inbox"]);
    assert!(!inbox.contains("is a symbolic ref to"), "{inbox}");
}

/// Runs a command without the superuser's right to write everywhere.
fn as_ordinary(project: &Project, arguments: &[&str]) -> Answer {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                // only this thread loses it, and what it starts
                for right in [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH] {
                    remove_capability_from_bounding_set(right).unwrap();
                }
            }
            project.symphony(arguments)
        });
        thread.join().unwrap()
    })
}

#[test]
fn a_git_folder_that_cannot_be_written_holds_the_project_before_an_agent_is_paid() {
    let project = project();
    project.add_issue("Say hello");
    project.add_issue("Say hello again");
    for name in ["objects", "refs/heads"] {
        let folder = project.root.join(".git").join(name);
        let set = |mode: u32| {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(0o555);
        let tick = as_ordinary(&project, &["tick", "--wait", "--json"]);
        assert_eq!(
            project.json(&["runs", "list"])["items"],
            json!([]),
            "{tick:#?}"
        );
        let inbox = as_ordinary(&project, &["inbox", "--json"]);
        let inbox: Value = serde_json::from_str(&inbox.stdout).unwrap();
        let item = &inbox["items"][0];
        assert_eq!(item["kind"], "project", "{inbox:#}");
        let said = text(&item["text"]);
        let named = format!("git cannot write to {}", folder.display());
        assert!(said.contains(&named), "{said}");
        let repair = format!("chmod -R u+rwX {}", folder.display());
        assert_eq!(item["answers"], json!([repair]));
        let explained = as_ordinary(&project, &["explain", "SYM-1"]);
        assert!(explained.stdout.contains(&named), "{explained:#?}");
        let doctor = as_ordinary(&project, &["doctor"]);
        assert_ne!(doctor.code, 0);
        assert!(doctor.stdout.contains(&named), "{}", doctor.stdout);
        assert!(doctor.stdout.contains(&repair), "{}", doctor.stdout);
        set(0o755);
    }
    project.tick_wait();
    assert_eq!(project.issue("SYM-1")["status"], "review");
    project.assert_sound();
}
