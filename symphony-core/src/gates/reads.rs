//! What a gate may see of a commit besides its files, and whose results count for a merge because of it.

use crate::config::{Gate, GateReads};

/// What a merge adds to the history of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brings {
    /// The commits of the head, below a merge commit if one is created.
    CommitsOfHead,
    /// One new commit instead of them, with a message and an author of its own.
    OneCommit,
}

/// Returns whether green results of a head count for its merge, which has the same files. The merge commit itself is
/// not an agent's work, and what is in the base already is in use: only the incoming commits must pass. A gate that
/// reads messages has never seen that of a squash.
pub fn head_counts_for_merge(brings: Brings, gates: &[Gate]) -> bool {
    match brings {
        Brings::CommitsOfHead => true,
        Brings::OneCommit => gates.iter().all(|gate| gate.reads == GateReads::Tree),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CommandLine;

    #[test]
    fn results_count_for_a_squash_only_when_no_gate_reads_the_history() {
        use GateReads::{History, Tree};
        let gates = |reads: &[GateReads]| {
            let gate = |reads: &GateReads| Gate {
                reads: *reads,
                ..Gate::new("test", CommandLine::Shell("true".to_owned()))
            };
            reads.iter().map(gate).collect::<Vec<_>>()
        };
        for (brings, reads, expected) in [
            (Brings::CommitsOfHead, vec![History], true),
            (Brings::CommitsOfHead, vec![Tree, History], true),
            (Brings::OneCommit, vec![], true),
            (Brings::OneCommit, vec![Tree, Tree], true),
            (Brings::OneCommit, vec![Tree, History], false),
            (Brings::OneCommit, vec![History], false),
        ] {
            assert_eq!(
                head_counts_for_merge(brings, &gates(&reads)),
                expected,
                "{brings:?} {reads:?}"
            );
        }
    }
}
