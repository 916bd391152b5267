//! What was found at the end, in the database, in the repository, on the hosts and in `/proc`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::faults::{Field, Outage};
use super::verdict::{Found, IssueFound, RunFound, Zombie};
use crate::support::at_home;

/// Events of a run after a newer run on its issue was claimed. The refusal of a write is recorded as one.
const LATE_WRITES: &str = "SELECT DISTINCT e.run, e.kind FROM event e JOIN run r ON r.id = e.run JOIN run n ON n.issue = r.issue
     WHERE e.actor NOT IN ('human', 'system', 'tick') AND n.started_at > r.started_at AND e.at > n.started_at
         AND e.kind <> 'write_refused'";

/// When pieces of logs were stored, and the first clock that each has. A piece may end within a character.
const CLOCKS: &str = "SELECT host, at, clock FROM (
         SELECT r.host, l.at, substring(encode(l.bytes, 'escape') FROM 'clock ([0-9]{13})') AS clock
         FROM run_log l JOIN run r ON r.id = l.run) AS pieces WHERE clock IS NOT NULL";

/// What supervisors report when the database refuses what they write.
const REFUSED: [&str; 4] = [
    "not this host's any more",
    "was given up",
    "superseded",
    "no longer belongs to this host",
];

impl Field<'_> {
    /// Gathers all but what was watched while the faults went on.
    pub(super) fn found(&self) -> Found {
        let record = self.record();
        Found {
            issues: self.issues(),
            runs: self.runs(),
            stopped: record.stopped.clone(),
            killed: record.killed.clone(),
            outages: record.outages.clone(),
            at_work_without_service: record.at_work_without_service.clone(),
            faulty_hosts: record.faulty_hosts.clone(),
            is_server_killed: record.is_server_killed,
            expected_zombies: record.expected_zombies.clone(),
            noticed_after: record.noticed_after.clone(),
            refused: self.refused(&record.late_ends),
            late_writes: self.late_writes(),
            audit: self.audit(),
            log_lags: self.log_lags(&record.outages),
            ..Found::default()
        }
    }

    fn issues(&self) -> BTreeMap<String, IssueFound> {
        let mut issues: BTreeMap<String, IssueFound> = BTreeMap::new();
        for row in self.server.rows("SELECT id, status FROM issue") {
            issues
                .entry(row[0].clone())
                .or_default()
                .status
                .clone_from(&row[1]);
        }
        let merged = "SELECT issue, run FROM pull_request WHERE state = 'merged'";
        for row in self.server.rows(merged) {
            let issue = issues.entry(row[0].clone()).or_default();
            issue.merged += 1;
            issue.merged_runs.push(row[1].clone());
        }
        let project = &self.control.project;
        let log = project.git(&[
            "log",
            "--first-parent",
            "-m",
            "--name-only",
            "--format=",
            "main",
        ]);
        for name in log.lines() {
            if let Some(issue) = issues.get_mut(issue_of_file(name)) {
                issue.commits += 1;
            }
        }
        let notes = project.git(&[
            "grep",
            "-h",
            "--full-name",
            "-e",
            ".",
            "--heading",
            "main",
            "--",
            "work-*",
        ]);
        let mut current = String::new();
        for line in notes.lines() {
            match line.strip_prefix("main:") {
                Some(name) => issue_of_file(name).clone_into(&mut current),
                None => {
                    if let Some(issue) = issues.get_mut(&current) {
                        issue.noted.push(line.to_owned());
                    }
                }
            }
        }
        issues
    }

    /// Returns the host that began each run: one that was taken back has the control's name.
    fn begun_on(&self) -> BTreeMap<String, String> {
        let of_host = |host: usize| {
            let host = self.host(host);
            let logs = host.run_files("supervisor.log").into_iter();
            let name = host.name.clone();
            logs.map(move |(run, _)| (run, name.clone()))
                .collect::<Vec<_>>()
        };
        (0..self.hosts.len()).flat_map(of_host).collect()
    }

    fn runs(&self) -> BTreeMap<String, RunFound> {
        let begun_on = self.begun_on();
        let sql = "SELECT id, coalesce(issue, ''), coalesce(host, ''), status, coalesce(error_class, ''), started_at,
             coalesce(ended_at, -1) FROM run";
        let run = |row: Vec<String>| {
            let ended_at = row[6].parse().unwrap();
            let run = RunFound {
                issue: row[1].clone(),
                host: begun_on.get(&row[0]).unwrap_or(&row[2]).clone(),
                status: row[3].clone(),
                error: row[4].clone(),
                started_at: row[5].parse().unwrap(),
                ended_at: (ended_at >= 0).then_some(ended_at),
            };
            (row[0].clone(), run)
        };
        self.server.rows(sql).into_iter().map(run).collect()
    }

    /// Returns the runs that have ended.
    pub(super) fn ended(&self) -> Vec<String> {
        let sql = "SELECT id FROM run WHERE status NOT IN ('starting', 'running')";
        self.server.rows(sql).into_iter().flatten().collect()
    }

    fn late_writes(&self) -> Vec<(String, String)> {
        let rows = self.server.rows(LATE_WRITES).into_iter();
        rows.map(|row| (row[0].clone(), row[1].clone())).collect()
    }

    fn refused(&self, late_ends: &[String]) -> BTreeMap<Zombie, usize> {
        let is_refused = |text: &str| REFUSED.iter().any(|words| text.contains(words));
        let mut refused = BTreeMap::new();
        let workers = late_ends.iter().filter(|said| is_refused(said)).count();
        let supervisors = (0..self.hosts.len())
            .flat_map(|host| self.host(host).run_files("supervisor.log"))
            .filter(|(_, log)| is_refused(log))
            .count();
        for (zombie, count) in [(Zombie::Worker, workers), (Zombie::Supervisor, supervisors)] {
            if count > 0 {
                refused.insert(zombie, count);
            }
        }
        refused
    }

    fn audit(&self) -> Vec<String> {
        let answers = self.control.audit().into_iter();
        answers
            .filter(|answer| answer.code != 0)
            .map(|answer| format!("the audit: {}{}", answer.stdout, answer.stderr))
            .collect()
    }

    /// Returns how long after an agent wrote its time its log was in the database, apart from what an outage may have held up.
    fn log_lags(&self, outages: &[Outage]) -> Vec<Duration> {
        let lag = |row: Vec<String>| {
            let (arrived, written) = (row[1].parse().ok()?, row[2].parse().ok()?);
            let is_held_up = outages
                .iter()
                .any(|outage| outage.explains(&row[0], written, arrived));
            // clocks of one machine, read by two programs
            let ms = u64::try_from(arrived - written).unwrap_or(0);
            (!is_held_up).then_some(Duration::from_millis(ms))
        };
        let rows = self.server.rows(CLOCKS).into_iter();
        rows.filter_map(lag).collect()
    }

    /// Returns what still runs on the hosts apart from the workers.
    pub(super) fn left(&self) -> Vec<String> {
        let of_host = |host: usize| {
            let host = self.host(host);
            let worker = host.worker().map(|pid| format!("{pid} "));
            let is_left = move |line: &String| {
                !worker
                    .as_ref()
                    .is_some_and(|pid| line.starts_with(pid.as_str()))
            };
            at_home(&host.home)
                .into_iter()
                .filter(is_left)
                .collect::<Vec<_>>()
        };
        (0..self.hosts.len()).flat_map(of_host).collect()
    }
}

fn issue_of_file(name: &str) -> &str {
    let name = name.strip_prefix("work-").unwrap_or_default();
    name.strip_suffix(".txt").unwrap_or_default()
}
