//! Temporary worktrees that an agent damaged: what it did is kept, a person hears of them, and one command removes them.

use serde_json::{Value, json};

use crate::support::{Project, bash, git_commit, scenario, scenarios, text};

#[test]
fn a_damaged_temporary_worktree_is_kept_told_and_removed_with_all_that_is_in_it() {
    for damage in [
        "rm .git; mkdir .git",
        "rm .git; git init -q .; echo more > more.txt; git add more.txt; git -c user.name=w -c user.email=w@w commit -qm more",
        "rm .git; ln -s /nowhere .git",
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
        let [kept] = rescues().try_into().unwrap();
        assert_eq!(
            project.git(&["show", &format!("{kept}:found.txt")]).trim(),
            "found"
        );
        let inbox = project.json(&["inbox"]);
        let item = &inbox["items"][0];
        let words = text(&item["text"]);
        assert!(
            words.contains(&kept) && words.contains("_scanner-"),
            "{item:#}"
        );
        assert_eq!(item["answers"][0], "symphony clean", "{item:#}");
        let audit = project.symphony(&["doctor", "--audit"]);
        assert!(audit.stdout.contains("symphony clean"), "{audit:#?}");
        project.ok(&["clean"]);
        assert!(!folder.exists(), "{damage}");
        assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
        let loose = rescues().into_iter().any(|rescue| {
            let shown = project.git(&["ls-tree", "-r", "--name-only", &rescue]);
            shown.lines().any(|name| name == "loose.txt")
        });
        assert!(loose, "{damage}: {:?}", rescues());
        assert_eq!(project.json(&["inbox"])["items"], Value::Array(Vec::new()));
        project.assert_sound();
    }
}
