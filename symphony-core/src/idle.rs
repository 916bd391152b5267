//! Runs that bring nothing new, and runs that end at a limit: which ends are of these kinds, when they stop their
//! issue, and what a person reads then (`docs/design/0023`).

use std::fmt;

use crate::failure::ErrorClass;
use crate::hand_in::NOTHING_STOPS;
use crate::issue::IssueStatus;
use crate::run::RunStatus;
use crate::spending::CapScope;
use crate::wording::counted;

/// A limit of one run that ended it. What causes a hold or a cap of the issue or the project is not one: the issue
/// waits for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunLimit(ErrorClass);

impl RunLimit {
    /// Returns the limit that an error class means.
    pub const fn of(class: ErrorClass) -> Option<Self> {
        match class {
            ErrorClass::BudgetExhausted
            | ErrorClass::MaxTurns
            | ErrorClass::TimedOut
            | ErrorClass::Stalled
            | ErrorClass::Looping
            | ErrorClass::TooManySearches
            | ErrorClass::OverOutput => Some(Self(class)),
            _ => None,
        }
    }

    /// Reads it from its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::of(ErrorClass::parse(name).ok()?)
    }

    /// Returns the name: that of its error class.
    pub const fn name(self) -> &'static str {
        self.0.name()
    }

    const fn phrase(self) -> &'static str {
        match self.0 {
            ErrorClass::BudgetExhausted => "reached the spending cap of a run",
            ErrorClass::MaxTurns => "ran out of turns",
            ErrorClass::TimedOut => "ran out of time",
            ErrorClass::Stalled => "fell silent",
            ErrorClass::Looping => "repeated the same call",
            ErrorClass::TooManySearches => "searched the web too often",
            _ => "wrote too much output",
        }
    }

    /// The configuration key of the limit; some limits are fixed.
    const fn key(self) -> Option<&'static str> {
        match self.0 {
            ErrorClass::BudgetExhausted => Some("spending.run"),
            ErrorClass::TimedOut => Some("turn_timeout_ms"),
            ErrorClass::Stalled => Some("stall_timeout_ms"),
            ErrorClass::TooManySearches => Some("external_research.max_searches"),
            _ => None,
        }
    }
}

/// How a run ended that brought nothing new: no commit, no answer to a review point, no sub-task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdleEnd {
    /// It ended well, and did not call the tool that it is for.
    Silent,
    /// Its agent gave the issue back.
    HandedBack,
    /// It reached a limit.
    Limit(RunLimit),
}

impl IdleEnd {
    /// Returns the name under which it is recorded.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::HandedBack => "handed_back",
            Self::Limit(limit) => limit.name(),
        }
    }

    /// Reads it from its name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "silent" => Some(Self::Silent),
            "handed_back" => Some(Self::HandedBack),
            limit => RunLimit::parse(limit).map(Self::Limit),
        }
    }

    const fn phrase(self) -> &'static str {
        match self {
            Self::Silent => "ended without a result",
            Self::HandedBack => "gave the issue back",
            Self::Limit(limit) => limit.phrase(),
        }
    }
}

/// What decides whether the run of an agent on an issue brought nothing new.
#[derive(Debug, Clone, Copy)]
pub struct IdleFacts {
    /// How it ended.
    pub status: RunStatus,
    /// Why it did not succeed.
    pub class: Option<ErrorClass>,
    /// The spending cap that is reached.
    pub cap: Option<CapScope>,
    /// Where its issue is now.
    pub issue: IssueStatus,
    /// Whether its agent moved the issue.
    pub moved_issue: bool,
    /// Whether it made a commit, answered a review point or filed a sub-task, or left what its type is for.
    pub brought_something: bool,
    /// Whether its last call of the tool that it is for was refused: those runs are counted by the reason.
    pub is_refused: bool,
}

/// Returns the limit at which a run ended, when its issue is still in progress: another one may continue from there.
pub fn run_limit(facts: &IdleFacts) -> Option<RunLimit> {
    let is_its_own = matches!(facts.cap, None | Some(CapScope::Run));
    let limit = facts.class.and_then(RunLimit::of);
    limit.filter(|_| is_its_own && facts.issue == IssueStatus::InProgress)
}

/// Returns how a run without anything new ended; `None` if it brought something, or if its end says nothing about the
/// task.
pub fn idle_end(facts: &IdleFacts) -> Option<IdleEnd> {
    if facts.brought_something {
        return None;
    }
    let is_limited = facts.class.and_then(RunLimit::of).is_some();
    match (facts.issue, facts.status) {
        (IssueStatus::Todo, RunStatus::Succeeded) if facts.moved_issue => Some(IdleEnd::HandedBack),
        // what it ran into afterwards changes nothing
        (IssueStatus::Todo, _) if facts.moved_issue && is_limited => Some(IdleEnd::HandedBack),
        (IssueStatus::InProgress, RunStatus::Succeeded)
            if !facts.moved_issue && !facts.is_refused =>
        {
            Some(IdleEnd::Silent)
        }
        _ => run_limit(facts).map(IdleEnd::Limit),
    }
}

/// Returns the number of runs in a row, the last one included, that may end at a limit, whatever they commit: half of
/// `max_retries`. Each costs as much as a run can, and work that continues step by step still needs runs for its
/// reviews.
pub const fn limited_stops(max_retries: u32) -> u32 {
    let half = max_retries.div_ceil(2);
    if half < NOTHING_STOPS {
        NOTHING_STOPS
    } else {
        half
    }
}

/// Runs in a row that brought nothing new, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleRow {
    /// How the run ended that is ending now.
    pub end: IdleEnd,
    /// How those before it ended, newest first.
    pub before: Vec<IdleEnd>,
}

/// Runs in a row that ended at a limit, whatever they brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitRow {
    /// The limit of the run that is ending now.
    pub limit: RunLimit,
    /// The limits of those before it, newest first.
    pub before: Vec<RunLimit>,
}

/// Describes the result of runs in a row, for a person.
struct IdleText<'a> {
    /// How they ended.
    ends: Vec<IdleEnd>,
    /// What they did not bring.
    lacking: &'a str,
}

impl IdleRow {
    /// Describes the result of the runs; `tool` is the tool they are for, with its backticks.
    pub fn why(&self, tool: &str) -> String {
        let ends: Vec<IdleEnd> = self.ends().collect();
        if ends.iter().all(|end| *end == IdleEnd::Silent) {
            let runs = in_a_row(ends.len());
            return format!("{runs} ended without a commit and without calling {tool}");
        }
        let lacking = "without a commit, an answer or a sub-task";
        IdleText { ends, lacking }.to_string()
    }

    /// Describes what a person can change.
    pub fn advice(&self) -> String {
        advice(self.ends())
    }

    fn ends(&self) -> impl Iterator<Item = IdleEnd> {
        std::iter::once(self.end).chain(self.before.iter().copied())
    }
}

impl LimitRow {
    /// Describes the result of the runs.
    pub fn why(&self) -> String {
        IdleText {
            ends: self.ends().collect(),
            lacking: "before they could hand in",
        }
        .to_string()
    }

    /// Describes what a person can change.
    pub fn advice(&self) -> String {
        advice(self.ends())
    }

    fn ends(&self) -> impl Iterator<Item = IdleEnd> {
        let limits = std::iter::once(self.limit).chain(self.before.iter().copied());
        limits.map(IdleEnd::Limit)
    }
}

impl fmt::Display for IdleText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (runs, lacking) = (in_a_row(self.ends.len()), self.lacking);
        let mut kinds: Vec<(IdleEnd, usize)> = Vec::new();
        for end in &self.ends {
            match kinds.iter_mut().find(|(kind, _)| kind == end) {
                Some((_, count)) => *count += 1,
                None => kinds.push((*end, 1)),
            }
        }
        if let [(only, _)] = kinds.as_slice() {
            return write!(f, "{runs} {} {lacking}", only.phrase());
        }
        let each = kinds.iter();
        let each: Vec<String> = each
            .map(|(kind, count)| format!("{count} {}", kind.phrase()))
            .collect();
        write!(f, "{runs} ended {lacking}: {}", each.join(", "))
    }
}

fn in_a_row(count: usize) -> String {
    format!("{} in a row", counted(count as u64, "run"))
}

/// Names the keys that change the limits, and the text of the issue, which every run gets.
fn advice(ends: impl Iterator<Item = IdleEnd>) -> String {
    let mut keys: Vec<&str> = ends
        .filter_map(|end| match end {
            IdleEnd::Limit(limit) => limit.key(),
            IdleEnd::Silent | IdleEnd::HandedBack => None,
        })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    if keys.is_empty() {
        return "Say in the issue what they lacked, or split it.".to_owned();
    }
    let keys = keys.join(" or ");
    format!("Raise {keys} in the configuration, say in the issue what they lacked, or split it.")
}

#[cfg(test)]
mod tests;
