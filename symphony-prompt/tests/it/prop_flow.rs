//! Nothing is cut while there is room: what sections and documents leave of their shares is passed on.

use proptest::prelude::*;
use symphony_prompt::{
    AgentType, AttemptInput, BuiltPrompt, HeuristicCounter, Outcome, PartReport, PhaseArtifact,
    Report, RunStatus, TokenCounter, Tokens, shorten_artifact,
};

use crate::budgets::{comments, part};
use crate::rich;

/// Room that may be left of a whole although something was cut: one in so many.
const ROOM_PART: u64 = 20;
/// The room in which a document begins no further paragraph, with the mark of a gap.
const DOCUMENT_UNIT: u64 = 44;

/// A document as agents write them: sections with paragraphs, lists, tables and code, of any size.
fn document() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        (1usize..120).prop_map(|words| "some words of it. ".repeat(words)),
        (1usize..20).prop_map(|items| "- an item of the list\n".repeat(items)),
        (1usize..60).prop_map(|lines| format!(
            "```rust\npub fn run(a: A) -> B {{\n{}}}\n```",
            "    step(a);\n".repeat(lines)
        )),
        (1usize..60).prop_map(|lines| format!("```\n{}```", "output of a command\n".repeat(lines))),
        (1usize..12)
            .prop_map(|rows| format!("| a | b |\n|---|---|\n{}", "| 1 | 2 |\n".repeat(rows))),
    ];
    let section = (prop::collection::vec(block, 1..6), 1usize..4);
    prop::collection::vec(section, 1..14).prop_map(|sections| {
        let sections = sections
            .into_iter()
            .enumerate()
            .map(|(at, (blocks, level))| {
                format!(
                    "{} Section {at}\n\n{}\n\n",
                    "#".repeat(level),
                    blocks.join("\n\n")
                )
            });
        sections.collect()
    })
}

fn artifacts(texts: &[String]) -> Vec<PhaseArtifact> {
    let numbered = texts.iter().enumerate();
    let artifact = |(at, text): (usize, &String)| {
        let phase = format!("phase-{at}").parse().unwrap();
        PhaseArtifact::new(phase, format!("docs/{at}.md"), text.as_str())
    };
    numbered.map(artifact).collect()
}

fn is_cut(part: &PartReport) -> bool {
    matches!(
        part.outcome,
        Outcome::Truncated { .. } | Outcome::DroppedByBudget { .. }
    )
}

/// Says how much room is left in a prompt of which a part was cut; none where nothing was.
fn room(report: &Report) -> Option<u64> {
    let any_cut = report.user.iter().any(is_cut);
    any_cut.then(|| report.user_left.expect("sections have shares").get())
}

/// A worker's prompt with texts of these sizes, in which everything is passed on.
fn worker(sizes: [usize; 3], documents: &[String], budgets: (u64, u64)) -> BuiltPrompt {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.budgets.pass_on = true;
    dispatch.budgets.user_tokens = Tokens::new(budgets.0);
    dispatch.budgets.artifact_tokens = Tokens::new(budgets.1);
    let [description, output, comment] = sizes;
    dispatch.issue.description = "d".repeat(description);
    dispatch.attempts = vec![AttemptInput {
        attempt: 1,
        status: RunStatus::Failed,
        agent: None,
        duration_ms: None,
        error: None,
        output_tail: "o".repeat(output),
    }];
    dispatch.comments = comments(6, comment);
    dispatch.documents = artifacts(documents);
    dispatch.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Of a document that is cut, at most one unit less than its room is shown.
    #[test]
    fn a_document_fills_its_room(text in document(), cap in 60u64..6_000) {
        let counter = HeuristicCounter::default();
        let short = shorten_artifact(&text, Tokens::new(cap), &counter);
        let tokens = counter.count(&short).get();
        prop_assert!(tokens <= cap);
        if short != text {
            let bound = DOCUMENT_UNIT.max(cap / ROOM_PART);
            prop_assert!(cap - tokens <= bound, "{} of {cap} left:\n{short}", cap - tokens);
        }
    }

    /// Whenever a text or a document of a worker's prompt is cut, there is no room left for more of it.
    #[test]
    fn no_room_is_left_where_something_is_cut(
        description in 0usize..60_000,
        output in 0usize..60_000,
        comment in 0usize..3_000,
        documents in prop::collection::vec(document(), 0..4),
        user in 400u64..9_000,
        shared in 100u64..6_000,
    ) {
        let built = worker([description, output, comment], &documents, (user, shared));
        let total = user + if documents.is_empty() { 0 } else { shared };
        if let Some(left) = room(&built.report) {
            let texts = ["description", "documents", "previous_attempts"];
            let text_is_cut = built.report.user.iter().any(|part| texts.contains(&part.part.as_str()) && is_cut(part));
            // A list has no smaller unit than its next item.
            let unit = if text_is_cut { DOCUMENT_UNIT } else { comment as u64 / 4 + 60 };
            prop_assert!(left <= unit.max(total / ROOM_PART), "{left} of {total} left: {:#?}", built.report.user);
        }
        let spent: u64 = built.report.user.iter().filter_map(|part| match part.outcome {
            Outcome::Truncated { to, .. } => Some(to.get()),
            _ => None,
        }).sum();
        prop_assert!(spent <= total);
    }

    /// The same of the documents of a phase.
    #[test]
    fn no_room_is_left_where_a_document_of_a_phase_is_cut(
        documents in prop::collection::vec(document(), 1..4),
        user in 400u64..9_000,
        shared in 100u64..6_000,
    ) {
        let mut dispatch = rich::phase(AgentType::Planner, "grooming");
        dispatch.budgets.pass_on = true;
        dispatch.budgets.user_tokens = Tokens::new(user);
        dispatch.budgets.artifact_tokens = Tokens::new(shared);
        dispatch.artifacts = artifacts(&documents);
        let report = dispatch.build().unwrap().report;
        if is_cut(part(&report.user, "previous_artifacts")) {
            let left = report.user_left.unwrap().get();
            let total = user + shared;
            prop_assert!(left <= DOCUMENT_UNIT.max(total / ROOM_PART), "{left} of {total} left");
        }
    }
}

#[test]
fn a_long_design_is_whole_where_the_rest_of_the_prompt_is_short() {
    let design = format!("# Design\n\n{}", "A sentence of the design. ".repeat(950));
    let built = worker([800, 0, 40], &[design], (8_000, 4_000));
    let documents = part(&built.report.user, "documents");
    assert!(documents.tokens > Tokens::new(6_000), "{documents:?}");
    assert_eq!(documents.outcome, Outcome::Included);
    // Each part that was cut has its own share at least.
    let built = worker(
        [60_000, 60_000, 3_000],
        &["word ".repeat(20_000)],
        (8_000, 4_000),
    );
    for (name, share) in [
        ("description", 2_000),
        ("documents", 4_000),
        ("previous_attempts", 2_000),
    ] {
        let part = part(&built.report.user, name);
        let Outcome::Truncated { to, .. } = part.outcome else {
            panic!("{name} is cut: {part:?}")
        };
        assert!(to.get() >= share - DOCUMENT_UNIT, "{name}: {to}");
    }
}
