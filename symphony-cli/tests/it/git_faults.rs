//! Git dies under real processes: at each call that changes something in the life of an issue and of a plan (prepare, exit
//! handling, merge, clean-up), before its effect, after it, leaving its lock. The next commands repair it: the issue ends done,
//! the plan completes, once; no work is lost, and nothing is left.
//!
//! A life without deaths records the calls; each row is one of them with a death. `symphony-workspace/tests/it/git_deaths.rs`
//! does the same in one process for every call, those that only read too.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use symphony_workspace::{GIT_FAULTS_VARIABLE, GitDeath};

use crate::deaths::{counted, in_part};
use crate::plan_support::{PLAN_WORKER, complete, plan_of};
use crate::support::{
    LIFE_MAX, Project, approving_judge, bash, commit, create_pr, file_names, git_commit, scenario,
    scenarios, text, until, worker,
};

/// Lives at the same time: most of a life is waiting.
const LIVES_AT_ONCE: usize = 6;
/// Of the calls that only read, every so many-th dies here too; all of them do in one process.
const READS_SAMPLED: usize = 9;
/// The commands whose git dies: what a test itself asks is no part of a life.
const COMMANDS: &[&str] = &[
    "supervise",
    "supervise --finish",
    "tick",
    "pr merge",
    "plan run",
];
/// Commands after which an issue that stays in review with nobody to judge it counts as stuck.
const PATIENCE: usize = 8;

/// Lives a project's life to its end; returns the commands that repaired it.
type Live = fn(&Project, &Faults) -> Result<String, String>;

/// The orders for git in a project.
struct Faults {
    folder: PathBuf,
    born: Instant,
}

impl Faults {
    /// Arms a project: one call dies, or none.
    fn arm(project: &mut Project, order: Option<(&str, GitDeath)>) -> Self {
        let folder = project.beside.join("git-faults");
        std::fs::create_dir(&folder).unwrap();
        if let Some((call, death)) = order {
            let line = format!("{call}\t{}\n", death.name());
            std::fs::write(folder.join("orders"), line).unwrap();
        }
        project.set_variable(GIT_FAULTS_VARIABLE, folder.to_str().unwrap());
        Self {
            folder,
            born: Instant::now(),
        }
    }

    fn has_died(&self) -> bool {
        self.folder.join("deaths").exists()
    }

    fn has_time(&self) -> bool {
        self.born.elapsed() < LIFE_MAX
    }

    /// The calls so far: command, call and number, and whether it changes something.
    fn calls(&self) -> Vec<(String, bool)> {
        let text = std::fs::read_to_string(self.folder.join("calls")).unwrap();
        text.lines()
            .map(|line| {
                let (call, kind) = line.rsplit_once('\t').unwrap();
                (call.to_owned(), kind == "changes")
            })
            .collect()
    }

    /// Gives a command; only one under which git died, or which meets a lock that it left, may fail.
    fn give(&self, project: &Project, command: &[&str]) -> Result<(), String> {
        let before = self.has_died();
        let answer = project.symphony(command);
        let said = format!("{}{}", answer.stdout, answer.stderr);
        if said.contains("git's lock file") {
            // ten minutes pass
            project.age_git_locks();
        } else if answer.code != 0 && before {
            return Err(format!("{command:?} failed after the death: {answer:?}"));
        } else if answer.code != 0 && !self.has_died() {
            return Err(format!("{command:?} failed by itself: {answer:?}"));
        }
        Ok(())
    }
}

/// Waits until nobody is at work and nothing has to wait for its time.
fn settle(project: &Project) {
    until("the end of what is at work", || {
        let live = project.json(&["runs", "list", "--live"]);
        let runs = live["items"].as_array().unwrap();
        runs.iter()
            .all(|run| project.lock_is_free(&text(&run["id"])))
            .then_some(())
    });
    // the time before a worktree's removal is tried again passes
    let database = rusqlite::Connection::open(project.root.join(".symphony/symphony.db")).unwrap();
    let due = "UPDATE clean_up_fault SET due_at = 0";
    database.execute(due, []).unwrap();
    until("the retry's time", || {
        let now = project.json(&["tick", "--dry-run"]);
        let reasons = now["decisions"].to_string();
        let waits = ["backing_off", "gates_delayed"]
            .iter()
            .any(|reason| reasons.contains(&format!("\"{reason}\"")));
        (!waits).then_some(())
    });
}

/// What holds at the end of every life.
fn check(project: &Project, files: &[&str]) -> Result<(), String> {
    let expect = |name: &str, found: String, wanted: &str| {
        (found == wanted)
            .then_some(())
            .ok_or_else(|| format!("{name}: `{found}`, not `{wanted}`"))
    };
    for file in files {
        expect(
            file,
            project.git(&["ls-tree", "--name-only", "main", file]),
            file,
        )?;
    }
    expect(
        "git status",
        project.git(&["status", "--porcelain", "-uno"]),
        "",
    )?;
    expect(
        "branches",
        project.git(&["branch", "--list", "symphony/*"]),
        "",
    )?;
    let trees = project.git(&["worktree", "list", "--porcelain"]);
    expect(
        "worktrees",
        trees.matches("worktree ").count().to_string(),
        "1",
    )?;
    let folders = file_names(&project.root.join(".symphony-workspaces"));
    expect("worktree folders", folders.join(" "), "")?;
    expect("locks", format!("{:?}", project.git_locks()), "[]")?;
    let note = project.root.join(".git/symphony-merge.json");
    expect("note of a merge", note.exists().to_string(), "false")?;
    project.git(&["fsck", "--no-dangling"]);
    until("the end of all processes", || {
        project.processes().is_empty().then_some(())
    });
    project.assert_sound();
    Ok(())
}

mod issue {
    use super::{
        Faults, PATIENCE, Project, approving_judge, bash, check, commit, counted, create_pr,
        git_commit, json, scenarios, settle, worker,
    };

    pub(super) fn project() -> Project {
        let all = git_commit("hello.txt work.txt", "work");
        let play = scenarios([
            approving_judge(),
            worker([
                bash("echo $SYMPHONY_RUN_ID >> work.txt"),
                bash(&format!("printf 'hello\\n' > hello.txt && {all}")),
                create_pr("Say hello"),
                commit("late.txt", "late"),
                bash("echo later > later.txt"),
            ]),
        ]);
        let project = Project::new("a project", &play, &json!({ "max_retry_backoff_ms": 1 }));
        project.add_issue("Say hello");
        project
    }

    /// A worker opens a pull request and goes on, a judge approves, the base moves, a person merges.
    pub(super) fn live(project: &Project, faults: &Faults) -> Result<String, String> {
        let mut repairs = Vec::new();
        let mut in_review = 0;
        while faults.has_time() {
            settle(project);
            let issue = project.issue("SYM-1");
            let is_quiet = project.json(&["tick", "--dry-run"])["actions"] == json!([]);
            if issue["status"] == "done" && is_quiet {
                check_issue(project)?;
                return Ok(counted(&repairs));
            }
            let is_approved = issue["status"] == "review"
                && project.json(&["pr", "show", "SYM-1"])["state"] == "approved";
            in_review = if issue["status"] == "review" && !is_approved && is_quiet {
                in_review + 1
            } else {
                0
            };
            if in_review > PATIENCE {
                return Err("stuck in review".to_owned());
            }
            let base = project.root.join("base.txt");
            if is_approved && !base.exists() {
                std::fs::write(base, "base\n").unwrap();
                project.git(&["add", "base.txt"]);
                project.git(&["commit", "-q", "-m", "base"]);
            }
            let command: &[&str] = if is_approved {
                &["pr", "merge", "SYM-1"]
            } else {
                &["tick", "--wait"]
            };
            if faults.has_died() {
                repairs.push(if is_approved { "pr merge" } else { "tick" });
            }
            faults.give(project, command)?;
        }
        Err(format!(
            "not done after {repairs:?}: {}",
            project.issue("SYM-1")["status"]
        ))
    }

    fn check_issue(project: &Project) -> Result<(), String> {
        check(project, &["hello.txt", "work.txt", "base.txt"])?;
        let prs = project.json(&["pr", "list"]);
        let merged = prs["items"].as_array().unwrap().iter();
        let merged = merged.filter(|pr| pr["state"] == "merged").count();
        if merged != 1 {
            return Err(format!("{merged} merged pull requests"));
        }
        let noted = project.git(&["show", "main:work.txt"]);
        let mut runs: Vec<&str> = noted.lines().collect();
        runs.sort_unstable();
        runs.dedup();
        if runs.len() != noted.lines().count() {
            return Err(format!("work was done twice: {noted}"));
        }
        // what came after the pull request is put aside; what came without one is part of the work
        let refs = project.git(&[
            "for-each-ref",
            "--format=%(refname)",
            "refs/heads/main",
            "refs/symphony/rescue",
        ]);
        for file in ["late.txt", "later.txt"] {
            let is_kept = refs
                .lines()
                .any(|name| project.git(&["ls-tree", "--name-only", name, file]) == file);
            if !is_kept {
                return Err(format!("{file} is lost: {refs}"));
            }
        }
        Ok(())
    }
}

mod plan {
    use super::{
        Faults, PATIENCE, PLAN_WORKER, Project, Value, bash, check, complete, counted, json,
        plan_of, scenario, scenarios,
    };

    const PHASES: [(&str, &[&str]); 3] = [("a", &[]), ("b", &["a"]), ("c", &["b"])];

    pub(super) fn project() -> Project {
        let work = bash(
            "name=$(git branch --show-current | sed 's|.*/||'); echo \"$SYMPHONY_RUN_ID\" >> \"$name.txt\"",
        );
        let when = json!({ "match_system": PLAN_WORKER });
        let play = scenarios([scenario("any phase", &when, [work, complete(&json!([]))])]);
        let project = Project::new(
            "project",
            &play,
            &json!({ "max_retry_backoff_ms": 1, "gates": [] }),
        );
        std::fs::write(project.root.join("plan.md"), plan_of(&PHASES)).unwrap();
        project
    }

    /// Three phases, one after the other, and the merge of their work.
    pub(super) fn live(project: &Project, faults: &Faults) -> Result<String, String> {
        let mut repairs = Vec::new();
        while faults.has_time() {
            let is_begun = project.symphony(&["plan", "status", "--json"]).code == 0;
            let command: &[&str] = if is_begun {
                &["plan", "run", "plan.md", "--merge", "--retry-failed"]
            } else {
                &["plan", "run", "plan.md", "--merge"]
            };
            if faults.has_died() {
                repairs.push("plan run");
            }
            faults.give(project, command)?;
            let is_complete = project
                .symphony(&["plan", "status", "--json"])
                .stdout
                .contains("\"status\": \"completed\"");
            let is_merged = project.git(&["ls-tree", "--name-only", "main", "c.txt"]) == "c.txt";
            let branches = project.git(&["branch", "--list", "symphony/*"]);
            if is_complete && is_merged && branches.is_empty() {
                project.json(&["tick"]);
                check(project, &["a.txt", "b.txt", "c.txt"])?;
                return Ok(counted(&repairs));
            }
            if repairs.len() > PATIENCE {
                break;
            }
        }
        let plan: Value = project.json(&["plan", "status"]);
        Err(format!("not complete after {repairs:?}: {plan:#}"))
    }
}

/// How many lives without a death are lived to record one that puts nothing off.
const LIVES_RECORDED_MAX: usize = 4;

/// A call, by its line and number, and how it dies.
type Row = (String, GitDeath);

fn rows(make: fn() -> Project, live: Live, deaths: fn(usize) -> Vec<GitDeath>) -> Vec<Row> {
    // On a busy machine a life can put an exit handling off, and has calls then that no other life comes to.
    let mut calls = (0..LIVES_RECORDED_MAX)
        .find_map(|_| {
            let mut project = make();
            let faults = Faults::arm(&mut project, None);
            let lived = live(&project, &faults).unwrap();
            assert_eq!(lived, "");
            let calls = faults.calls();
            let is_usual = calls.iter().all(|(call, _)| !call.contains("--finish"));
            if !is_usual {
                println!("an exit handling was put off in a life without a death; another life is recorded");
            }
            is_usual.then_some(calls)
        })
        .expect("a life without a death puts no exit handling off");
    calls.retain(|(call, _)| {
        COMMANDS
            .iter()
            .any(|command| call.starts_with(&format!("{command}\t")))
    });
    let (changing, reading): (Vec<_>, Vec<_>) =
        calls.into_iter().partition(|(_, changes)| *changes);
    let changing = changing
        .into_iter()
        .enumerate()
        .flat_map(|(number, (call, _))| {
            deaths(number)
                .into_iter()
                .map(move |death| (call.clone(), death))
        });
    // a list of the configuration belongs to the call after it
    let reading = reading
        .into_iter()
        .filter(|(call, _)| !call.contains("git config --list"))
        .step_by(READS_SAMPLED)
        .map(|(call, _)| (call, GitDeath::BeforeEffect));
    changing.chain(reading).collect()
}

fn survive(make: fn() -> Project, live: Live, rows: Vec<Row>) {
    let rows = in_part(rows);
    let next = AtomicUsize::new(0);
    let told = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..LIVES_AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((call, death)) = rows.get(number) else {
                        return;
                    };
                    let lived = std::panic::catch_unwind(|| {
                        let mut project = make();
                        let faults = Faults::arm(&mut project, Some((call, *death)));
                        let lived = live(&project, &faults)?;
                        if faults.has_died() {
                            Ok(lived)
                        } else {
                            Err("git did not come there".to_owned())
                        }
                    });
                    let lived = lived.unwrap_or_else(|_| Err("panicked".to_owned()));
                    told.lock().unwrap().insert(number, lived);
                }
            });
        }
    });
    let mut failed = Vec::new();
    for (number, lived) in told.into_inner().unwrap() {
        let (call, death) = &rows[number];
        let call = call.replace('\t', " | ");
        let result = match lived {
            Ok(repairs) if repairs.is_empty() => "went on".to_owned(),
            Ok(repairs) => repairs,
            Err(error) => format!("FAILED: {error}"),
        };
        let shown: String = call.chars().take(110).collect();
        println!("{:<12} | {shown:<110} | {result}", death.name());
        if result.starts_with("FAILED") {
            failed.push(format!("{} {call}: {result}", death.name()));
        }
    }
    println!("{} lives", rows.len());
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn wherever_git_dies_the_issue_ends_done_once() {
    let rows = rows(issue::project, issue::live, |_| GitDeath::OF_ANY.to_vec());
    survive(issue::project, issue::live, rows);
}

#[test]
fn wherever_git_dies_the_plan_completes() {
    // each call in one way, each way in turn
    let rows = rows(plan::project, plan::live, |number| {
        vec![GitDeath::OF_ANY[number % GitDeath::OF_ANY.len()]]
    });
    survive(plan::project, plan::live, rows);
}

/// When git dies after the agent has opened its pull request and ended, that does not count as a failure of the agent, and
/// `explain` and `status` say what happened.
#[test]
fn a_git_that_dies_while_a_run_is_prepared_uses_no_attempt() {
    let rows = rows(issue::project, issue::live, |_| {
        vec![GitDeath::BeforeEffect]
    });
    let of_preparation =
        |row: &&Row| row.0.starts_with("supervise\t") && row.0.contains("git worktree add");
    let (call, death) = rows.iter().find(of_preparation).unwrap();
    let mut project = issue::project();
    // an attempt would open the circuit breaker
    project.configure_more(&json!({ "max_retries": 1 }));
    let faults = Faults::arm(&mut project, Some((call, *death)));
    project.ok(&["tick", "--wait"]);
    assert!(faults.has_died());
    let shown = project.issue("SYM-1");
    assert_eq!(shown["status"], "todo", "{shown:#}");
    assert_eq!(shown["total_runs"], 0, "{shown:#}");
    let runs = project.json(&["runs", "list", "--issue", "SYM-1"]);
    assert_eq!(
        runs["items"][0]["error"]["class"], "not_prepared",
        "{runs:#}"
    );
    project.assert_sound();
    until("the run that is prepared", || {
        project.ok(&["tick", "--wait"]);
        (project.issue("SYM-1")["status"] == "review").then_some(())
    });
}

#[test]
fn a_git_that_dies_while_a_plans_phase_is_prepared_uses_no_attempt() {
    let rows = rows(plan::project, plan::live, |_| vec![GitDeath::BeforeEffect]);
    let of_preparation =
        |row: &&Row| row.0.starts_with("supervise\t") && row.0.contains("git worktree add");
    let (call, death) = rows.iter().find(of_preparation).unwrap();
    let mut project = plan::project();
    let faults = Faults::arm(&mut project, Some((call, *death)));
    plan::live(&project, &faults).unwrap();
    assert!(faults.has_died());
    let runs = project.json(&["runs", "list"]);
    let runs = runs["items"].as_array().unwrap();
    let classes: Vec<_> = runs.iter().map(|run| &run["error"]["class"]).collect();
    assert!(classes.contains(&&json!("not_prepared")), "{classes:?}");
    let status = project.json(&["plan", "status"]);
    for phase in status["phases"].as_array().unwrap() {
        let counts = (&phase["attempts"], &phase["retry_count"]);
        assert_eq!(counts, (&json!(1), &json!(0)), "{phase:#}");
    }
}

/// A project in which git died in the exit handling of the worker of SYM-1, which is tried again after at most some time.
fn with_exit_handling_put_off(backoff_ms: u32) -> Project {
    let rows = rows(issue::project, issue::live, |_| {
        vec![GitDeath::BeforeEffect]
    });
    let back = "git update-ref -m symphony: back to the recorded head";
    let of_exit = |row: &&Row| row.0.starts_with("supervise\t") && row.0.contains(back);
    let (call, death) = rows.iter().find(of_exit).unwrap();
    let mut project = issue::project();
    project.configure_more(&json!({ "max_retry_backoff_ms": backoff_ms }));
    let faults = Faults::arm(&mut project, Some((call, *death)));
    project.ok(&["tick", "--wait"]);
    assert!(faults.has_died());
    project
}

fn assert_no_live_worker(project: &Project) {
    // the gates of its pull request may run by now
    let live = project.json(&["runs", "list", "--live"]);
    let mut runs = live["items"].as_array().unwrap().iter();
    assert!(runs.all(|run| run["profile"] != "worker"), "{live:#}");
}

/// A person who ends a run does not wait for the time of its exit handling, with or without `--force`.
#[test]
fn cancelling_a_run_whose_exit_handling_was_put_off_acts_at_once() {
    let project = with_exit_handling_put_off(300_000);
    let said = project.ok(&["runs", "cancel", "SYM-1"]);
    assert!(said.contains("ended: succeeded"), "{said}");
    assert_no_live_worker(&project);
}

/// Nor does a person who closes the issue.
#[test]
fn a_persons_command_does_the_exit_handling_that_was_put_off() {
    let project = with_exit_handling_put_off(300_000);
    project.ok(&["issue", "close", "SYM-1", "--cancelled", "--reason", "no"]);
    assert_eq!(project.issue("SYM-1")["status"], "cancelled");
    assert_no_live_worker(&project);
}

#[test]
fn a_git_that_dies_in_exit_handling_uses_no_attempt() {
    let project = with_exit_handling_put_off(60_000);
    let why = project.symphony(&["explain", "SYM-1"]).stdout;
    assert!(why.contains("is not saved yet (tried 1 time):"), "{why}");
    assert!(why.contains("ended by a signal"), "{why}");
    let shown = project.symphony(&["status"]).stdout;
    assert!(shown.contains("its work is not saved yet"), "{shown}");
    project.assert_sound();
    until("the exit handling that was put off", || {
        project.ok(&["tick", "--wait"]);
        let live = project.json(&["runs", "list", "--live"]);
        (live["items"] == json!([])).then_some(())
    });
    let runs = project.json(&["runs", "list", "--issue", "SYM-1"]);
    let runs = runs["items"].as_array().unwrap();
    let worker = runs.iter().find(|run| run["profile"] == "worker").unwrap();
    assert_eq!(worker["status"], "succeeded", "{worker:#}");
    assert_eq!(project.issue("SYM-1")["consecutive_failures"], 0);
}
