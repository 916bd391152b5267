//! The documents of a ticket are read from commits: the accepted one, the branch's, the base's.

use std::collections::BTreeSet;

use symphony_core::agent::AgentType;
use symphony_core::contract::{
    Delivery, DeliveryState, KeptCommit, NeededDocument, Pipeline, TicketDeliveries,
    TicketDocument, parse_contract,
};
use symphony_core::id::{DeliveryId, IssueId, PhaseName, ProjectId};
use symphony_core::issue::CommentAuthor;
use symphony_workspace::{CommitId, DocumentPlaces, DocumentProblem, Repository};

use crate::project::{Project, at, branch, commit_file, git, made, write};

const PATH: &str = "docs/SYM-1/design.md";

/// An accepted delivery of the design at a commit.
fn claim(commit: &CommitId) -> Delivery {
    Delivery {
        id: DeliveryId::new(1),
        project: ProjectId::parse("demo").unwrap(),
        issue: IssueId::parse("SYM-1").unwrap(),
        phase: PhaseName::parse("architecture").unwrap(),
        artifact_path: Some(PATH.to_owned()),
        summary: String::new(),
        skip_to: None,
        next_phase: None,
        run: None,
        author: CommentAuthor::Human,
        state: DeliveryState::Accepted,
        reasons: Vec::new(),
        verdict: None,
        head_commit: Some(commit.to_string()),
        open: false,
        created_at: at(0),
    }
}

/// What is read of the document at these places: its text and its branch.
fn read(
    repository: &Repository,
    accepted: Option<&str>,
    head: Option<&CommitId>,
) -> Option<(String, String)> {
    let wanted = TicketDocument {
        issue: IssueId::parse("SYM-1").unwrap(),
        phase: PhaseName::parse("architecture").unwrap(),
        path: PATH.to_owned(),
        accepted: accepted.map(str::to_owned),
    };
    let places = DocumentPlaces {
        branch: branch("symphony/SYM-1"),
        head: head.cloned(),
        base: repository.base().unwrap(),
    };
    let (found, _problems) = repository.read_documents(vec![wanted], &places);
    let found = found.into_iter().next()?;
    Some((found.text, found.branch.as_str().to_owned()))
}

fn of(text: &str, branch: &str) -> (String, String) {
    (text.to_owned(), branch.to_owned())
}

#[test]
fn the_accepted_version_counts_until_it_is_merged_and_no_checkout_has_a_say() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let nowhere = "0123456789012345678901234567890123456789";
    write(worktree.path().join(PATH), "only in the checkout\n");
    assert_eq!(read(&repository, None, None), None);

    let accepted = commit_file(worktree.path(), PATH, "accepted\n");
    let changed = commit_file(worktree.path(), PATH, "changed by the worker\n");
    write(worktree.path().join(PATH), "only in the checkout\n");
    let (accepted, head) = (accepted.as_str(), Some(&changed));
    let own = "symphony/SYM-1";
    for (accepted, head, expected) in [
        (Some(accepted), head, Some(of("accepted\n", own))),
        (Some(accepted), None, Some(of("accepted\n", own))),
        (None, head, Some(of("changed by the worker\n", own))),
        (
            Some(nowhere),
            head,
            Some(of("changed by the worker\n", own)),
        ),
        (Some("no commit"), None, None),
    ] {
        assert_eq!(
            read(&repository, accepted, head),
            expected,
            "{accepted:?} {head:?}"
        );
    }

    git(
        &project.root,
        &["merge", "-q", "--no-ff", "-m", "merge", accepted],
    );
    commit_file(&project.root, PATH, "corrected by a person\n");
    let corrected = Some(of("corrected by a person\n", "main"));
    assert_eq!(read(&repository, Some(accepted), head), corrected);
    assert_eq!(read(&repository, None, None), corrected);
}

#[test]
fn criteria_are_those_of_the_issue_and_of_documents_that_were_accepted() {
    let project = Project::new();
    let repository = project.open();
    let worktree = made(&repository);
    let list = |item: &str| format!("## Acceptance criteria\n- {item}\n");
    let accepted = commit_file(worktree.path(), PATH, &list("accepted"));
    commit_file(worktree.path(), PATH, &list("weakened by the worker"));
    let contract = "---\nphase: architecture\ncontract_version: 1\ndispatch_profile: worker\nartifact_type: document\n\
                    artifact_path: docs/{id}/design.md\n---\n# Design\n";
    let contract = parse_contract("architecture.md", contract).unwrap();
    let profiles = BTreeSet::from([AgentType::Worker]);
    let pipeline = Pipeline::new([vec![contract]], &[], &profiles).unwrap();
    let claims = |claims: &[Delivery]| TicketDeliveries {
        own: claims.to_vec(),
        ancestors: Vec::new(),
    };
    let (issue, text) = (IssueId::parse("SYM-1").unwrap(), list("its own"));
    let read = |claims: &TicketDeliveries| -> Vec<String> {
        let criteria = repository
            .read_criteria(&issue, &text, Some(&pipeline), claims)
            .unwrap();
        criteria.items.into_iter().map(|item| item.text).collect()
    };
    assert_eq!(read(&claims(&[])), ["its own"]);
    assert_eq!(read(&claims(&[claim(&accepted)])), ["its own", "accepted"]);
}

#[test]
fn a_document_that_is_too_large_is_named_and_the_others_are_read() {
    let project = Project::new();
    let repository = project.open();
    commit_file(&project.root, PATH, &"x".repeat(5 * 1024 * 1024));
    commit_file(&project.root, "docs/small.md", "small\n");
    let document = |path: &str| TicketDocument {
        issue: IssueId::parse("SYM-1").unwrap(),
        phase: PhaseName::parse("architecture").unwrap(),
        path: path.to_owned(),
        accepted: None,
    };
    let places = DocumentPlaces {
        branch: branch("symphony/SYM-1"),
        head: None,
        base: repository.base().unwrap(),
    };
    commit_file(&project.root, "docs/binary.md", "# R\0\0");
    let places = DocumentPlaces {
        base: repository.base().unwrap(),
        ..places
    };
    let (found, problems) = repository.read_documents(vec![document("docs/binary.md")], &places);
    let told = "the document docs/binary.md of SYM-1 is left out: it is a binary file";
    let told = DocumentProblem::Unread(told.to_owned());
    assert_eq!((found, problems), (vec![], vec![told]));
    let wanted = vec![document(PATH), document("docs/small.md")];
    let (found, problems) = repository.read_documents(wanted, &places);
    assert_eq!(found.len(), 1);
    assert!(
        matches!(problems.as_slice(), [DocumentProblem::Unread(text)]
            if text.starts_with(&format!("the document {PATH} of SYM-1 is left out"))),
        "{problems:?}"
    );
}

#[test]
fn a_kept_commit_outlives_its_branch_and_a_lost_one_is_named() {
    let project = Project::new();
    let repository = project.open();
    let issue = IssueId::parse("SYM-1").unwrap();
    let lose_branch = |name: &str| {
        git(&project.root, &["branch", "-D", "-q", name]);
        git(
            &project.root,
            &["reflog", "expire", "--expire=now", "--all"],
        );
        git(&project.root, &["gc", "-q", "--prune=now"]);
    };
    let commit_on = |name: &str, text: &str| {
        git(&project.root, &["switch", "-q", "-c", name]);
        let commit = commit_file(&project.root, PATH, text);
        git(&project.root, &["switch", "-q", "main"]);
        commit
    };
    let problems = |commit: &CommitId| {
        let wanted = TicketDocument {
            issue: issue.clone(),
            phase: PhaseName::parse("architecture").unwrap(),
            path: PATH.to_owned(),
            accepted: Some(commit.to_string()),
        };
        let places = DocumentPlaces {
            branch: branch("symphony/SYM-1"),
            head: None,
            base: repository.base().unwrap(),
        };
        let (found, problems) = repository.read_documents(vec![wanted], &places);
        let found: Vec<String> = found.into_iter().map(|found| found.text).collect();
        (found, problems)
    };
    let needed = |commit: &CommitId| NeededDocument {
        issue: issue.clone(),
        phase: PhaseName::parse("architecture").unwrap(),
        path: Some(PATH.to_owned()),
        commit: commit.to_string(),
        is_accepted: true,
        since: at(0),
    };

    let accepted = commit_on("kept", "accepted\n");
    let kept = KeptCommit {
        issue: issue.clone(),
        commit: accepted.to_string(),
    };
    assert!(repository.keep_commit(&kept).unwrap());
    assert!(repository.keep_commit(&kept).unwrap());
    assert_eq!(
        repository.kept_commits().unwrap(),
        std::slice::from_ref(&kept)
    );
    lose_branch("kept");
    assert_eq!(problems(&accepted), (vec!["accepted\n".to_owned()], vec![]));
    assert!(!repository.is_lost(&needed(&accepted)).unwrap());

    repository.release_commit(&kept).unwrap();
    repository.release_commit(&kept).unwrap();
    assert_eq!(repository.kept_commits().unwrap(), []);
    let lost = commit_on("lost", "lost\n");
    lose_branch("lost");
    assert!(
        !repository
            .keep_commit(&KeptCommit {
                commit: lost.to_string(),
                ..kept
            })
            .unwrap()
    );
    assert!(repository.is_lost(&needed(&lost)).unwrap());
    let (found, named) = problems(&lost);
    let told = format!(
        "the accepted document {PATH} of the phase architecture of SYM-1 is lost: its commit is no longer in the repository; there is no other version of it"
    );
    assert_eq!((found, named), (vec![], vec![DocumentProblem::Lost(told)]));
    // The base has it by another commit: nothing is lost.
    commit_file(&project.root, PATH, "written again\n");
    assert!(!repository.is_lost(&needed(&lost)).unwrap());
    assert_eq!(
        problems(&lost),
        (vec!["written again\n".to_owned()], vec![])
    );
}
