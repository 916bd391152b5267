//! Killed between an intent, its effect and its outcome: whatever process dies where, the next commands repair it, no work
//! is lost, nothing is done twice, and the issue ends done.
//!
//! Each row names the points at which processes die, one after the other, and the command that dies there. All rows live
//! the same life of an issue, so that every point is passed: a first run leaves work behind, the base moves, a second run
//! opens a pull request and goes on working, a judge approves, the base moves again, a person merges.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;

use serde_json::{Value, json};
use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};

use crate::deaths::{
    CANCEL, Deaths, FINISH, MERGE, Row, SUPERVISE, TICK, command_of, counted, survive,
};
use crate::support::{
    Project, WORKER, approving_judge, bash, commit, create_pr, file_names, git_commit, hang,
    scenario, scenarios, text, until, worker,
};

const ROWS: &[Row] = &{
    use Failpoint::*;
    [
        &[(TickRecorded, TICK)] as Row,
        &[(TickLocked, TICK)],
        &[(TickLocked, TICK), (RunTidied, TICK)],
        &[(TickClaimed, TICK)],
        &[(TickLaunched, TICK)],
        &[(AgentSpawned, SUPERVISE), (TickSwept, TICK)],
        &[(AgentSpawned, SUPERVISE), (TickFinishing, TICK)],
        &[(SuperviseStarted, SUPERVISE)],
        &[(TickClaimed, TICK), (SuperviseStarted, FINISH)],
        &[(WorktreeIntended, SUPERVISE)],
        &[(WorktreeBranched, SUPERVISE)],
        &[(WorktreeRegistered, SUPERVISE)],
        &[(WorktreeOnBranch, SUPERVISE)],
        &[(WorktreeFilled, SUPERVISE)],
        &[(WorktreeUnlocked, SUPERVISE)],
        &[(WorktreeBaseMoved, SUPERVISE)],
        &[(PrepareCopied, SUPERVISE)],
        &[(PrepareSetUp, SUPERVISE)],
        &[(PreparePrompts, SUPERVISE)],
        &[(PrepareStarted, SUPERVISE)],
        &[(GitFolderMade, SUPERVISE)],
        &[(AgentListening, SUPERVISE)],
        &[(AgentSpawned, SUPERVISE)],
        &[(AgentEnded, SUPERVISE)],
        &[(GitFolderRead, SUPERVISE)],
        &[(GitFolderTaken, SUPERVISE)],
        &[(AgentEnded, SUPERVISE), (GitFolderRead, FINISH)],
        &[(GitFolderRead, SUPERVISE), (GitFolderTaken, FINISH)],
        &[(CommitStaged, SUPERVISE)],
        &[(CommitMade, SUPERVISE)],
        &[(CommitMoved, SUPERVISE)],
        &[(AgentEnded, SUPERVISE), (CommitStaged, FINISH)],
        &[(AgentEnded, SUPERVISE), (CommitMade, FINISH)],
        &[(AgentEnded, SUPERVISE), (CommitMoved, FINISH)],
        &[(ResetSaved, SUPERVISE)],
        &[(ResetMoved, SUPERVISE)],
        &[(ResetOverwritten, SUPERVISE)],
        &[(ResetOverwritten, SUPERVISE), (ResetSaved, FINISH)],
        &[(ResetSaved, SUPERVISE), (ResetMoved, FINISH)],
        &[(ResetMoved, SUPERVISE), (ResetOverwritten, FINISH)],
        &[(GatesCheckedOut, SUPERVISE)],
        &[(GateRan, SUPERVISE)],
        &[(ResetOverwritten, SUPERVISE), (GateRan, SUPERVISE)],
        &[(GateRan, SUPERVISE), (FinishRecorded, FINISH)],
        &[(FinishBegun, SUPERVISE)],
        &[(AgentEnded, SUPERVISE), (FinishBegun, FINISH)],
        &[(FinishSettled, SUPERVISE)],
        &[(AgentEnded, SUPERVISE), (FinishSettled, FINISH)],
        &[(FinishRecorded, SUPERVISE)],
        &[(AgentEnded, SUPERVISE), (FinishRecorded, FINISH)],
        &[(RunTidied, SUPERVISE)],
        &[(FinishRecorded, SUPERVISE), (RunTidied, TICK)],
        &[(MergePlanned, MERGE)],
        &[(MergeGated, MERGE)],
        &[(MergeIntended, MERGE)],
        &[(MergeNoted, MERGE)],
        &[(MergeCheckoutMoved, MERGE)],
        &[(MergeBaseMoved, MERGE)],
        &[(MergeMoved, MERGE)],
        &[(MergeRecorded, MERGE)],
        &[(CleanSaved, MERGE)],
        &[(CleanRemoved, MERGE)],
        &[(CleanUnrecorded, MERGE)],
        &[(MergeRecorded, MERGE), (CleanSaved, TICK)],
        &[(MergeRecorded, MERGE), (CleanRemoved, TICK)],
        &[(MergeRecorded, MERGE), (CleanUnrecorded, TICK)],
    ]
};

#[test]
fn every_point_has_a_row() {
    let covered: BTreeSet<Failpoint> = ROWS
        .iter()
        .chain(crate::plan_failpoints::ROWS)
        .flat_map(|row| row.iter().map(|(point, _)| *point))
        .chain([
            Failpoint::CancelRequested,
            // in `watchdog::deaths`, where there is something stuck
            Failpoint::WatchdogNoted,
            Failpoint::WatchdogKilled,
            Failpoint::WatchdogTickKilled,
            // in `outside::deaths`, where somebody else has merged
            Failpoint::OutsideMergeRecorded,
            Failpoint::BaseLooked,
            // in `done::deaths`, where nothing is left to do
            Failpoint::DoneProposed,
            Failpoint::DoneJudged,
            Failpoint::DoneConfirmed,
            Failpoint::DoneReturned,
            // in `on_postgres_control`, where there is another host
            Failpoint::LostTakenBack,
            Failpoint::RunWithdrawn,
        ])
        // in `trackers::deaths`, where there is a tracker
        .chain(crate::trackers::POINTS)
        // in `forges::deaths`, where there is a forge
        .chain(crate::forges::POINTS)
        // in `workflow_service::deaths`, where there is a `WORKFLOW.md`
        .chain(crate::workflow_service::deaths::POINTS)
        .collect();
    let all: BTreeSet<Failpoint> = Failpoint::ALL.iter().copied().collect();
    assert_eq!(
        all.difference(&covered).collect::<Vec<_>>(),
        [&Failpoint::TickRecorded; 0]
    );
}

#[test]
fn whatever_dies_where_the_next_commands_repair_it() {
    survive(ROWS, live);
}

/// The life of an issue, with the deaths of a row in it; returns the commands that repaired them.
fn live(row: Row) -> Result<String, String> {
    let life = Life::begin(row);
    let repaired = life.lead()?;
    life.check()?;
    Ok(repaired)
}

struct Life {
    project: Project,
    deaths: Deaths,
}

/// What a worker does: it notes its run, which it only does in a worktree that was set up.
const NOTE: &str = "test -e ready && echo $SYMPHONY_RUN_ID >> work.txt";

fn play() -> Value {
    let commit_all = git_commit("hello.txt work.txt", "work");
    let commit_all = bash(&format!("printf 'hello\\n' > hello.txt && {commit_all}"));
    scenarios([
        approving_judge(),
        scenario(
            "leaves work",
            &json!({ "match_system": WORKER, "uses": 1 }),
            [bash(NOTE)],
        ),
        // opens a pull request and goes on
        worker([
            bash(NOTE),
            commit_all,
            create_pr("Say hello"),
            commit("late.txt", "late"),
            bash("echo later > later.txt"),
        ]),
    ])
}

impl Life {
    fn begin(row: Row) -> Self {
        let config = json!({
            "max_retry_backoff_ms": 1,
            "keep_run_files": false,
            "worktree": { "setup": "echo yes > ready" },
        });
        let mut project = Project::new("a project", &play(), &config);
        std::fs::write(project.root.join(".gitignore"), "ready\n").unwrap();
        project.git(&["add", ".gitignore"]);
        project.git(&["commit", "-q", "-m", "ignore what the set-up makes"]);
        std::fs::write(project.root.join(".env"), "TOKEN=correct-horse-battery\n").unwrap();
        project.add_issue("Say hello");
        let deaths = Deaths::arm(&mut project, row);
        Self { project, deaths }
    }

    /// Gives commands as a person and cron would, until the issue is done and its worktree gone.
    fn lead(&self) -> Result<String, String> {
        let mut base_moves = 0;
        let mut repairs = Vec::new();
        while self.deaths.has_time() {
            let found = self.settle();
            if found["status"] == "done"
                && !self.project.worktree("SYM-1").exists()
                && self.recorded()
            {
                return Ok(counted(&repairs));
            }
            let worked = found["runs"]
                .as_array()
                .is_some_and(|runs| !runs.is_empty());
            let approved = found["status"] == "review" && self.pr_state() == "approved";
            // once before the second run, once before the merge
            if (base_moves == 0 && worked) || (base_moves == 1 && approved) {
                base_moves += 1;
                self.move_base(base_moves);
            }
            let command: &[&str] = if approved {
                &["pr", "merge", "SYM-1"]
            } else {
                &["tick", "--wait"]
            };
            let dead_before = self.deaths.count();
            self.deaths.give(&self.project, command)?;
            if dead_before > 0 {
                repairs.push(if approved { MERGE } else { TICK });
            }
        }
        Err(format!(
            "not done after {} repairs: {}",
            repairs.len(),
            self.story()
        ))
    }

    /// What became of the issue and its runs, in a few words.
    fn story(&self) -> String {
        let issue = self.project.issue("SYM-1");
        let runs = self.project.json(&["runs", "list"]);
        let words = |run: &Value| {
            let id = text(&run["id"]);
            let said = |name: &str| {
                std::fs::read_to_string(self.project.run_folder(&id).join(name)).unwrap_or_default()
            };
            format!(
                "{} {} {}\n{}{}",
                run["profile"],
                run["status"],
                run["error"],
                said("supervisor.log"),
                said("log.txt")
            )
        };
        let told: Vec<String> = runs["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(words)
            .collect();
        format!("the issue is {}\n{}", issue["status"], told.join("\n"))
    }

    /// Waits until nobody is at work and whatever is due is due; returns the issue.
    fn settle(&self) -> Value {
        until("the end of what is at work", || {
            let live = self.project.json(&["runs", "list", "--live"]);
            let runs = live["items"].as_array().unwrap();
            runs.iter()
                .all(|run| self.project.lock_is_free(&text(&run["id"])))
                .then_some(())
        });
        until("the retry's time", || {
            let now = self.project.json(&["tick", "--dry-run"]);
            let waits = now["decisions"].as_array().unwrap().iter().any(|decision| {
                decision["reasons"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|reason| reason["reason"] == "backing_off")
            });
            (!waits).then_some(())
        });
        self.project.issue("SYM-1")
    }

    /// Says whether nothing is left for a tick to do.
    fn recorded(&self) -> bool {
        self.project.json(&["tick", "--dry-run"])["actions"] == json!([])
    }

    fn pr_state(&self) -> String {
        text(&self.project.json(&["pr", "show", "SYM-1"])["state"])
    }

    fn move_base(&self, number: u32) {
        let file = format!("base{number}.txt");
        std::fs::write(self.project.root.join(&file), "base\n").unwrap();
        self.project.git(&["add", &file]);
        self.project.git(&["commit", "-q", "-m", &file]);
    }

    /// What must hold at the end, whatever died.
    fn check(&self) -> Result<(), String> {
        self.deaths.check()?;
        let project = &self.project;
        for file in ["hello.txt", "base1.txt", "base2.txt", "README.md"] {
            project.git(&["cat-file", "-e", &format!("main:{file}")]);
        }
        let runs = project.json(&["runs", "list"]);
        let runs = runs["items"].as_array().unwrap();
        self.check_runs(runs)?;
        self.check_work(runs)?;
        let merged = project.json(&["pr", "list"]);
        let states: Vec<&Value> = merged["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pr| &pr["state"])
            .collect();
        let expect = |name: &str, found: &str, wanted: &str| {
            (found == wanted)
                .then_some(())
                .ok_or_else(|| format!("{name}: `{found}`, not `{wanted}`"))
        };
        expect("pull requests", &json!(states).to_string(), "[\"merged\"]")?;
        // the person's own file, which is in no commit
        let status = project.git(&["status", "--porcelain"]);
        expect("git status", &status, "?? .env")?;
        let files = project.git(&["log", "--all", "--name-only", "--format="]);
        let secrets = files.lines().filter(|line| *line == ".env").count();
        expect("commits with a secret", &secrets.to_string(), "0")?;
        expect(
            "branches",
            &project.git(&["branch", "--list", "symphony/*"]),
            "",
        )?;
        let trees = project.git(&["worktree", "list", "--porcelain"]);
        expect(
            "worktrees",
            &trees.matches("worktree ").count().to_string(),
            "1",
        )?;
        expect(
            "worktree folders",
            &file_names(&project.root.join(".symphony-workspaces")).join(" "),
            "",
        )?;
        project.git(&["fsck", "--no-dangling"]);
        let left = ["index.lock", "HEAD.lock", "symphony-merge.json"];
        let in_git = file_names(&project.root.join(".git")).into_iter();
        let in_git: Vec<String> = in_git
            .filter(|name| left.contains(&name.as_str()))
            .collect();
        expect("locks and notes", &in_git.join(" "), "")?;
        // a supervisor gives up its lock an instant before it ends
        until("the end of all processes", || {
            project.processes().is_empty().then_some(())
        });
        project.assert_sound();
        Ok(())
    }

    /// Every run has ended, no two of them were live at the same time, no prompt with secret values is left.
    fn check_runs(&self, runs: &[Value]) -> Result<(), String> {
        let mut times: Vec<(String, String)> = Vec::new();
        for run in runs {
            let id = text(&run["id"]);
            let Some(ended) = run["ended_at"].as_str() else {
                return Err(format!("run {id} has not ended: {run:#}"));
            };
            // fractions have no fixed length: without what follows them they sort like the times
            let sortable = |time: &str| time.trim_end_matches('Z').to_owned();
            times.push((sortable(&text(&run["started_at"])), sortable(ended)));
            let left: Vec<String> = file_names(&self.project.run_folder(&id))
                .into_iter()
                .filter(|name| {
                    // those that were sent are kept with the log
                    let is_prompt = name.ends_with("prompt.md") && !name.starts_with("sent-");
                    is_prompt || name == "mcp.json"
                })
                .collect();
            if !left.is_empty() {
                return Err(format!("run {id} left {left:?}"));
            }
        }
        let state = self.project.root.join(".symphony");
        let known: BTreeSet<String> = runs.iter().map(|run| text(&run["id"])).collect();
        let folders: BTreeSet<String> = file_names(&state.join("runs")).into_iter().collect();
        if known != folders {
            return Err(format!("the runs are {known:?}, their folders {folders:?}"));
        }
        let unfinished = file_names(&state.join("unfinished"));
        if !unfinished.is_empty() {
            return Err(format!("noted as unfinished: {unfinished:?}"));
        }
        times.sort();
        let overlap = times.windows(2).find(|pair| pair[1].0 < pair[0].1);
        overlap.map_or(Ok(()), |pair| {
            Err(format!("two live runs at once: {pair:?}"))
        })
    }

    /// What any agent did is on the base, once; what came after the pull request is in a rescue ref.
    fn check_work(&self, runs: &[Value]) -> Result<(), String> {
        let noted = self.project.git(&["show", "main:work.txt"]);
        let mut lines: Vec<&str> = noted.lines().collect();
        lines.sort_unstable();
        let unique: BTreeSet<&str> = lines.iter().copied().collect();
        if lines.len() != unique.len() {
            return Err(format!("work was done twice: {noted}"));
        }
        let workers = runs.iter().filter(|run| run["profile"] == "worker");
        let worked = workers
            .map(|run| text(&run["id"]))
            .filter(|run| self.project.run_log_has(run, "[tool_result]"));
        if let Some(lost) = worked
            .into_iter()
            .find(|run| !unique.contains(run.as_str()))
        {
            return Err(format!("the work of run {lost} is lost: {noted}"));
        }
        let refs = self.project.git(&[
            "for-each-ref",
            "--format=%(refname)",
            "refs/symphony/rescue",
        ]);
        for file in ["late.txt", "later.txt"] {
            let saved = refs.lines().any(|name| {
                self.project
                    .git(&["ls-tree", "--name-only", name])
                    .lines()
                    .any(|line| line == file)
            });
            if !saved {
                return Err(format!("{file} is in no rescue ref: {refs}"));
            }
        }
        Ok(())
    }
}

/// The supervisor obeys what is recorded, whether the one who asked lives or not.
#[test]
fn a_request_to_end_a_run_outlives_who_asked() {
    let when = json!({ "match_system": WORKER });
    let mut project = Project::new(
        "a project",
        &scenarios([scenario(
            "works",
            &when,
            [commit("work.txt", "work"), hang()],
        )]),
        &json!({}),
    );
    project.add_issue("Take long");
    let run = project.tick_start();
    until("the agent's commit", || {
        project.run_log_has(&run, "[tool_result]").then_some(())
    });
    let file = project.beside.join("died");
    let armed = format!("{}={}", Failpoint::CancelRequested.name(), file.display());
    project.set_variable(FAILPOINTS_VARIABLE, &armed);
    let output = project
        .command(&["runs", "cancel", "SYM-1"])
        .output()
        .unwrap();
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
    assert_eq!(command_of(&std::fs::read_to_string(&file).unwrap()), CANCEL);
    until("the end of the run", || {
        project.lock_is_free(&run).then_some(())
    });
    assert_eq!(project.run(&run)["status"], "cancelled");
    // a supervisor gives up its lock an instant before it ends
    until("the end of all processes", || {
        project.processes().is_empty().then_some(())
    });
    assert_eq!(project.git(&["show", "symphony/SYM-1:work.txt"]), "work");
}
