//! Every sub-task is named in the prompt of its parent's worker, and their details stay within their part of the budget.

use proptest::prelude::*;
use proptest::sample::select;
use symphony_prompt::{
    AgentType, CHILDREN_MAX, CHILDREN_NAMED_MAX, ChildInput, FileChange, IssueId, IssueInput,
    IssueStatus, MergedChild, ProfileDispatch, TRUNCATION_MARKER, Tokens, Workspace,
};

fn children() -> impl Strategy<Value = Vec<ChildInput>> {
    let text = prop_oneof![
        3 => "[a-zé<!>\u{200b} \n#-]{0,300}",
        1 => Just("## Acceptance criteria\n".to_owned() + &"- it holds\n".repeat(300)),
        1 => Just("é".repeat(9_000)),
    ];
    let merged = proptest::option::of((1..99_i64, 0..60_usize));
    let status = select(vec![IssueStatus::Done, IssueStatus::Cancelled]);
    proptest::collection::vec((text, merged, status), 0..40).prop_map(|parts| {
        (2..)
            .zip(parts)
            .map(|(number, (description, merged, status))| ChildInput {
                identifier: format!("SYM-{number}").parse::<IssueId>().unwrap(),
                title: format!("Part {number}"),
                status,
                description,
                merged: merged.map(|(number, files)| MergedChild {
                    number,
                    commit: "0123456789abcdef".to_owned(),
                    files: (0..files)
                        .map(|at| FileChange {
                            path: format!("src/file-{at}.rs"),
                            insertions: 3,
                            deletions: 1,
                        })
                        .collect(),
                }),
            })
            .collect()
    })
}

fn dispatch(children: Vec<ChildInput>, user_tokens: u64) -> ProfileDispatch {
    let place = Workspace {
        identifier: "SYM-1".into(),
        path: "/w".into(),
        branch: Some("b".into()),
        base: None,
    };
    let issue = IssueInput::new(IssueId::parse("SYM-1").unwrap(), "All of it", "Do it.");
    let mut dispatch = ProfileDispatch::new(AgentType::Worker, place, issue, "5d3c0f9a1e7b4826");
    dispatch.children = children;
    dispatch.budgets.user_tokens = Tokens::new(user_tokens);
    dispatch
}

proptest! {
    #[test]
    fn every_sub_task_is_named_and_details_stay_within_their_part(
        children in children(),
        user_tokens in select(vec![0_u64, 40, 400, 8_000]),
    ) {
        let built = dispatch(children.clone(), user_tokens).build().unwrap();
        for child in &children {
            let named = built.user.contains(&format!("sub-task {} ({})", child.identifier, child.status))
                || built.user.contains(&format!("{} ({})", child.identifier, child.status));
            prop_assert!(named, "{} is missing", child.identifier);
        }
        let part = built.report.user.iter().find(|part| part.part == "integration");
        prop_assert_eq!(part.is_some(), !children.is_empty());
        let Some(part) = part else { return Ok(()) };
        prop_assert_eq!(part.cap, Some(Tokens::new(user_tokens / 4)));
        // what is not details: the task, and for each sub-task its fence, its title and the mark of what is left out
        let frame = 250 + 80 * children.len() as u64;
        prop_assert!(part.tokens.get() <= user_tokens / 4 + frame, "{} tokens", part.tokens);
        let items = part.items.as_ref().unwrap();
        prop_assert_eq!(items.given, children.len());
        if items.kept < children.len().min(CHILDREN_MAX) {
            let marked = built.user.contains(TRUNCATION_MARKER) || built.user.contains("(details left out");
            prop_assert!(marked);
        }
    }
}

#[test]
fn only_the_first_are_shown_and_only_so_many_are_named() {
    let child = |number: usize| ChildInput {
        identifier: format!("SYM-{number}").parse::<IssueId>().unwrap(),
        title: "Part".into(),
        status: IssueStatus::Done,
        description: String::new(),
        merged: None,
    };
    let children: Vec<ChildInput> = (2..CHILDREN_NAMED_MAX + 5).map(child).collect();
    let built = dispatch(children, 8_000).build().unwrap();
    assert_eq!(
        built
            .user
            .matches("[sub-task SYM-")
            .count()
            .max(built.user.matches("sub-task SYM-").count()),
        CHILDREN_MAX
    );
    assert!(
        built.user.contains(", and 3 sub-tasks more."),
        "{}",
        built.user
    );
    // a judge of a change and a planner are not told
    let mut other = dispatch(vec![child(2)], 8_000);
    other.agent = AgentType::Judge;
    assert!(!other.build().unwrap().user.contains("## Integration"));
}
