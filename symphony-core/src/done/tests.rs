//! The rules of proposals as tables.

use super::*;
use crate::id::IssueId;

fn issue() -> IssueId {
    IssueId::parse("SYM-1").unwrap()
}

fn new(kind: EvidenceKind, reference: &str) -> NewEvidence {
    NewEvidence {
        kind,
        reference: reference.to_owned(),
        note: " it is there \n".to_owned(),
    }
}

#[test]
fn evidence_is_kept_as_it_was_found_and_refused_by_name() {
    use EvidenceKind::{Commit, File, Gate, PullRequest};
    let base = || "main".to_owned();
    let found = [
        (
            Commit,
            "abc",
            EvidenceFound::Commit {
                commit: "abc123".into(),
                files: vec!["a".into()],
            },
        ),
        (Commit, "abc", EvidenceFound::NewerCommit { base: base() }),
        (
            Commit,
            "abc",
            EvidenceFound::CommitElsewhere { base: base() },
        ),
        (Commit, "abc", EvidenceFound::Missing),
        (
            PullRequest,
            "4",
            EvidenceFound::MergedPullRequest {
                files: vec!["b".into()],
            },
        ),
        (
            PullRequest,
            "4",
            EvidenceFound::UnmergedPullRequest {
                state: "open".into(),
            },
        ),
        (
            PullRequest,
            "4",
            EvidenceFound::OtherPullRequest { of: "SYM-9".into() },
        ),
        (PullRequest, "x", EvidenceFound::Missing),
        (Gate, "test", EvidenceFound::Gate),
        (
            Gate,
            "tset",
            EvidenceFound::UnknownGate {
                known: vec!["test".into(), "lint".into()],
            },
        ),
        (Gate, "test", EvidenceFound::UnknownGate { known: vec![] }),
        (
            File,
            "./src/a.rs",
            EvidenceFound::File {
                path: "src/a.rs".into(),
            },
        ),
        (File, "src/", EvidenceFound::Folder { path: "src".into() }),
        (File, "../a", EvidenceFound::NoPath(PathError::GoesUp)),
        (File, "/a", EvidenceFound::NoPath(PathError::Absolute)),
        (File, ".", EvidenceFound::NoPath(PathError::Whole)),
        (File, "src/b.rs", EvidenceFound::Missing),
        (File, " ", EvidenceFound::Missing),
    ];
    let lines: Vec<String> = found
        .into_iter()
        .enumerate()
        .map(|(i, (kind, reference, found))| {
            let kept = check_evidence(i + 1, &new(kind, reference), &issue(), found);
            match kept {
                Ok(kept) => format!("{} {:?}", kept.line(), kept.files),
                Err(error) => error.to_string(),
            }
        })
        .collect();
    insta::assert_snapshot!("evidence", lines.join("\n"));
}

#[test]
fn the_number_of_items_and_the_length_of_notes_are_limited() {
    assert!(
        check_count(0)
            .unwrap_err()
            .starts_with("`evidence` is empty")
    );
    assert_eq!(check_count(1), Ok(()));
    assert_eq!(check_count(EVIDENCE_MAX), Ok(()));
    assert!(check_count(EVIDENCE_MAX + 1).is_err());
    let mut long = new(EvidenceKind::Gate, "test");
    long.note = "é".repeat(NOTE_CHARS_MAX);
    assert!(check_evidence(1, &long, &issue(), EvidenceFound::Gate).is_ok());
    long.note.push('é');
    assert!(check_evidence(1, &long, &issue(), EvidenceFound::Gate).is_err());
}

#[test]
fn a_commit_with_more_files_than_are_kept_is_about_all_of_them() {
    let files: Vec<String> = (0..=FILES_OF_EVIDENCE_MAX).map(|i| i.to_string()).collect();
    let found = EvidenceFound::Commit {
        commit: "abc".into(),
        files,
    };
    let kept = check_evidence(1, &new(EvidenceKind::Commit, "abc"), &issue(), found).unwrap();
    assert!(kept.touches_all && kept.files.is_empty());
}

fn evidence(kind: EvidenceKind, files: &[&str], touches_all: bool) -> DoneEvidence {
    DoneEvidence {
        kind,
        reference: "x".into(),
        note: String::new(),
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        touches_all,
    }
}

#[test]
fn a_moved_base_matters_where_it_changes_what_the_evidence_is_about() {
    let files = DoneProposal {
        evidence: vec![
            evidence(EvidenceKind::File, &["a"], false),
            evidence(EvidenceKind::Commit, &["b", "c"], false),
        ],
    };
    let all = DoneProposal {
        evidence: vec![evidence(EvidenceKind::Commit, &[], true)],
    };
    let gate = DoneProposal {
        evidence: vec![evidence(EvidenceKind::Gate, &[], false)],
    };
    let folder = DoneProposal {
        evidence: vec![evidence(EvidenceKind::File, &["src/"], false)],
    };
    for (proposal, changed, expected) in [
        (&files, Some(&[][..]), None),
        (&files, Some(&["d"][..]), None),
        (&files, Some(&["b", "d"][..]), Some("about: b")),
        (&files, None, Some("no longer has the commit")),
        (&all, Some(&[][..]), None),
        (&all, Some(&["d"][..]), Some("about: d")),
        (&gate, Some(&["d"][..]), None),
        (&gate, None, Some("no longer has the commit")),
        (
            &folder,
            Some(&["src/deep/b"][..]),
            Some("about: src/deep/b"),
        ),
        (&folder, Some(&["src2/b"][..]), None),
    ] {
        let changed: Option<Vec<String>> =
            changed.map(|changed| changed.iter().map(|path| (*path).to_owned()).collect());
        let effect = base_effect(proposal, "main", changed.as_deref());
        match (effect, expected) {
            (BaseEffect::Stands, None) => {}
            (BaseEffect::CheckAgain { why }, Some(expected)) => {
                assert!(why.contains(expected), "{why}");
            }
            (effect, _) => panic!("{changed:?}: {effect:?}"),
        }
    }
}
