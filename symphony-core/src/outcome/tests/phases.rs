//! The rows of phases.

use super::*;

/// What was accepted counts however the run ended, everything else is continued or judged again.
#[test]
fn every_end_in_a_phase_has_its_route() {
    use AgentType::{Architect, Judge, Planner, Researcher};
    use IssueState::{InProgress, Review, Todo};
    use RunStatus::{Cancelled, Failed, Succeeded, Tampered};
    let in_phase = |name, mut row: Row| {
        row.phase = Some(name);
        row
    };
    let accepted = |next, mut row: Row| {
        row.accepted = Some(next);
        row
    };
    let moved = |mut row: Row| {
        row.moved = true;
        row
    };
    let found = |mut row: Row| {
        row.evidence = Evidence::Found;
        row
    };
    let research = |row| in_phase("research", row);
    let follows = |row| accepted(NextPhase::Follows, row);
    let overloaded = Some(ErrorClass::Overloaded);
    let failed = Some(ErrorClass::AgentFailed);
    let table = [
        (
            "accepted, another phase follows",
            follows(research(row(Researcher, InProgress, Succeeded, None))),
            "succeeded | advance:Follows | 0/0 | -",
        ),
        (
            "accepted, none follows",
            accepted(
                NextPhase::None,
                research(row(Researcher, InProgress, Succeeded, None)),
            ),
            "succeeded | advance:None | 0/0 | -",
        ),
        (
            "accepted, then the agent failed",
            follows(research(row(Researcher, InProgress, Failed, failed))),
            "failed:agent_failed | advance:Follows | 0/0 | -",
        ),
        (
            "accepted, then the provider was overloaded",
            follows(research(row(Researcher, InProgress, Failed, overloaded))),
            "failed:overloaded | advance:Follows | 0/0 | -",
        ),
        (
            "accepted, then a human cancelled the run",
            follows(research(row(
                Researcher,
                InProgress,
                Cancelled,
                Some(ErrorClass::Cancelled),
            ))),
            "cancelled:cancelled | advance:Follows | 0/0 | -",
        ),
        (
            "accepted, but the run was tampered with",
            follows(research(row(
                Researcher,
                InProgress,
                Tampered,
                Some(ErrorClass::Tampered),
            ))),
            "tampered:tampered | tampered | 2/2 | -",
        ),
        (
            "accepted, but the agent then asked for a human",
            moved(follows(research(row(
                Researcher,
                IssueState::Blocked(Block {
                    by: BlockedBy::Agent,
                    reason: "r".into(),
                }),
                Succeeded,
                None,
            )))),
            "succeeded | - | 0/2 | -",
        ),
        (
            "accepted, but the agent then handed the issue back",
            moved(follows(research(row(Researcher, Todo, Succeeded, None)))),
            "succeeded | advance:Follows | 0/0 | -",
        ),
        (
            "accepted, and the cap of the issue is reached",
            {
                let mut row = follows(research(row(Researcher, InProgress, Succeeded, None)));
                row.cap = Some(CapScope::Issue);
                row
            },
            "succeeded | advance:Follows+cap_reached | 0/0 | - | comment",
        ),
        (
            "no delivery: continued",
            research(row(Researcher, InProgress, Succeeded, None)),
            "succeeded | run_returned | 0/2 | continuation 1s",
        ),
        (
            "grooming without a delivery: continued, though a planner's",
            in_phase("grooming", row(Planner, InProgress, Succeeded, None)),
            "succeeded | run_returned | 0/2 | continuation 1s",
        ),
        (
            "a delivery that awaits a judge",
            moved(in_phase(
                "architecture",
                row(Architect, Review, Succeeded, None),
            )),
            "succeeded | - | 0/2 | -",
        ),
        (
            "judge approved the phase",
            found(follows(in_phase(
                "architecture",
                row(Judge, Review, Succeeded, None),
            ))),
            "succeeded | advance:Follows | 0/0 | -",
        ),
        (
            "judge rejected the phase",
            moved(found(in_phase(
                "architecture",
                row(Judge, Todo, Succeeded, None),
            ))),
            "succeeded | - | 0/2 | -",
        ),
        (
            "judge of a phase without a verdict: left in review",
            in_phase("architecture", row(Judge, Review, Succeeded, None)),
            "failed:no_outcome | - | 2/2 | -",
        ),
        (
            "no delivery with the last attempt",
            {
                let mut row = research(row(Researcher, InProgress, Succeeded, None));
                row.counts = (0, 2);
                row
            },
            "succeeded | breaker_opened | 0/3 | - | last: it ended well, without an accepted delivery",
        ),
    ];
    for (name, row, expected) in table {
        assert_eq!(route(row), expected, "{name}");
    }
}
