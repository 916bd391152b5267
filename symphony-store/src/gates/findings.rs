//! Failed gates as findings, which the next worker reads.

use symphony_core::id::IssueId;
use symphony_core::issue::FindingKind;
use symphony_core::pull_request::{PrState, PullRequest, Verdict, VerdictKind, VerifiedGates};
use symphony_core::run::ProtectionLevel;

use crate::database::context::Context;
use crate::db::Transaction;
use crate::error::StoreError;
use crate::issue::note::{NewFinding, add_finding_in};
use crate::review::pull_request::write_verdict;
use crate::review::state::set_pr_state;

/// How many characters of a red gate's output the finding has: its end shows what failed.
pub(crate) const GATE_FINDING_CHARS_MAX: usize = 8_000;

/// Handles a red required gate: its output becomes a finding, and Symphony rejects the pull request.
pub(crate) fn reject_for_gates(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    pr: &PullRequest,
    gates: &VerifiedGates,
) -> Result<(), StoreError> {
    let names = add_gate_findings(tx, context, issue, gates)?;
    let verdict = Verdict {
        kind: VerdictKind::Rejected,
        author: context.actor.author(),
        run: None,
        commit: gates.commit.clone(),
        protection: ProtectionLevel::Isolated,
        sandbox: None,
        comment: format!("required gates failed: {}", names.join(", ")),
        at: context.now,
        unverified: context.actor.unverified().map(str::to_owned),
        attribution: context.actor.attribution(),
        force: false,
    };
    write_verdict(tx, pr.id, &verdict)?;
    set_pr_state(tx, context, &pr.of, pr.id, PrState::Rejected)
}

/// Adds a finding with the output of each red gate, and returns their names.
pub(crate) fn add_gate_findings<'g>(
    tx: &Transaction<'_>,
    context: &Context,
    issue: &IssueId,
    gates: &'g VerifiedGates,
) -> Result<Vec<&'g str>, StoreError> {
    let mut names = Vec::new();
    for gate in gates.red() {
        let how = gate.exit_code.map_or_else(
            || "did not end on its own".to_owned(),
            |code| format!("ended with exit code {code}"),
        );
        let start = gate
            .output
            .char_indices()
            .rev()
            .nth(GATE_FINDING_CHARS_MAX - 1)
            .map_or(0, |(i, _)| i);
        let tail = gate.output.get(start..).unwrap_or_default();
        let text = format!(
            "Gate `{}` {how} on commit {}:\n\n{tail}",
            gate.name, gates.commit
        );
        let finding = NewFinding {
            kind: FindingKind::Gate,
            text,
            files: Vec::new(),
        };
        add_finding_in(tx, context, issue, &finding)?;
        names.push(gate.name.as_str());
    }
    Ok(names)
}
