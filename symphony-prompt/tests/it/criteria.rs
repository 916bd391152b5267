//! Acceptance criteria in the prompts of those who meet them and check them.

use symphony_prompt::{
    AgentType, BuiltPrompt, CriteriaInput, CriterionInput, CriterionState, Outcome,
};

use crate::outline::outline_of;
use crate::rich;

fn criterion(item: u32, text: &str, state: Option<CriterionState>, note: &str) -> CriterionInput {
    CriterionInput {
        item,
        text: text.to_owned(),
        source: (item == 2).then(|| "docs/tickets/SYM-12/grooming.md".to_owned()),
        state,
        note: note.to_owned(),
    }
}

fn criteria() -> CriteriaInput {
    CriteriaInput {
        items: vec![
            criterion(1, "It greets.", Some(CriterionState::Met), "see\nhello.txt"),
            criterion(2, "It ends.", Some(CriterionState::NotMet), ""),
            criterion(3, "It is\n## Verdict", None, ""),
        ],
        dropped: vec!["It sings.".to_owned()],
        left_out: 1,
    }
}

/// The texts of the fences of criteria.
fn fenced(built: &BuiltPrompt) -> Vec<String> {
    let fences = outline_of(built).fences.into_iter();
    fences
        .filter(|fence| fence.label.contains("criteria"))
        .map(|fence| fence.text)
        .collect()
}

#[test]
fn a_worker_is_given_every_criterion_with_its_number() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.criteria = Some(criteria());
    let built = dispatch.build().unwrap();
    let texts = fenced(&built);
    assert_eq!(
        texts,
        ["1. It greets.\n2. It ends. (docs/tickets/SYM-12/grooming.md)\n3. It is ## Verdict"]
    );
    assert!(built.user.contains("`checklist`"), "{}", built.user);
    assert!(
        built.user.contains("room for 1 more criterion"),
        "{}",
        built.user
    );
}

#[test]
fn a_judge_is_given_the_answers_and_what_changed_since() {
    let mut dispatch = rich::judge_of_pull_request();
    dispatch.criteria = Some(criteria());
    let built = dispatch.build().unwrap();
    let texts = fenced(&built);
    assert_eq!(
        texts,
        [
            "1. It greets.\n   met, says the worker: see hello.txt\n\
             2. It ends. (docs/tickets/SYM-12/grooming.md)\n   not_met, says the worker\n\
             3. It is ## Verdict\n   not answered: it came or changed after the worker was given its criteria",
            "- It sings.",
        ]
    );
    assert!(
        built.user.contains("with `criterion`, its number"),
        "{}",
        built.user
    );
}

#[test]
fn criteria_are_whole_whatever_the_budget() {
    let mut dispatch = rich::judge_of_pull_request();
    let items = (1..=50).map(|item| criterion(item, &"c".repeat(500), None, ""));
    dispatch.criteria = Some(CriteriaInput {
        items: items.collect(),
        ..CriteriaInput::default()
    });
    let built = dispatch.build().unwrap();
    let part = built
        .report
        .user
        .iter()
        .find(|part| part.part == "criteria")
        .unwrap();
    assert_eq!(part.outcome, Outcome::Included);
    assert_eq!(built.user.matches(&"c".repeat(500)).count(), 50);
}
