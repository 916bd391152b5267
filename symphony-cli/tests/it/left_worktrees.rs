//! Temporary worktrees that an agent damaged: what it did is kept, a person hears of them, and one command removes them.

use serde_json::{Value, json};

use crate::support::{Project, bash, git_commit, scenario, scenarios, text};

#[test]
fn a_damaged_temporary_worktree_is_kept_told_and_removed_with_all_that_is_in_it() {
    for damage in [
        "rm -r .git; mkdir .git",
        "echo garbage > .git/HEAD",
        "rm -r .git; ln -s ../../.git .git",
    ] {
        let found = git_commit("found.txt", "found");
        let command = format!("echo found > found.txt; {found}; {damage}; echo loose > loose.txt");
        let plays = scenarios([scenario(
            "scan",
            &json!({ "match_system": "^# Scanner$" }),
            [bash(&command)],
        )]);
        let config = json!({ "scanner_enabled": true, "scanner_interval_ms": 0 });
        let project = Project::new("scanned", &plays, &config);
        let run = project.tick_one("scanner", "tampered");
        project.ok(&["config", "set", "scanner_enabled", "false"]);
        let folder = project.root.join(text(&run["worktree"]));
        let rescues = || {
            let refs = project.git(&[
                "for-each-ref",
                "--format=%(refname)",
                "refs/symphony/rescue",
            ]);
            refs.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(rescues(), [""; 0], "nothing of it can be trusted");
        let inbox = project.json(&["inbox"]);
        let item = &inbox["items"][0];
        let words = text(&item["text"]);
        assert!(words.contains("_scanner-"), "{item:#}");
        assert_eq!(item["answers"][0], "symphony clean", "{item:#}");
        let audit = project.symphony(&["doctor", "--audit"]);
        assert!(audit.stdout.contains("symphony clean"), "{audit:#?}");
        project.ok(&["clean"]);
        assert!(!folder.exists(), "{damage}");
        assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
        let [rescue] = rescues().try_into().unwrap();
        let kept = project.git(&["ls-tree", "-r", "--name-only", &rescue]);
        for file in ["found.txt", "loose.txt"] {
            assert!(kept.lines().any(|name| name == file), "{damage}: {kept}");
        }
        assert_eq!(project.json(&["inbox"])["items"], Value::Array(Vec::new()));
        project.assert_sound();
    }
}
