//! What holds when all is over, and the story of what is not.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::{Field, NOTED, phases_of};
use crate::plan_support::runs_of;
use crate::support::{text, until};

/// Kills that the story of a failure tells.
const KILLS_TOLD_MAX: usize = 60;

impl Field {
    pub(super) fn check(&self) {
        let project = &self.project;
        until("the end of all processes", || {
            project.processes().is_empty().then_some(())
        });
        project.assert_sound();
        assert_eq!(project.git(&["status", "--porcelain", "-uno"]), "");
        self.check_untracked();
        let branches = project.git(&["branch", "--list", "symphony/*"]);
        assert_eq!(branches, "", "{}", self.story());
        let trees = project.git(&["worktree", "list", "--porcelain"]);
        assert_eq!(
            trees.matches("worktree ").count(),
            1,
            "{trees} {}",
            self.story()
        );
        self.check_folders();
        assert!(project.git_locks().is_empty(), "{:?}", project.git_locks());
        project.git(&["fsck", "--no-dangling"]);
        for issue in &self.issues {
            self.check_issue(issue);
        }
        for plan in 1..=self.plans {
            self.check_plan(plan);
        }
    }

    /// The person's plans are the person's to commit; nothing else is untracked.
    fn check_untracked(&self) {
        let untracked = self
            .project
            .git(&["ls-files", "--others", "--exclude-standard"]);
        let strange: Vec<&str> = untracked
            .lines()
            .filter(|path| !path.starts_with("plan-") && *path != ".symphony-state.json")
            .collect();
        assert!(strange.is_empty(), "{strange:?}");
    }

    /// No worktree, checkout, merge or run is left unfinished, and no file half written.
    fn check_folders(&self) {
        let root = &self.project.root;
        for folder in [
            ".symphony-workspaces",
            ".symphony/unfinished",
            ".symphony/merging",
        ] {
            let left = names_in(&root.join(folder));
            assert!(left.is_empty(), "{folder}: {left:?} {}", self.story());
        }
        let runs = root.join(".symphony/runs");
        let runs = names_in(&runs).into_iter().map(|run| runs.join(run));
        for folder in [root.clone(), root.join(".symphony"), root.join(".git")]
            .into_iter()
            .chain(runs)
        {
            let names = names_in(&folder).into_iter();
            let half: Vec<String> = names.filter(|name| is_half_written(name)).collect();
            assert!(half.is_empty(), "{}: {half:?}", folder.display());
        }
    }

    fn check_issue(&self, issue: &str) {
        let project = &self.project;
        let runs = project.json(&["runs", "list", "--issue", issue, "-n", "0"]);
        let runs = runs["items"].as_array().unwrap();
        assert_apart(runs);
        let noted = project.git(&["show", &format!("main:work-{issue}.txt")]);
        let workers: Vec<&Value> = runs
            .iter()
            .filter(|run| run["profile"] == "worker")
            .collect();
        self.assert_noted_once(issue, &noted, &workers);
        let prs = project.json(&["pr", "list", "--issue", issue]);
        let merged = prs["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|pr| pr["state"] == "merged");
        assert_eq!(merged.count(), 1, "{prs:#}");
    }

    /// Each phase completed once and never ran again, and its work is on the base once.
    fn check_plan(&self, number: usize) {
        let project = &self.project;
        let plan = format!("plan-{number}");
        let events = project.ok(&["events", "--plan", &plan, "-n", "0", "--json"]);
        let events: Vec<Value> = events
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for phase in phases_of(number) {
            let runs = runs_of(project, &plan, &phase);
            assert_apart(&runs);
            let noted = project.git(&["show", &format!("main:work-{phase}.txt")]);
            let mut told: Vec<String> = events
                .iter()
                .map(|event| text(&event["sentence"]))
                .collect();
            told.retain(|sentence| sentence.starts_with(&format!("Phase {phase} ")));
            let completed = format!("Phase {phase} completed");
            let times = told.iter().filter(|sentence| **sentence == completed);
            assert_eq!(times.count(), 1, "{told:#?}");
            assert_eq!(told.last(), Some(&completed), "it ran again: {told:#?}");
            let last: Vec<&Value> = runs.last().into_iter().collect();
            self.assert_noted_once(&phase, &noted, &last);
        }
        let prs = project.json(&["pr", "list", "--state", "merged", "--plan", &plan]);
        assert_eq!(prs["items"].as_array().unwrap().len(), 1, "{prs:#}");
    }

    /// What each of these runs did is on the base once.
    fn assert_noted_once(&self, of: &str, noted: &str, runs: &[&Value]) {
        let unique: BTreeSet<&str> = noted.lines().collect();
        assert_eq!(
            unique.len(),
            noted.lines().count(),
            "twice in {of}: {noted}"
        );
        for run in runs {
            let id = text(&run["id"]);
            let worked = self.project.run_log_has(&id, NOTED);
            assert!(
                !worked || unique.contains(id.as_str()),
                "lost in {of}: {run:#} {}",
                self.story()
            );
        }
    }

    /// What is not over, what Symphony says of it, and who was killed last.
    pub(super) fn story(&self) -> String {
        let project = &self.project;
        let mut told = String::new();
        let mut show = |arguments: &[&str]| {
            let answer = project.symphony(arguments);
            let (out, err) = (answer.stdout, answer.stderr);
            writeln!(told, "\n$ symphony {}\n{out}{err}", arguments.join(" ")).unwrap();
        };
        show(&["inbox"]);
        show(&["status"]);
        show(&["tick", "--dry-run"]);
        show(&["doctor", "--audit"]);
        for issue in self.open() {
            let issue = text(&issue["identifier"]);
            show(&["explain", &issue]);
            show(&["issue", "show", &issue]);
            show(&["runs", "list", "--issue", &issue, "-n", "0"]);
        }
        if self.plans > 0 {
            let plan = format!("plan-{}", self.plans);
            show(&["plan", "status", "--plan", &plan]);
            show(&["runs", "list", "--plan", &plan, "-n", "0"]);
        }
        for command in [
            &["for-each-ref", "refs/heads", "refs/symphony"][..],
            &["worktree", "list"],
        ] {
            writeln!(
                told,
                "$ git {}\n{}",
                command.join(" "),
                project.git(command)
            )
            .unwrap();
        }
        let from = self.killed.len().saturating_sub(KILLS_TOLD_MAX);
        for kill in &self.killed[from..] {
            let (at, kind, command) = (kill.at.as_secs_f64(), kill.kind, &kill.command);
            writeln!(told, "killed at {at:.3} s: {kind}: {command}").unwrap();
        }
        told
    }
}

/// Lists the names in a folder; one that does not exist has none.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn is_half_written(name: &str) -> bool {
    let own = [".symphony-state.json", ".symphony-workspaces"];
    name.starts_with(".symphony-") && !own.contains(&name)
}

/// A time as a text that sorts like it: fractions have no fixed length, so what follows them goes.
fn time_of(value: &Value) -> String {
    text(value).trim_end_matches('Z').to_owned()
}

/// All runs have ended, and no two were live at the same time.
fn assert_apart(runs: &[Value]) {
    let mut times: Vec<(String, String)> = runs
        .iter()
        .map(|run| (time_of(&run["started_at"]), time_of(&run["ended_at"])))
        .collect();
    times.sort();
    let overlap = times.windows(2).find(|pair| pair[1].0 < pair[0].1);
    assert!(overlap.is_none(), "{overlap:?}");
}
