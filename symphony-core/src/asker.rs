//! Who typed a command that only a person may type: judged from its ancestor processes.
//!
//! Without a sandbox no answer is a proof. What an agent can forge for itself without leaving the reach of its
//! supervisor is refused; what only a process can forge that outlived its supervisor is recorded as unverified;
//! `docs/design` lists what remains.

use serde::{Deserialize, Serialize};

use crate::id::RunId;

/// One ancestor process, with facts from the process table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ancestor {
    /// The run whose marker its environment has, or in whose group of processes it is.
    pub marked: Option<String>,
    /// The run of this project that it supervises.
    pub supervises: Option<RunId>,
    /// Whether its working directory is inside a worktree of Symphony.
    pub is_in_worktree: bool,
    /// Its controlling terminal.
    pub terminal: Option<i32>,
    /// Whether it leads its session: the shell of a terminal does.
    pub leads_session: bool,
    /// Whether no process of the user could have made it: `sshd` or `login` of root above a user's shell, a shell that
    /// was started inside a container from outside, or init itself.
    pub is_login: bool,
    /// A run that was active when it started.
    pub began_during: Option<RunId>,
}

/// The processes from a command up to init, the command's own first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestry {
    /// Them, without init.
    pub chain: Vec<Ancestor>,
    /// Whether the chain reaches init without a gap.
    pub is_whole: bool,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// An agent, or something that it started; why.
    Agent(String),
    /// A person at a terminal.
    Person,
    /// Symphony cannot tell: a script, a job of cron, or an agent that hides; why.
    Unverified(String),
}

/// Whether Symphony could tell that a person acted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verification {
    /// It could.
    #[default]
    Verified,
    /// It could not; why, as a fragment such as `no terminal`.
    Unverified(String),
}

impl Verification {
    /// Returns why it could not.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Verified => None,
            Self::Unverified(reason) => Some(reason),
        }
    }

    /// Reads the recorded value: a reason, or `None` for a verified action.
    pub fn recorded(reason: Option<String>) -> Self {
        reason.map_or(Self::Verified, Self::Unverified)
    }
}

/// Returns ` (not verified: no terminal)`, or nothing for what a person did: it ends a sentence about the action.
pub fn verification_note(reason: Option<&str>) -> String {
    reason.map_or_else(String::new, |reason| format!(" (not verified: {reason})"))
}

/// Judges who asks.
pub fn judge_asker(ancestry: &Ancestry) -> Asker {
    let chain = &ancestry.chain;
    if let Some(run) = chain.iter().find_map(|one| one.marked.as_ref()) {
        return Asker::Agent(format!("it was started inside run {run}"));
    }
    if let Some(run) = chain.iter().find_map(|one| one.supervises.as_ref()) {
        return Asker::Agent(format!("the supervisor of run {run} is above it"));
    }
    // A person has a terminal all the way up to the shell; what is above that may be anything.
    if chain
        .iter()
        .any(|one| one.is_in_worktree && one.terminal.is_none())
    {
        return Asker::Agent("it works in the worktree of a run, without a terminal".to_owned());
    }
    match doubt(ancestry) {
        Some(doubt) => Asker::Unverified(doubt),
        None => Asker::Person,
    }
}

/// Returns why nothing shows that a person is at the terminal of a command.
fn doubt(ancestry: &Ancestry) -> Option<String> {
    let chain = &ancestry.chain;
    let Some(own) = chain.first() else {
        return Some("the table of processes cannot be read".to_owned());
    };
    if own.terminal.is_none() {
        return Some("no terminal".to_owned());
    }
    if own.is_in_worktree {
        return Some("typed in the worktree of a run".to_owned());
    }
    if !ancestry.is_whole {
        return Some("one of its parent processes is not visible".to_owned());
    }
    // Whoever opens a terminal of its own starts a session there, and stays above it until it ends.
    let leader = chain
        .iter()
        .position(|one| one.leads_session && one.terminal == own.terminal);
    let Some(leader) = leader else {
        return Some("the shell of its terminal has ended".to_owned());
    };
    let from_leader = chain.get(leader..).unwrap_or_default();
    if from_leader.iter().any(|one| one.is_login) {
        return None;
    }
    let above = chain.get(leader + 1..).unwrap_or_default();
    if above.is_empty() {
        return Some("the program that opened its terminal has ended".to_owned());
    }
    let run = above.iter().find_map(|one| one.began_during.as_ref())?;
    Some(format!(
        "its terminal belongs to a program that was started during run {run}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(what: &str) -> Ancestor {
        let has = |letter| what.contains(letter);
        Ancestor {
            marked: has('m').then(|| "run-1".to_owned()),
            supervises: has('s').then(|| RunId::parse("run-1").unwrap()),
            is_in_worktree: has('w'),
            terminal: match (has('t'), has('o')) {
                (true, _) => Some(1),
                (false, true) => Some(2),
                (false, false) => None,
            },
            leads_session: has('l'),
            is_login: has('r'),
            began_during: has('d').then(|| RunId::parse("run-2").unwrap()),
        }
    }

    /// One letter per fact: Marked, Supervises, in a Worktree, has the Terminal or an Other one, Leads its session, is
    /// a login by Root, began During a run. A `?` at the end says that the rest cannot be seen.
    fn judged(chain: &str) -> String {
        let mut words: Vec<&str> = chain.split_ascii_whitespace().collect();
        let is_whole = words.last() != Some(&"?");
        words.retain(|word| *word != "?");
        let chain = words.into_iter().map(process).collect();
        match judge_asker(&Ancestry { chain, is_whole }) {
            Asker::Agent(why) => format!("agent: {why}"),
            Asker::Person => "person".to_owned(),
            Asker::Unverified(why) => format!("unverified: {why}"),
        }
    }

    #[test]
    fn agents_are_recognised_by_what_is_above_them() {
        let inside = "agent: it was started inside run run-1";
        let below = "agent: the supervisor of run run-1 is above it";
        let at_work = "agent: it works in the worktree of a run, without a terminal";
        for (chain, expected) in [
            ("m m s", inside),
            // A cleared environment.
            ("- - s", below),
            // Below a supervisor, neither a terminal of its own nor an unknown ancestor helps.
            ("tl t s", below),
            ("t tl s ?", below),
            ("t m -", inside),
            // The supervisor is gone, the worktree is not.
            ("w -", at_work),
            ("- w -", at_work),
            ("t tl w", at_work),
        ] {
            assert_eq!(judged(chain), expected, "{chain}");
        }
    }

    #[test]
    fn a_person_has_a_terminal_that_a_person_opened() {
        for chain in [
            // ssh: the shell below root's sshd.
            "t tl r",
            // A terminal emulator below the user's systemd; symphony in its own process group.
            "t t tl - -",
            // `tmux` opened a terminal of its own on the terminal of a person.
            "t tl o ol r",
            // The container's first process, or what was started inside it from outside.
            "t tlr",
            // It began during a run, but a login opened it.
            "t tl d r",
            // The shell itself began during a run, in a window of a program that is older.
            "t tld -",
        ] {
            assert_eq!(judged(chain), "person", "{chain}");
        }
    }

    #[test]
    fn what_may_be_an_agent_that_outlived_its_supervisor_is_not_verified() {
        for (chain, reason) in [
            // Cron, a script, a service of CI.
            ("- -", "no terminal"),
            ("", "the table of processes cannot be read"),
            // A person looks at the work of an agent.
            ("tw tlw -", "typed in the worktree of a run"),
            ("t tl ?", "one of its parent processes is not visible"),
            // Orphaned in the background, or by a double fork.
            ("t", "the shell of its terminal has ended"),
            ("t ol -", "the shell of its terminal has ended"),
            ("tl", "the program that opened its terminal has ended"),
            // `script` or `tmux` of an orphan.
            (
                "t tl d",
                "its terminal belongs to a program that was started during run run-2",
            ),
        ] {
            assert_eq!(judged(chain), format!("unverified: {reason}"), "{chain}");
        }
    }
}
