//! What is in the way of a confirmation, as a table.

use super::*;
use crate::Timestamp;
use crate::agent::AgentType;
use crate::done::{DoneProposal, PROPOSAL_TITLE};
use crate::id::{PrId, ProjectId};
use crate::issue::CommentAuthor;
use crate::pull_request::{GatesWait, Verdict, VerifiedGate, VerifiedGates};
use crate::run::ProtectionLevel;
use crate::user::Attribution;

fn gate(name: &str, (required, passed): (bool, bool)) -> VerifiedGate {
    VerifiedGate {
        name: name.into(),
        required,
        passed,
        exit_code: Some(i32::from(!passed)),
        duration_ms: 1,
        output: String::new(),
        cached: false,
        definition: Some("as it was".into()),
        failed_tries: Vec::new(),
    }
}

fn ran(results: Vec<VerifiedGate>) -> VerifiedGates {
    VerifiedGates {
        commit: "c".into(),
        results,
        merged_with: None,
    }
}

fn defined(name: &str, required: bool, definition: &str) -> ConfiguredGate {
    ConfiguredGate {
        name: name.into(),
        required,
        definition: definition.into(),
    }
}

fn verdict(kind: VerdictKind, commit: &str) -> Verdict {
    Verdict {
        kind,
        author: CommentAuthor::Agent(AgentType::Judge),
        run: None,
        commit: commit.into(),
        protection: ProtectionLevel::None,
        sandbox: None,
        comment: String::new(),
        at: Timestamp::UNIX_EPOCH,
        unverified: None,
        attribution: Attribution::default(),
        force: false,
    }
}

/// A proposal that nothing is in the way of.
fn record() -> DoneRecord {
    DoneRecord {
        proposal: PullRequest {
            id: PrId::new(3),
            project: ProjectId::parse("p").unwrap(),
            of: IssueId::parse("SYM-1").unwrap().into(),
            run: None,
            title: PROPOSAL_TITLE.into(),
            body: "why".into(),
            branch: "symphony/SYM-1".into(),
            base: "main".into(),
            base_commit: "c".into(),
            head_commit: "c".into(),
            diff: String::new(),
            files: Vec::new(),
            reported_gates: Vec::new(),
            verified_gates: Some(ran(vec![gate("test", (true, true))])),
            gates_wait: GatesWait {
                due_at: Timestamp::UNIX_EPOCH,
                tries: 0,
                problem: None,
                fresh: false,
            },
            verdict: Some(verdict(VerdictKind::Approved, "c")),
            state: PrState::Approved,
            merged_commit: None,
            merged_outside: None,
            checklist: Vec::new(),
            proposal: Some(DoneProposal {
                evidence: Vec::new(),
            }),
            created_at: Timestamp::UNIX_EPOCH,
        },
        open_must: Vec::new(),
        open_subtasks: Vec::new(),
        left_behind: Vec::new(),
        changed_since_verdict: false,
    }
}

fn base() -> BaseNow {
    BaseNow {
        name: "main".into(),
        head: "c".into(),
        effect: BaseEffect::Stands,
        gates: vec![defined("test", true, "as it was")],
    }
}

type Change = fn(&mut DoneRecord, &mut BaseNow);

/// What is different from a proposal that stands, and what follows for Symphony and for a person.
const TABLE: &[(&str, Change, &[&str], &[&str])] = &[
    ("nothing", |_, _| {}, &[], &[]),
    (
        "it was rejected, whatever else",
        |record, base| {
            record.proposal.state = PrState::Rejected;
            record.open_must = vec![PointNumber::new(1)];
            base.gates.clear();
        },
        &["it is rejected"],
        &["it is rejected"],
    ),
    (
        "points",
        |record, _| record.open_must = vec![PointNumber::new(1), PointNumber::new(4)],
        &["review points 1, 4 (`must`) are open"],
        &["review points 1, 4 (`must`) are open"],
    ),
    (
        "a sub-task was reopened",
        |record, _| record.open_subtasks = vec![IssueId::parse("SYM-3").unwrap()],
        &["sub-task SYM-3 has not ended"],
        &["sub-task SYM-3 has not ended"],
    ),
    (
        "the base changed the evidence",
        |_, base| {
            base.effect = BaseEffect::CheckAgain {
                why: "`a.txt` changed".into(),
            };
        },
        &["a worker has to check it again: `a.txt` changed"],
        &["a worker has to check it again: `a.txt` changed"],
    ),
    (
        "the base moved, and the gates ran before",
        |_, base| base.head = "d".into(),
        &["its gates ran on an older commit of `main` and run again"],
        &["its gates ran on an older commit of `main` and run again"],
    ),
    (
        "the base moved, and the gates ran on its commit of now",
        |record, base| {
            base.head = "d".into();
            let gates = record.proposal.verified_gates.as_mut().unwrap();
            gates.merged_with = Some("d".into());
        },
        &[],
        &[],
    ),
    (
        "red gates of a base that was repaired since run again",
        |record, base| {
            base.head = "d".into();
            record.proposal.verified_gates = Some(ran(vec![gate("test", (true, false))]));
        },
        &["its gates ran on an older commit of `main` and run again"],
        &["its gates ran on an older commit of `main` and run again"],
    ),
    (
        "red",
        |record, _| {
            record.proposal.verified_gates = Some(ran(vec![
                gate("test", (true, false)),
                gate("lint", (false, false)),
            ]));
        },
        &["required gate test is red on its base commit"],
        &["required gate test is red on its base commit"],
    ),
    (
        "a red gate was repaired in the configuration",
        |record, base| {
            record.proposal.verified_gates = Some(ran(vec![gate("test", (true, false))]));
            base.gates = vec![defined("test", true, "new")];
        },
        &["the gates or their environment changed after they ran, and they run again"],
        &["the gates or their environment changed after they ran, and they run again"],
    ),
    (
        "a red gate is not required any more",
        |record, base| {
            let results = vec![gate("test", (true, true)), gate("md", (true, false))];
            record.proposal.verified_gates = Some(ran(results));
            base.gates.push(defined("md", false, "as it was"));
        },
        &[],
        &[],
    ),
    (
        "the set-up failed, so that no gate ran",
        |record, _| {
            record.proposal.verified_gates = Some(ran(vec![gate(SET_UP_GATE, (true, false))]));
        },
        &["required gate set-up is red on its base commit"],
        &["required gate set-up is red on its base commit"],
    ),
    (
        "an optional gate is red",
        |record, base| {
            let results = vec![gate("test", (true, true)), gate("lint", (false, false))];
            record.proposal.verified_gates = Some(ran(results));
            base.gates.push(defined("lint", false, "as it was"));
        },
        &[],
        &[],
    ),
    (
        "not run",
        |record, _| record.proposal.verified_gates = None,
        &["its gates have not run"],
        &["its gates have not run"],
    ),
    (
        "run on another proposal's commit",
        |record, _| record.proposal.verified_gates.as_mut().unwrap().commit = "b".into(),
        &["its gates have not run"],
        &["its gates have not run"],
    ),
    (
        "a gate was added",
        |_, base| base.gates.push(defined("md", true, "new")),
        &["the gates or their environment changed after they ran, and they run again"],
        &["the gates or their environment changed after they ran, and they run again"],
    ),
    (
        "a gate's command changed",
        |_, base| base.gates = vec![defined("test", true, "new")],
        &["the gates or their environment changed after they ran, and they run again"],
        &["the gates or their environment changed after they ran, and they run again"],
    ),
    (
        "a project without gates",
        |record, base| {
            base.gates.clear();
            record.proposal.verified_gates = Some(ran(Vec::new()));
        },
        &["no required gate verifies it"],
        &[],
    ),
    (
        "a project without gates whose base moved",
        |record, base| {
            base.gates.clear();
            base.head = "d".into();
            record.proposal.verified_gates = None;
        },
        &["no required gate verifies it"],
        &[],
    ),
    (
        "optional gates only",
        |record, base| {
            base.gates = vec![defined("lint", false, "as it was")];
            record.proposal.verified_gates = Some(ran(vec![gate("lint", (false, true))]));
        },
        &["no required gate verifies it"],
        &[],
    ),
    (
        "no judge yet",
        |record, _| record.proposal.verdict = None,
        &["no judge has approved it"],
        &[],
    ),
    (
        "a judge of another commit",
        |record, _| record.proposal.verdict = Some(verdict(VerdictKind::Approved, "b")),
        &["no judge has approved it"],
        &[],
    ),
    (
        "a comment after the verdict",
        |record, _| record.changed_since_verdict = true,
        &["a person edited or commented on the issue after its judge had started"],
        &[],
    ),
    (
        "a comment, and no verdict that could be older",
        |record, _| {
            record.proposal.verdict = None;
            record.changed_since_verdict = true;
        },
        &["no judge has approved it"],
        &[],
    ),
    (
        "work after the proposal",
        |record, _| record.left_behind = vec!["refs/symphony/rescue/SYM-1/1".into()],
        &["runs on it left work that no commit has: refs/symphony/rescue/SYM-1/1"],
        &[],
    ),
    (
        "several at once",
        |record, base| {
            record.open_subtasks = vec![
                IssueId::parse("SYM-3").unwrap(),
                IssueId::parse("SYM-4").unwrap(),
            ];
            record.changed_since_verdict = true;
            base.head = "d".into();
        },
        &[
            "sub-tasks SYM-3, SYM-4 have not ended",
            "its gates ran on an older commit of `main` and run again",
            "a person edited or commented on the issue after its judge had started",
        ],
        &[
            "sub-tasks SYM-3, SYM-4 have not ended",
            "its gates ran on an older commit of `main` and run again",
        ],
    ),
];

fn told(found: Result<(), Vec<Obstacle>>) -> Vec<String> {
    let obstacles = found.err().unwrap_or_default();
    obstacles.iter().map(ToString::to_string).collect()
}

#[test]
fn a_proposal_stands_only_where_nothing_is_in_its_way() {
    for (what, change, by_itself, by_person) in TABLE {
        let (mut record, mut base) = (record(), base());
        change(&mut record, &mut base);
        let found = stands(&record, Some(&base), ConfirmedBy::AutoDone);
        assert_eq!(told(found), *by_itself, "auto_done: {what}");
        let found = stands(&record, Some(&base), ConfirmedBy::Person);
        assert_eq!(told(found), *by_person, "a person: {what}");
    }
}

#[test]
fn nobody_confirms_what_was_not_looked_at_on_its_base() {
    for by in [ConfirmedBy::AutoDone, ConfirmedBy::Person] {
        let found = stands(&record(), None, by);
        assert_eq!(told(found), ["its base `main` could not be checked"]);
    }
}

#[test]
fn a_person_is_never_stopped_by_what_does_not_stop_symphony() {
    for (what, change, ..) in TABLE {
        let (mut record, mut base) = (record(), base());
        change(&mut record, &mut base);
        let all = stands(&record, Some(&base), ConfirmedBy::AutoDone).err();
        let all = all.unwrap_or_default();
        let person = stands(&record, Some(&base), ConfirmedBy::Person).err();
        for obstacle in person.unwrap_or_default() {
            assert!(all.contains(&obstacle), "{what}: {obstacle}");
        }
    }
}
