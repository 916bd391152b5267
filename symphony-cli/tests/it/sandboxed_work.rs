//! The work itself in a sandbox: agents commit, hand in, are reviewed and merged, by namespaces as without them.

use serde_json::{Value, json};

use crate::support::{
    JUDGE, Project, WORKER, bash, call, commit, create_pr, kill, scenario, scenarios,
    supervisor_of, turn, until, worker,
};

fn namespace(more: &Value) -> Value {
    let mut config = json!({ "sandbox": "namespace" });
    let fields = more.as_object().unwrap().clone();
    config.as_object_mut().unwrap().extend(fields);
    config
}

#[test]
fn a_rejected_change_is_made_again_on_what_was_committed() {
    let first = scenario(
        "first",
        &json!({ "match_system": WORKER, "uses": 1 }),
        [commit("hello.txt", "hello there"), create_pr("Say hello")],
    );
    let second = scenario(
        "second",
        &json!({ "match_system": WORKER }),
        [
            // what the first one committed is there, and the base to compare with
            bash(
                "git log --format=%s main..HEAD | grep -q hello.txt && git diff --quiet main -- README.md",
            ),
            commit("hello.txt", "hello"),
            turn(call(
                "mcp__symphony__answer_review_point",
                json!({ "point": 1, "answer": "fixed", "text": "It is shorter." }),
            )),
            create_pr("Say hello"),
        ],
    );
    let reject = scenario(
        "reject",
        &json!({ "match_system": JUDGE, "uses": 1 }),
        [turn(call(
            "mcp__symphony__reject_pr",
            json!({ "feedback": "Too long." }),
        ))],
    );
    let scenarios = scenarios([first, second, reject]);
    let project = Project::new(
        "project",
        &scenarios,
        &namespace(&json!({ "max_retry_backoff_ms": 1, "judge_cooldown_ms": 0 })),
    );
    project.add_issue("Say hello");
    for (profile, status) in [
        ("worker", "succeeded"),
        ("judge", "succeeded"),
        ("worker", "succeeded"),
    ] {
        let run = project.tick_one(profile, status);
        assert_eq!(run["sandbox"]["level"], "namespace", "{run:#}");
    }
    let subjects = project.git(&["log", "--format=%s", "main..symphony/SYM-1"]);
    assert_eq!(subjects, "write hello.txt\nwrite hello.txt");
    assert_eq!(project.git(&["show", "symphony/SYM-1:hello.txt"]), "hello");
    assert_eq!(project.issue("SYM-1")["status"], "review");
    project.assert_sound();
}

#[test]
fn no_commit_is_lost_when_the_supervisor_is_killed() {
    let work = "git add -A; echo one > one.txt && git add one.txt && \
                git -c user.name=w -c user.email=w@example.invalid commit -qm one && echo two > two.txt && \
                git stash -qu && touch begun && exec sleep 600";
    let config = json!({
        "sandbox": "namespace", "judge_enabled": false, "provider": "command",
        "providers": { "command": { "command": work, "output": "text" } },
    });
    let project = Project::new("project", &scenarios([]), &config);
    project.add_issue("Say hello");
    let run = project.tick_start();
    until("it has committed", || {
        project
            .worktree("SYM-1")
            .join("begun")
            .exists()
            .then_some(())
    });
    // nothing of it is seen in the project yet
    let ahead = project.git(&["rev-list", "--count", "main..symphony/SYM-1"]);
    assert_eq!(ahead, "0");
    kill(supervisor_of(&run).unwrap());
    project.tick_wait();
    project.until_ended(&run);
    assert_eq!(project.git(&["show", "symphony/SYM-1:one.txt"]), "one");
    let rescues = project.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/symphony/rescue",
    ]);
    let stashed = rescues.lines().any(|rescue| {
        let files = project.git(&["ls-tree", "-r", "--name-only", &format!("{rescue}^3")]);
        files.contains("two.txt")
    });
    assert!(stashed, "{rescues}");
    project.assert_sound();
}

/// What git of the agent reaches: its own refs, and nothing of the project's.
#[test]
fn git_of_an_agent_changes_nothing_of_the_project() {
    let attack = "exec > seen.txt 2>&1; set +e; git -C ../.. status && echo opened; git update-ref refs/heads/main HEAD~0; \
                  git config core.hooksPath /evil; echo evil > .git/hooks.txt; \
                  git --git-dir=../../.git branch -D feature && echo deleted; \
                  git cat-file -p feature && echo seen; git stash list; true";
    let project = Project::new(
        "project",
        &scenarios([worker([bash(attack), create_pr("Attack")])]),
        &namespace(&json!({ "judge_enabled": false })),
    );
    project.git(&["branch", "feature"]);
    let before = project.git(&["for-each-ref"]);
    let config = std::fs::read_to_string(project.root.join(".git/config")).unwrap();
    project.add_issue("Attack");
    project.tick_one("worker", "succeeded");
    let after = project.git(&["for-each-ref"]);
    for line in before.lines() {
        assert!(after.contains(line), "{line}: {after}");
    }
    assert_eq!(
        std::fs::read_to_string(project.root.join(".git/config")).unwrap(),
        config
    );
    let seen = project.git(&["show", "symphony/SYM-1:seen.txt"]);
    for word in ["opened", "deleted", "seen\n"] {
        assert!(!seen.lines().any(|line| line == word.trim()), "{seen}");
    }
    project.assert_sound();
}

#[test]
fn git_works_in_a_set_up_command() {
    let setup = "git log -1 --format=%s > .git-says && git submodule update --init";
    let project = Project::new(
        "project",
        &scenarios([worker([
            commit("hello.txt", "hello"),
            create_pr("Say hello"),
        ])]),
        &namespace(&json!({ "judge_enabled": false, "worktree": { "setup": setup } })),
    );
    project.add_issue("Say hello");
    project.tick_one("worker", "succeeded");
    let says = std::fs::read_to_string(project.worktree("SYM-1").join(".git-says")).unwrap();
    assert_eq!(
        says.trim(),
        project.git(&["log", "-1", "--format=%s", "main"])
    );
    assert_eq!(project.issue("SYM-1")["status"], "review");
    project.assert_sound();
}

/// Large files are kept in the agent's own git folder, and those of the project are read there.
#[test]
fn an_agent_reads_and_adds_large_files() {
    let project = Project::repository("probe");
    let version = project.program("git-lfs").arg("version").output();
    if version.is_err() {
        eprintln!("NOT TESTED HERE: Git LFS, because git-lfs is not installed");
        return;
    }
    let work = "set -e; rm old.bin; git checkout -q old.bin; cp old.bin read.txt; printf 'a new large file' > new.bin; \
                git add new.bin read.txt; git -c user.name=w -c user.email=w@example.invalid commit -qm 'Add a file'";
    for level in ["off", "namespace"] {
        let project = Project::new(
            "project",
            &scenarios([worker([bash(work), create_pr("Add a large file")])]),
            &json!({ "judge_enabled": false, "sandbox": level }),
        );
        for (name, value) in [
            ("filter.lfs.clean", "git-lfs clean -- %f"),
            ("filter.lfs.smudge", "git-lfs smudge -- %f"),
            ("filter.lfs.process", "git-lfs filter-process"),
            ("filter.lfs.required", "true"),
        ] {
            project.git(&["config", "--global", name, value]);
        }
        let attributes = "*.bin filter=lfs diff=lfs merge=lfs -text\n";
        project.commit_files(&[
            (".gitattributes", attributes),
            ("old.bin", "an old large file"),
        ]);
        project.add_issue("Add a large file");
        project.tick_one("worker", "succeeded");
        let shown = |file: &str| project.git(&["show", &format!("symphony/SYM-1:{file}")]);
        assert_eq!(shown("read.txt"), "an old large file", "{level}");
        let pointer = shown("new.bin");
        let name = pointer
            .split("oid sha256:")
            .nth(1)
            .unwrap_or_else(|| panic!("{level}: {pointer}"));
        let name = name.lines().next().unwrap();
        let (first, rest) = name.split_at(2);
        let (second, _) = rest.split_at(2);
        let kept = format!(".git/lfs/objects/{first}/{second}/{name}");
        let kept = std::fs::read_to_string(project.root.join(&kept));
        assert_eq!(kept.unwrap(), "a new large file", "{level}");
        project.assert_sound();
    }
}
