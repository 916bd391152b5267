//! What must hold when all is over: a pure judgement of what was found.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use symphony_core::placement::Lease;

use super::faults::Outage;

/// How long a worker takes to end an agent, and to notice that it has to, beside what the lease says: the end of a tree of processes is
/// not shortened with the lease.
const END_MAX: Duration = Duration::from_secs(15);
/// How much later than the lease says a reader may see that a host is silent.
const NOTICE_MAX: Duration = Duration::from_secs(5);
/// How long text of an agent takes to its readers at most.
const LOG_LAG_MAX: Duration = Duration::from_secs(6);

/// An issue at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IssueFound {
    /// Its status.
    pub(super) status: String,
    /// How many of its pull requests were merged.
    pub(super) merged: usize,
    /// The runs whose work is on the base, one line each.
    pub(super) noted: Vec<String>,
    /// The runs of its merged pull requests.
    pub(super) merged_runs: Vec<String>,
    /// How many commits of the base's own history changed its file.
    pub(super) commits: usize,
}

/// A run at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RunFound {
    pub(super) issue: String,
    pub(super) host: String,
    pub(super) status: String,
    pub(super) error: String,
    /// When it was claimed and ended, in milliseconds.
    pub(super) started_at: i64,
    pub(super) ended_at: Option<i64>,
}

/// An agent of a run that was seen beside one of another run on the same issue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Beside {
    pub(super) issue: String,
    pub(super) older: String,
    pub(super) newer: String,
}

/// A write that was refused, by who tried it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Zombie {
    Worker,
    Supervisor,
}

/// All that was found.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) issues: BTreeMap<String, IssueFound>,
    pub(super) runs: BTreeMap<String, RunFound>,
    /// Agents beside each other.
    pub(super) beside: BTreeSet<Beside>,
    /// Runs whose supervisor the plan stopped: their agents go on until someone else ends them.
    pub(super) stopped: BTreeSet<String>,
    /// Runs whose supervisor the plan killed.
    pub(super) killed: BTreeSet<String>,
    /// When a host was cut off or something on it was stopped, or the database was away.
    pub(super) outages: Vec<Outage>,
    /// Runs that had begun when what gives runs out broke, which ends none.
    pub(super) at_work_without_service: BTreeSet<String>,
    /// Hosts that the plan cut off or on which it stopped something, and that may lose runs.
    pub(super) faulty_hosts: BTreeSet<String>,
    /// Whether the database was killed, which makes any run silent.
    pub(super) is_server_killed: bool,
    /// Events of runs after a newer run on the issue had begun: run, kind.
    pub(super) late_writes: Vec<(String, String)>,
    /// What the audit reported.
    pub(super) audit: Vec<String>,
    /// Processes that were left: command lines.
    pub(super) orphans: Vec<String>,
    /// Refused writes.
    pub(super) refused: BTreeMap<Zombie, usize>,
    /// Those that the plan must have led to.
    pub(super) expected_zombies: BTreeSet<Zombie>,
    /// How long it took until the host of each lost run was shown as silent.
    pub(super) noticed_after: Vec<Duration>,
    /// How long pieces of logs took to the database, apart from those that an outage may have held up.
    pub(super) log_lags: Vec<Duration>,
}

impl Found {
    /// Returns what does not hold, a sentence each.
    pub(super) fn problems(&self, lease: Lease) -> Vec<String> {
        let mut problems = self.broken();
        problems.extend(self.late(lease));
        problems
    }

    /// Returns what holds on the slowest machine, and does not here.
    pub(super) fn broken(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for (id, issue) in &self.issues {
            problems.extend(issue.problems(id));
        }
        problems.extend(
            self.runs
                .iter()
                .filter_map(|(id, run)| self.run_problem(id, run)),
        );
        problems.extend(self.overlaps());
        for Beside {
            issue,
            older,
            newer,
        } in &self.beside
        {
            if !self.stopped.contains(older) {
                problems.push(format!(
                    "two agents on {issue} at once: {older} and {newer}"
                ));
            }
        }
        let late = self.late_writes.iter();
        problems.extend(
            late.map(|(run, kind)| format!("run {run} wrote `{kind}` after a newer run had begun")),
        );
        problems.extend(self.audit.iter().cloned());
        problems.extend(self.orphans.iter().map(|line| format!("left: {line}")));
        for zombie in &self.expected_zombies {
            if !self.refused.contains_key(zombie) {
                problems.push(format!("no write of a zombie was refused: {zombie:?}"));
            }
        }
        problems
    }

    /// Returns what came later than it may.
    fn late(&self, lease: Lease) -> Vec<String> {
        let notice_max = Duration::from_millis(lease.dead_ms()) + NOTICE_MAX;
        let late = self.noticed_after.iter();
        let late = late.filter(|after| **after > notice_max);
        let noticed = late.map(|late| format!("a silent host was noticed after {late:?}"));
        noticed.chain(self.log_problem()).collect()
    }

    /// Where a run has succeeded, its agent's text has reached readers, and in time.
    fn log_problem(&self) -> Option<String> {
        let has_succeeded = self.runs.values().any(|run| run.status == "succeeded");
        match percentile(&self.log_lags, 95) {
            Some(lag) => (lag > LOG_LAG_MAX).then(|| format!("logs reach readers after {lag:?}")),
            None => has_succeeded.then(|| "no log of a run has the clock of its agent".to_owned()),
        }
    }

    fn run_problem(&self, id: &str, run: &RunFound) -> Option<String> {
        if run.ended_at.is_none() {
            return Some(format!("run {id} has not ended: {run:?}"));
        }
        if self.at_work_without_service.contains(id)
            && run.status != "succeeded"
            && !self.killed.contains(id)
            && !self.outages.iter().any(|outage| outage.may_have_ended(run))
        {
            return Some(format!(
                "run {id} had begun when nothing gave runs out, and was ended: {run:?}"
            ));
        }
        // An agent's run would use an attempt, and nothing that the plan breaks is a fault of an issue. Here no run is one of gates.
        if run.error == "spawn_failed" {
            return Some(format!(
                "run {id} was blamed for a fault of its host: {run:?}"
            ));
        }
        let is_expected = self.is_server_killed || self.faulty_hosts.contains(&run.host);
        (run.error == "host_lost" && !is_expected)
            .then(|| format!("run {id} was given up on a host without a fault: {run:?}"))
    }

    /// No two runs of an issue are live at the same time.
    fn overlaps(&self) -> Vec<String> {
        let mut of_issues: BTreeMap<&str, Vec<(i64, i64, &str)>> = BTreeMap::new();
        for (id, run) in &self.runs {
            let ended = run.ended_at.unwrap_or(i64::MAX);
            let times = (run.started_at, ended, id.as_str());
            of_issues.entry(&run.issue).or_default().push(times);
        }
        let mut found = Vec::new();
        for (issue, mut times) in of_issues {
            times.sort_unstable();
            for pair in times.windows(2) {
                if pair[1].0 < pair[0].1 {
                    found.push(format!(
                        "two live runs on {issue}: {} and {}",
                        pair[0].2, pair[1].2
                    ));
                }
            }
        }
        found
    }
}

impl IssueFound {
    fn problems(&self, id: &str) -> Vec<String> {
        let mut problems = Vec::new();
        if self.status != "done" {
            problems.push(format!("{id} is {}", self.status));
            return problems;
        }
        if self.merged != 1 {
            problems.push(format!("{id} was merged {} times", self.merged));
        }
        if self.commits != 1 {
            problems.push(format!(
                "{} commits on the base have the work of {id}",
                self.commits
            ));
        }
        let unique: BTreeSet<&String> = self.noted.iter().collect();
        if unique.len() != self.noted.len() {
            problems.push(format!(
                "the work of a run is twice in {id}: {:?}",
                self.noted
            ));
        }
        let lost = self.merged_runs.iter().filter(|run| !unique.contains(run));
        problems.extend(lost.map(|run| format!("the merged work of run {run} is not in {id}")));
        problems
    }
}

/// Returns the value that so many of a hundred do not exceed; none of nothing.
pub(super) fn percentile(values: &[Duration], hundredths: usize) -> Option<Duration> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last * hundredths).div_ceil(100)).copied()
}

/// Returns how long after the last fault a process may still be there: two minutes of the lease as it is in production.
pub(super) fn orphans_after(lease: Lease) -> Duration {
    Duration::from_millis(lease.lost_ms() - lease.dead_ms()) + END_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Found {
        let issue = IssueFound {
            status: "done".to_owned(),
            merged: 1,
            noted: vec!["r1".to_owned(), "r2".to_owned()],
            merged_runs: vec!["r2".to_owned()],
            commits: 1,
        };
        let run = |started_at, ended_at| RunFound {
            issue: "SYM-1".to_owned(),
            host: "host-1".to_owned(),
            status: "succeeded".to_owned(),
            error: String::new(),
            started_at,
            ended_at: Some(ended_at),
        };
        Found {
            issues: [("SYM-1".to_owned(), issue)].into(),
            runs: [("r1".to_owned(), run(1, 5)), ("r2".to_owned(), run(5, 9))].into(),
            refused: [(Zombie::Supervisor, 1)].into(),
            expected_zombies: [Zombie::Supervisor].into(),
            noticed_after: vec![Duration::from_secs(90)],
            log_lags: vec![Duration::from_secs(5)],
            ..Found::default()
        }
    }

    #[test]
    fn what_is_sound_has_no_problem() {
        assert_eq!(sound().problems(Lease::default()), Vec::<String>::new());
    }

    #[test]
    fn each_thing_that_does_not_hold_is_a_problem() {
        type Break = fn(&mut Found);
        let issue: fn(&mut Found) -> &mut IssueFound =
            |found| found.issues.get_mut("SYM-1").unwrap();
        let cases: &[(&str, Break)] = &[
            ("SYM-1 is review", |f| {
                f.issues.get_mut("SYM-1").unwrap().status = "review".to_owned();
            }),
            ("merged 2 times", |f| {
                f.issues.get_mut("SYM-1").unwrap().merged = 2;
            }),
            ("2 commits", |f| {
                f.issues.get_mut("SYM-1").unwrap().commits = 2;
            }),
            ("twice in SYM-1", |f| {
                f.issues
                    .get_mut("SYM-1")
                    .unwrap()
                    .noted
                    .push("r1".to_owned());
            }),
            ("run r3 is not in SYM-1", |f| {
                f.issues
                    .get_mut("SYM-1")
                    .unwrap()
                    .merged_runs
                    .push("r3".to_owned());
            }),
            ("has not ended", |f| {
                f.runs.get_mut("r2").unwrap().ended_at = None;
            }),
            ("host without a fault", |f| {
                f.runs.get_mut("r1").unwrap().error = "host_lost".to_owned();
            }),
            ("blamed for a fault of its host", |f| {
                f.runs.get_mut("r1").unwrap().error = "spawn_failed".to_owned();
            }),
            ("nothing gave runs out", |f| {
                f.at_work_without_service.insert("r1".to_owned());
                f.runs.get_mut("r1").unwrap().status = "failed".to_owned();
            }),
            ("two live runs", |f| {
                f.runs.get_mut("r2").unwrap().started_at = 4;
            }),
            ("two agents", |f| {
                let (issue, older, newer) = ("SYM-1", "r1", "r2");
                let [issue, older, newer] = [issue, older, newer].map(str::to_owned);
                f.beside.insert(Beside {
                    issue,
                    older,
                    newer,
                });
            }),
            ("after a newer run", |f| {
                f.late_writes
                    .push(("r1".to_owned(), "comment_added".to_owned()));
            }),
            ("audit", |f| f.audit.push("the audit failed".to_owned())),
            ("left: ", |f| f.orphans.push("sleep".to_owned())),
            ("no write", |f| f.refused.clear()),
            ("noticed after", |f| {
                f.noticed_after.push(Duration::from_secs(96));
            }),
            ("reach readers", |f| {
                f.log_lags = vec![Duration::from_secs(7)];
            }),
            ("no log", |f| f.log_lags.clear()),
        ];
        for (expected, damage) in cases {
            let mut found = sound();
            assert_eq!(issue(&mut found).merged, 1);
            damage(&mut found);
            let problems = found.problems(Lease::default());
            assert_eq!(problems.len(), 1, "{expected}: {problems:?}");
            assert!(problems[0].contains(expected), "{expected}: {problems:?}");
        }
    }

    #[test]
    fn what_a_fault_explains_is_no_problem() {
        let mut found = sound();
        found.runs.get_mut("r1").unwrap().error = "host_lost".to_owned();
        found.faulty_hosts.insert("host-1".to_owned());
        found.stopped.insert("r1".to_owned());
        let [issue, older, newer] = ["SYM-1", "r1", "r2"].map(str::to_owned);
        found.beside.insert(Beside {
            issue,
            older,
            newer,
        });
        assert_eq!(found.problems(Lease::default()), Vec::<String>::new());
    }

    #[test]
    fn a_run_that_had_begun_may_be_ended_by_a_fault_of_its_own_alone() {
        let mut found = sound();
        found.at_work_without_service.insert("r1".to_owned());
        found.runs.get_mut("r1").unwrap().status = "failed".to_owned();
        let outage = |host: Option<&str>, from| Outage {
            host: host.map(str::to_owned),
            from,
            to: from + 1,
        };
        for (outage, explains) in [
            (outage(Some("host-1"), 4), true),
            (outage(Some("host-2"), 4), false),
            (outage(None, 0), true),
            (outage(None, 6), false),
        ] {
            let text = format!("{outage:?}");
            found.outages = vec![outage];
            let problems = found.problems(Lease::default());
            assert_eq!(problems.is_empty(), explains, "{text}: {problems:?}");
        }
        found.killed.insert("r1".to_owned());
        assert_eq!(found.problems(Lease::default()), Vec::<String>::new());
    }

    #[test]
    fn percentiles_are_values_that_occur() {
        let values: Vec<Duration> = (1..=100).map(Duration::from_secs).collect();
        assert_eq!(percentile(&values, 95), Some(Duration::from_secs(96)));
        assert_eq!(percentile(&values, 0), Some(Duration::from_secs(1)));
        assert_eq!(percentile(&values, 100), Some(Duration::from_secs(100)));
        assert_eq!(percentile(&[], 95), None);
    }
}
