//! Messages of a person: the first thing after the header, whole whatever the budget is, and always sent.

use symphony_prompt::{
    AgentType, BuiltPrompt, CommentAuthor, CommentInput, Outcome, ResumedInput, Tokens,
};

use crate::rich;

/// More than the smallest budget.
fn long() -> Vec<CommentInput> {
    let said = |content: String| CommentInput {
        author: CommentAuthor::Human,
        content,
        created_at: None,
    };
    vec![said("word ".repeat(2_000)), said("Use tabs.".to_owned())]
}

fn assert_first_and_whole(built: &BuiltPrompt, messages: &[CommentInput]) {
    let part = |part: &str| built.report.user.iter().position(|p| p.part == part);
    let place = part("messages").expect("the messages are reported");
    let before = part("resumed").or(part("header"));
    assert_eq!(Some(place), before.map(|before| before + 1));
    assert_eq!(built.report.user[place].outcome, Outcome::Included);
    for message in messages {
        assert!(built.user.contains(message.content.trim()));
    }
}

#[test]
fn messages_come_first_and_whole() {
    for agent in [AgentType::Worker, AgentType::Judge] {
        let mut dispatch = rich::profile(&agent);
        dispatch.budgets.user_tokens = Tokens::new(500);
        let without = dispatch.build().unwrap();
        dispatch.messages = long();
        let built = dispatch.build().unwrap();
        assert_first_and_whole(&built, &dispatch.messages);
        let resumed = ResumedInput::after(&without.report, None);
        let again = dispatch.build_resumed(&resumed).unwrap();
        assert_first_and_whole(&again, &dispatch.messages);
    }
    let mut dispatch = rich::phase(AgentType::Researcher, "research");
    dispatch.messages = long();
    assert_first_and_whole(&dispatch.build().unwrap(), &dispatch.messages);
}

#[test]
fn a_prompt_without_messages_has_no_section_for_them() {
    let built = rich::profile(&AgentType::Worker).build().unwrap();
    assert!(built.report.user.iter().all(|part| part.part != "messages"));
}
