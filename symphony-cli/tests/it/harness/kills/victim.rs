//! Who is killed next.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::Field;
use crate::support::kill;

/// How long a git is looked for.
const GIT_WAIT_MAX: Duration = Duration::from_millis(500);

/// One in so many times a driver may be killed: while ticks and plans die before they get anywhere, nothing else is there to be
/// killed.
const DRIVER_CHANCE: usize = 5;

/// What is killed.
pub(super) const KINDS: [&str; 11] = [
    "tick",
    "plan run",
    "pr merge",
    "supervisor of an issue",
    "supervisor of a judge",
    "supervisor of gates",
    "supervisor of a phase",
    "exit handling",
    "scripted-agent",
    "mcp",
    "git",
];

/// A process that was killed.
#[derive(Debug)]
pub(super) struct Kill {
    pub(super) kind: &'static str,
    /// Since the beginning.
    pub(super) at: Duration,
    /// Its command line.
    pub(super) command: String,
}

impl Field {
    /// Kills a process of a kind that is chosen first: there are many more ticks than anything else. Where only drivers are at work,
    /// most often nobody is killed.
    pub(super) fn kill_one(&mut self) {
        if self.chance.below(4) == 0 && self.kill_git() {
            return;
        }
        let victims: Vec<(i32, &'static str, String)> = self
            .project
            .processes()
            .iter()
            .filter_map(|line| {
                let (pid, command) = line.split_once(' ')?;
                let kind = self.kind_of(command)?;
                Some((pid.parse().ok()?, kind, command.to_owned()))
            })
            .collect();
        let kinds: BTreeSet<&str> = victims.iter().map(|(_, kind, _)| *kind).collect();
        let mut kinds: Vec<&str> = kinds.into_iter().collect();
        // the drivers are always there, the rest is not
        if self.chance.below(DRIVER_CHANCE) != 0 {
            kinds.retain(|kind| !matches!(*kind, "tick" | "plan run"));
        }
        if kinds.is_empty() {
            return;
        }
        let wanted = kinds[self.chance.below(kinds.len())];
        let victims: Vec<_> = victims
            .into_iter()
            .filter(|(_, kind, _)| *kind == wanted)
            .collect();
        let (pid, kind, command) = victims[self.chance.below(victims.len())].clone();
        kill(pid);
        self.note(kind, command);
    }

    /// Kills the next git that Symphony starts, if one comes within a moment: none lives for long.
    fn kill_git(&mut self) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < GIT_WAIT_MAX {
            if let Some(pid) = self.project.git_processes().first() {
                let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                kill(*pid);
                self.note("git", String::from_utf8_lossy(&command).replace('\0', " "));
                return true;
            }
        }
        false
    }

    fn note(&mut self, kind: &'static str, command: String) {
        let at = self.begun.elapsed();
        self.killed.push(Kill { kind, at, command });
    }

    /// What a process is, when it is one of Symphony's.
    fn kind_of(&self, command: &str) -> Option<&'static str> {
        if let Some((_, run)) = command.split_once(" supervise --run ") {
            return if run.contains("--finish") {
                Some("exit handling")
            } else {
                self.supervisor_kind(run.trim())
            };
        }
        let kinds = [
            (" scripted-agent", "scripted-agent"),
            (" mcp --socket ", "mcp"),
            (" pr merge ", "pr merge"),
            (" plan run ", "plan run"),
            (" tick", "tick"),
        ];
        let found = kinds.into_iter().find(|(words, _)| command.contains(words));
        found.map(|(_, kind)| kind)
    }

    fn supervisor_kind(&self, run: &str) -> Option<&'static str> {
        let sql = "SELECT agent, plan_phase IS NOT NULL FROM run WHERE id = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let (agent, is_phase): (String, bool) = self.database().query_row(sql, [run], read).ok()?;
        Some(match agent.as_str() {
            "gates" => "supervisor of gates",
            "judge" => "supervisor of a judge",
            _ if is_phase => "supervisor of a phase",
            _ => "supervisor of an issue",
        })
    }
}
