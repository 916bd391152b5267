//! Killed between an intent, its effect and its outcome: whatever process dies where, the next commands repair it, no work
//! is lost, nothing is done twice, and the issue ends done.
//!
//! Each row names the points at which processes die, one after the other, and the command that dies there. All rows live
//! the same life of an issue, so that every point is passed: a first run leaves work behind, the base moves, a second run
//! opens a pull request and goes on working, a judge approves, the base moves again, a person merges.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::{Value, json};
use symphony_workspace::{FAILPOINTS_VARIABLE, Failpoint};

use crate::support::{
    Project, WORKER, approving_judge, bash, commit, create_pr, git_commit, hang, scenario,
    scenarios, text, until, worker,
};

/// Rows that live at the same time: most of a life is waiting.
const ROWS_AT_ONCE: usize = 6;
/// Commands that a life takes at most, repairs included; ticks that only wait for a retry are not counted.
const STEPS_MAX: usize = 25;

pub(crate) const TICK: &str = "tick";
pub(crate) const SUPERVISE: &str = "supervise";
pub(crate) const FINISH: &str = "supervise --finish";
/// The loop of a plan.
pub(crate) const PLAN: &str = "plan run";
const MERGE: &str = "pr merge";
const CANCEL: &str = "runs cancel";

/// The points at which processes die, in order, each with the command that does.
pub(crate) type Row = &'static [(Failpoint, &'static str)];

const ROWS: &[Row] = &{
    use Failpoint::*;
    [
        &[(TickRecorded, TICK)] as Row,
        &[(TickLocked, TICK)],
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
        &[(AgentListening, SUPERVISE)],
        &[(AgentSpawned, SUPERVISE)],
        &[(AgentEnded, SUPERVISE)],
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
        &[(GateRan, SUPERVISE)],
        &[(ResetOverwritten, SUPERVISE), (GateRan, FINISH)],
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
        .chain([Failpoint::CancelRequested])
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

/// Lives a life with the deaths of each row, several at a time; tells what repaired them.
pub(crate) fn survive(rows: &[Row], live: fn(Row) -> Result<String, String>) {
    let left = Mutex::new((0..rows.len()).collect::<VecDeque<_>>());
    let told = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..ROWS_AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(number) = left.lock().unwrap().pop_front() else {
                        return;
                    };
                    let lived = std::panic::catch_unwind(|| live(rows[number]));
                    let lived = lived.unwrap_or_else(|panic| Err(words_of(&*panic)));
                    told.lock().unwrap().insert(number, lived);
                }
            });
        }
    });
    let told = told.into_inner().unwrap();
    let mut table = format!(
        "{:<48} | {:<34} | {:<34} | result\n",
        "point", "command", "repaired by"
    );
    for (number, row) in rows.iter().enumerate() {
        let join = |word: &dyn Fn(&(Failpoint, &'static str)) -> &'static str| {
            row.iter().map(word).collect::<Vec<_>>().join(", then ")
        };
        let (point, command) = (
            join(&|(point, _)| point.name()),
            join(&|(_, command)| command),
        );
        let (repaired, result) = match &told[&number] {
            Ok(repaired) => (repaired.as_str(), "done"),
            Err(error) => ("-", error.lines().next().unwrap_or("failed")),
        };
        writeln!(
            table,
            "{point:<48} | {command:<34} | {repaired:<34} | {result}"
        )
        .unwrap();
    }
    println!("{table}");
    let failed: Vec<String> = told
        .iter()
        .filter_map(|(number, lived)| {
            Some(format!("{:?}: {}", rows[*number], lived.as_ref().err()?))
        })
        .collect();
    assert!(failed.is_empty(), "{table}\n{}", failed.join("\n\n"));
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "panicked without words".to_owned())
}

/// The life of an issue, with the deaths of a row in it; returns the commands that repaired them.
fn live(row: Row) -> Result<String, String> {
    let life = Life::begin(row);
    let repaired = life.lead()?;
    life.check()?;
    Ok(repaired)
}

struct Life {
    row: Row,
    project: Project,
    files: Vec<PathBuf>,
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
        let files: Vec<PathBuf> = (0..row.len())
            .map(|number| project.beside.join(format!("died-{number}")))
            .collect();
        let armed: Vec<String> = row
            .iter()
            .zip(&files)
            .map(|((point, _), file)| format!("{}={}", point.name(), file.display()))
            .collect();
        project.set_variable(FAILPOINTS_VARIABLE, &armed.join(";"));
        Self {
            row,
            project,
            files,
        }
    }

    fn deaths(&self) -> usize {
        self.files.iter().filter(|file| file.exists()).count()
    }

    /// Gives commands as a person and cron would, until the issue is done and its worktree gone.
    fn lead(&self) -> Result<String, String> {
        let mut base_moves = 0;
        let mut repairs = Vec::new();
        for _ in 0..STEPS_MAX {
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
            let dead_before = self.deaths();
            let output = self.project.command(command).output().unwrap();
            let died = output.status.signal() == Some(9);
            if died && self.deaths() == dead_before {
                return Err(format!(
                    "{command:?} died, but at none of the points: {output:?}"
                ));
            }
            if !died && output.status.code() != Some(0) {
                return Err(format!(
                    "{command:?} failed after {dead_before} deaths: {output:?}"
                ));
            }
            if dead_before > 0 {
                repairs.push(if approved { MERGE } else { TICK });
            }
        }
        Err(format!(
            "not done after {STEPS_MAX} commands: {}",
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
        for ((point, command), file) in self.row.iter().zip(&self.files) {
            let line = std::fs::read_to_string(file)
                .map_err(|error| format!("nothing died at {}: {error}", point.name()))?;
            if command_of(&line) != *command {
                return Err(format!("at {} died `{line}`", point.name()));
            }
        }
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
            &names(&project.root.join(".symphony-workspaces")).join(" "),
            "",
        )?;
        project.git(&["fsck", "--no-dangling"]);
        let left = ["index.lock", "HEAD.lock", "symphony-merge.json"];
        let in_git = names(&project.root.join(".git")).into_iter();
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

    /// Every run has ended, no two of them were live at the same time, no prompt is left.
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
            let left: Vec<String> = names(&self.project.run_folder(&id))
                .into_iter()
                .filter(|name| name.ends_with("prompt.md") || name == "mcp.json")
                .collect();
            if !left.is_empty() {
                return Err(format!("run {id} left {left:?}"));
            }
        }
        let state = self.project.root.join(".symphony");
        let known: BTreeSet<String> = runs.iter().map(|run| text(&run["id"])).collect();
        let folders: BTreeSet<String> = names(&state.join("runs")).into_iter().collect();
        if known != folders {
            return Err(format!("the runs are {known:?}, their folders {folders:?}"));
        }
        let unfinished = names(&state.join("unfinished"));
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

pub(crate) fn names(folder: &std::path::Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Commands, each once with how often it was given in a row.
pub(crate) fn counted(commands: &[&str]) -> String {
    let groups: Vec<String> = commands
        .chunk_by(|one, two| one == two)
        .map(|group| match group {
            [one] => (*one).to_owned(),
            group => format!("{} ×{}", group[0], group.len()),
        })
        .collect();
    groups.join(", ")
}

/// Which command a command line is.
pub(crate) fn command_of(line: &str) -> &'static str {
    let found = [
        (" --finish", FINISH),
        (" supervise ", SUPERVISE),
        (" pr merge ", MERGE),
        (" runs cancel ", CANCEL),
        (" plan run ", PLAN),
        (" tick", TICK),
    ];
    found
        .into_iter()
        .find(|(words, _)| line.contains(words))
        .map_or("?", |(_, command)| command)
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
    assert_eq!(project.processes(), [""; 0]);
    assert_eq!(project.git(&["show", "symphony/SYM-1:work.txt"]), "work");
}
