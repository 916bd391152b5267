//! Who types a command that only a person may type: judged from the processes above it.
//!
//! Without a sandbox this is no proof. An agent that starts a process of its own session, clears its environment, leaves its
//! worktree and outlives its supervisor looks like a job of cron; one that opens a
//! terminal there looks like a person. A PID namespace of its own hides what is above a command.

use crate::id::RunId;

/// What the table of processes tells of a process at or above the command, the command's own first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ancestor {
    /// The run whose marker its environment has.
    pub marked: Option<String>,
    /// The run of this project that it supervises.
    pub supervises: Option<RunId>,
    /// Whether its working directory is inside a worktree of Symphony.
    pub is_in_worktree: bool,
    /// Whether it has a controlling terminal.
    pub has_terminal: bool,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// An agent, or something that it started; why.
    Agent(String),
    /// A person at a terminal.
    Person,
    /// Nobody can tell: a job of cron, a script, or an agent that hides; why.
    Unverified(String),
}

/// Judges who asks.
pub fn judge_asker(chain: &[Ancestor]) -> Asker {
    if let Some(run) = chain.iter().find_map(|one| one.marked.as_ref()) {
        return Asker::Agent(format!("it was started inside run {run}"));
    }
    if let Some(run) = chain.iter().find_map(|one| one.supervises.as_ref()) {
        return Asker::Agent(format!("the supervisor of run {run} is above it"));
    }
    let has_terminal = chain.first().is_some_and(|own| own.has_terminal);
    // a person has a terminal all the way up to the shell; what is above that may be anything
    let hides = chain
        .iter()
        .any(|one| one.is_in_worktree && !one.has_terminal);
    match (has_terminal, hides, chain.first()) {
        (_, true, _) => {
            Asker::Agent("it works in the worktree of a run, without a terminal".to_owned())
        }
        (true, false, Some(own)) if own.is_in_worktree => {
            Asker::Unverified("it works in the worktree of a run".to_owned())
        }
        (true, false, _) => Asker::Person,
        (false, false, _) => Asker::Unverified("it has no terminal".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(what: &str) -> Ancestor {
        Ancestor {
            marked: what.contains('m').then(|| "run-1".to_owned()),
            supervises: what.contains('s').then(|| RunId::parse("run-1").unwrap()),
            is_in_worktree: what.contains('w'),
            has_terminal: what.contains('t'),
        }
    }

    #[test]
    fn agents_are_recognised_by_what_is_above_them() {
        // a letter a fact: Marked, Supervises, in a Worktree, has a Terminal
        for (chain, expected) in [
            (&["t", "t", "-"][..], "person"),
            (&["m", "m", "s"], "agent"),
            // a cleared environment
            (&["-", "-", "s"], "agent"),
            // a terminal of its own does not help below a supervisor
            (&["t", "t", "s"], "agent"),
            (&["t", "m", "-"], "agent"),
            // the supervisor is gone, the worktree is not
            (&["w", "-"], "agent"),
            (&["-", "w", "-"], "agent"),
            // a person looks at the work of an agent
            (&["tw", "tw", "t", "-"], "unverified"),
            // cron, a script, or an agent that hides well
            (&["-", "-"], "unverified"),
            (&[], "unverified"),
        ] {
            let chain: Vec<Ancestor> = chain.iter().map(|what| process(what)).collect();
            let found = match judge_asker(&chain) {
                Asker::Agent(_) => "agent",
                Asker::Person => "person",
                Asker::Unverified(_) => "unverified",
            };
            assert_eq!(found, expected, "{chain:?}");
        }
    }
}
