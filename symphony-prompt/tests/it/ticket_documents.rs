//! The documents of a ticket in the prompts of those who work on it and judge it.

use symphony_prompt::{
    AgentType, DocumentSource, HeuristicCounter, IssueId, PhaseArtifact, ProfileDispatch,
    TokenCounter, Tokens,
};

use crate::outline::outline_of;
use crate::rich;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn document(issue: &str, phase: &str, text: &str) -> PhaseArtifact {
    let mut document = PhaseArtifact::new(
        phase.parse().unwrap(),
        format!("docs/tickets/{issue}/{phase}.md"),
        text,
    );
    document.source = Some(DocumentSource {
        branch: format!("symphony/{issue}"),
        commit: COMMIT.to_owned(),
    });
    document
}

fn with_documents(mut dispatch: ProfileDispatch, text: &str) -> ProfileDispatch {
    let mut parents = document("SYM-3", "architecture", text);
    parents.parent = Some(IssueId::parse("SYM-3").unwrap());
    dispatch.documents = vec![
        parents,
        document("SYM-12", "grooming", "# Plan\n\nOne step."),
    ];
    dispatch
}

#[test]
fn workers_and_judges_are_given_the_documents_with_their_source() {
    for dispatch in [
        rich::profile(&AgentType::Worker),
        rich::judge_of_pull_request(),
        rich::judge_of_phase(),
    ] {
        let built = with_documents(dispatch, "# Design\n\nWe cache.")
            .build()
            .unwrap();
        let labels: Vec<String> = outline_of(&built)
            .fences
            .into_iter()
            .map(|fence| fence.label)
            .filter(|label| label.starts_with("artifact of the phase") && label.contains(", from "))
            .collect();
        assert_eq!(
            labels,
            [
                "artifact of the phase architecture of the parent SYM-3 in docs/tickets/SYM-3/architecture.md, \
                 from symphony/SYM-3 at 0123456789ab, by the phase's agent",
                "artifact of the phase grooming in docs/tickets/SYM-12/grooming.md, \
                 from symphony/SYM-12 at 0123456789ab, by the phase's agent",
            ]
        );
        let part = built
            .report
            .user
            .iter()
            .find(|part| part.part == "documents");
        assert_eq!(
            part.and_then(|part| part.note.as_deref()),
            Some(
                "architecture of SYM-3: whole, from symphony/SYM-3 at 0123456789ab; \
                 grooming: whole, from symphony/SYM-12 at 0123456789ab"
            )
        );
    }
}

#[test]
fn documents_share_their_own_budget_and_say_how_the_whole_is_read() {
    let long = format!("# Design\n\nWe cache.\n\n{}", "reason ".repeat(6_000));
    let bare = rich::profile(&AgentType::Worker).build().unwrap();
    let built = with_documents(rich::profile(&AgentType::Worker), &long)
        .build()
        .unwrap();
    let part = built
        .report
        .user
        .iter()
        .find(|part| part.part == "documents")
        .unwrap();
    assert_eq!(part.cap, Some(Tokens::new(4_000)));
    let text: String = outline_of(&built)
        .fences
        .into_iter()
        .filter(|fence| fence.label.contains(", from "))
        .map(|fence| fence.text)
        .collect();
    let tokens = HeuristicCounter::default().count(&text).get();
    assert!((3_800..=4_000).contains(&tokens), "{tokens}");
    let command = format!("`git show {COMMIT}:docs/tickets/SYM-3/architecture.md`");
    assert!(built.user.contains(&command), "{}", built.user);
    // The other sections keep their shares.
    for part in &bare.report.user {
        let with = built
            .report
            .user
            .iter()
            .find(|other| other.part == part.part);
        assert_eq!(
            with.map(|with| with.tokens),
            Some(part.tokens),
            "{}",
            part.part
        );
    }
}

#[test]
fn no_command_is_offered_for_a_path_that_a_shell_would_read_differently() {
    let mut dispatch = with_documents(rich::profile(&AgentType::Worker), &"word ".repeat(9_000));
    dispatch.documents[0].path = "docs/$(touch x).md".to_owned();
    assert!(!dispatch.build().unwrap().user.contains("git show"));
}

#[test]
fn documents_from_higher_up_get_the_room_that_nearer_ones_leave() {
    let far = |text: &str| {
        let mut far = document("SYM-1", "architecture", text);
        far.parent = Some(IssueId::parse("SYM-1").unwrap());
        far.levels_above = 2;
        far
    };
    let long = |word: &str| format!("# Design\n\n{}", format!("{word} ").repeat(6_000));
    for (near, note) in [
        (
            "# Design\n\nWe cache.".to_owned(),
            ["shortened", "whole", "whole"],
        ),
        (long("near"), ["no room", "shortened", "whole"]),
    ] {
        let mut dispatch = with_documents(rich::profile(&AgentType::Worker), &near);
        dispatch.documents.insert(0, far(&long("far")));
        let built = dispatch.build().unwrap();
        let part = built
            .report
            .user
            .iter()
            .find(|part| part.part == "documents");
        let notes: Vec<String> = part
            .and_then(|part| part.note.clone())
            .unwrap_or_default()
            .split("; ")
            .map(|note| {
                note.split([':', ','])
                    .nth(1)
                    .unwrap_or_default()
                    .trim()
                    .to_owned()
            })
            .collect();
        assert_eq!(notes, note, "{part:?}");
        let label = "artifact of the phase architecture of SYM-1, 2 levels above, in docs/tickets/SYM-1/architecture.md";
        assert!(built.user.contains(label), "{}", built.user);
    }
}
