//! Limits to the character and to the item: what is at one is whole, what is one over is cut.

use symphony_prompt::{
    AgentType, DependencyInput, FileChange, IssueId, IssueStatus, LeftOutItem, Outcome,
    ProfileDispatch, Review, Tokens, Warning,
};

use crate::budgets::{comments, fences, part};
use crate::rich;

/// The longest text of a diff that is shown whole, and the shortest that is cut, with room enough in the budget.
#[test]
fn hard_limits_are_exact() {
    let mut dispatch = rich::judge_of_pull_request();
    dispatch.budgets.user_tokens = Tokens::new(1_000_000);
    for (chars, whole) in [(50_000, true), (50_001, false)] {
        if let Some(Review::PullRequest(review)) = &mut dispatch.review {
            review.diff = Some("d".repeat(chars));
        }
        let built = dispatch.build().unwrap();
        let cut = part(&built.report.user, "diff").outcome != Outcome::Included;
        assert_eq!(cut, !whole, "{chars}");
    }
    let long = |chars: usize| "begin ".to_owned() + &"x".repeat(chars - 10) + " end";
    let mut dispatch = rich::profile(&AgentType::Worker);
    for (chars, shown) in [(1_000, "begin x"), (1_001, "...(truncated)x")] {
        dispatch.attempts[0].error = Some(long(chars));
        let error = &fences(&dispatch, "error of attempt")[0].text;
        assert_eq!(error.len(), 1_000);
        assert!(
            error.starts_with(shown) && error.ends_with("x end"),
            "{error}"
        );
    }
    let mut dispatch = rich::judge_of_pull_request();
    for (chars, shown) in [(2_000, "begin x"), (2_001, "...(truncated)x")] {
        if let Some(Review::PullRequest(review)) = &mut dispatch.review {
            review.gate_results[1].output = long(chars);
            review.title = String::new();
            review.body = long(chars + 2_000);
        }
        let output = &fences(&dispatch, "output of the gate")[0].text;
        assert_eq!(output.len(), 2_000);
        assert!(
            output.starts_with(shown) && output.ends_with("x end"),
            "{output}"
        );
        let body = &fences(&dispatch, "title and body")[0].text;
        assert!(
            body.len() == 4_000 && body.starts_with("begin x"),
            "{}",
            body.len()
        );
        assert_eq!(body.ends_with("x...(truncated)"), shown.starts_with("..."));
    }
}

/// Escapes make an artifact longer: the limit holds for what is shown.
#[test]
fn an_artifact_is_limited_as_it_is_shown() {
    let mut dispatch = rich::judge_of_phase();
    if let Some(Review::Phase(review)) = &mut dispatch.review {
        review.artifact = Some("\u{202e}a".repeat(10_000));
    }
    let artifact = &fences(&dispatch, "artifact of the phase")[0].text;
    assert_eq!(artifact.chars().count(), 30_000);
    assert!(artifact.ends_with("...(truncated)"));
}

#[test]
fn lists_of_a_review_name_so_many_and_count_the_rest() {
    for (files, paths, rest) in [(100, 50, None), (101, 51, Some("- and 1 more"))] {
        let mut dispatch = rich::judge_of_pull_request();
        dispatch.budgets.user_tokens = Tokens::new(20_000);
        let Some(Review::PullRequest(review)) = &mut dispatch.review else {
            panic!("the example reviews a pull request");
        };
        let change = |n| FileChange {
            path: format!("src/{n}.rs"),
            insertions: 1,
            deletions: 0,
        };
        review.files = (0..files).map(change).collect();
        if let Some(risk) = &mut review.risk {
            risk.sensitive_paths = (0..paths).map(|n| format!("src/{n}.rs")).collect();
        }
        review.diff = Some((0..files).fold(String::new(), |diff, n| {
            diff + &format!("diff --git a/{n} b/{n}\n+{}\n", "x".repeat(40_000))
        }));
        for (label, count, rest) in [
            ("changed files", files + 1, rest),
            ("sensitive paths", paths, rest),
            (
                "files of the diff",
                files,
                rest.map(|_| "- and 1 more files"),
            ),
        ] {
            let list = &fences(&dispatch, label)[0].text;
            assert_eq!(list.lines().count(), count, "{label}");
            assert_eq!(
                list.lines().last().filter(|line| line.starts_with("- and")),
                rest,
                "{label}"
            );
        }
    }
}

#[test]
fn names_in_the_header_are_bounded() {
    for extra in [0, 1] {
        let mut dispatch = rich::profile(&AgentType::Worker);
        dispatch.issue.title = "t".repeat(300 + extra);
        dispatch.issue.labels = (0..50 + extra).map(|n| format!("label-{n}")).collect();
        dispatch.issue.labels[0] = "l".repeat(100 + extra);
        let user = dispatch.build().unwrap().user;
        let line = user.lines().next().unwrap();
        assert_eq!(line.len(), "# SYM-12: ".len() + 300);
        assert_eq!(line.ends_with("...(truncated)"), extra == 1);
        assert!(
            user.contains("label-49") && !user.contains("label-50"),
            "{user}"
        );
        let label = if extra == 0 {
            "l".repeat(100)
        } else {
            "l".repeat(86) + "...(truncated)"
        };
        assert!(
            user.contains(&format!("**Labels**: {label}, label-1")),
            "{user}"
        );
    }
}

/// An item that fills its cap to the last token is taken; one token more, and it is not.
#[test]
fn a_list_is_filled_to_its_cap() {
    let marker = rich::MARKER.len();
    let overhead = 2 * marker + "comment".len() + "human".len() + 9 + 2;
    let cost = |chars: usize| chars.div_ceil(4) + overhead.div_ceil(4);
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.comments = comments(2, 396);
    let both = 2 * cost(400);
    for (cap, kept) in [(both, 2), (both - 1, 1)] {
        dispatch.budgets.user_tokens = Tokens::new((cap as u64 * 100).div_ceil(15));
        assert_eq!(fences(&dispatch, "comment").len(), kept, "{cap}");
    }
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.learnings = vec!["a".repeat(397), "b".repeat(397)];
    for (cap, kept) in [(200u64, 2), (199, 1)] {
        dispatch.budgets.user_tokens = Tokens::new((cap * 100).div_ceil(15));
        let built = dispatch.build().unwrap();
        let items = part(&built.report.user, "related_learnings").items.clone();
        let items = items.unwrap();
        assert_eq!((items.given, items.kept), (2, kept), "{cap}");
        assert_eq!([0, 1].map(|index| items.holds(index)), [true, kept == 2]);
    }
}

#[test]
fn a_learning_that_has_no_room_is_passed_over_whole_and_named() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    let long = |word: &str| format!("{word} {}", "a".repeat(9_000));
    dispatch.learnings = vec![
        long("first"),
        "short".to_owned(),
        long("third"),
        "last".to_owned(),
    ];
    let built = dispatch.build().unwrap();
    let report = part(&built.report.user, "related_learnings");
    assert!(
        built
            .user
            .contains("## Related Learnings\n\n- short\n- last")
    );
    assert!(!built.user.contains("aaaa"));
    let items = report.items.as_ref().unwrap();
    assert_eq!((items.given, items.kept), (4, 2));
    let held = [0, 1, 2, 3, 4].map(|index| items.holds(index));
    assert_eq!(held, [false, true, false, true, false]);
    let named = |index: usize, word: &str| LeftOutItem {
        index,
        tokens: Tokens::new(2_253),
        beginning: format!("{word} {}…", "a".repeat(54)),
    };
    assert_eq!(items.left_out, [named(0, "first"), named(2, "third")]);
    let outcome = Outcome::Truncated {
        from: Tokens::new(4_510),
        to: Tokens::new(4),
    };
    assert_eq!(report.outcome, outcome);
    dispatch.learnings.truncate(1);
    let built = dispatch.build().unwrap();
    let report = part(&built.report.user, "related_learnings");
    assert!(matches!(report.outcome, Outcome::DroppedByBudget { .. }));
    assert!(!report.items.as_ref().unwrap().holds(0));
}

#[test]
fn a_profile_dispatch_has_as_many_comments_as_fit() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.comments = comments(20, 1);
    assert_eq!(fences(&dispatch, "comment").len(), 20);
}

#[test]
fn a_part_without_a_bound_is_long_above_four_thousand_tokens() {
    for (chars, warned) in [(16_000, false), (16_001, true)] {
        let mut dispatch = rich::profile(&AgentType::Worker);
        dispatch.contract = Some("c".repeat(chars));
        let warnings = dispatch.build().unwrap().report.warnings;
        assert_eq!(!warnings.is_empty(), warned, "{chars}");
    }
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.workspace.path = format!("/{}", "p".repeat(9_000));
    let warnings = dispatch.build().unwrap().report.warnings;
    assert!(
        matches!(warnings.as_slice(), [Warning::LongUnboundedPart { part, .. }] if part == "boundary"),
        "{warnings:?}"
    );
}

#[test]
fn the_vault_has_what_the_budget_leaves_unless_it_has_a_cap() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.vault[0].text = format!("# Refresh tokens\n\n{}", "note ".repeat(2_000));
    let vault = |dispatch: &ProfileDispatch| {
        let built = dispatch.build().unwrap();
        part(&built.report.system, "vault").tokens
    };
    assert!(vault(&dispatch) > Tokens::new(2_400));
    dispatch.budgets.vault_tokens = Some(Tokens::new(500));
    assert!(vault(&dispatch) <= Tokens::new(500));
}

#[test]
fn a_plan_phase_is_cut_to_its_maximum() {
    let mut dispatch = rich::plan_phase();
    dispatch.prompt_tokens_max = 300;
    let built = dispatch.build().unwrap();
    let report = part(&built.report.user, "plan_phase");
    assert!(
        matches!(report.outcome, Outcome::Truncated { .. }),
        "{report:?}"
    );
    assert!(report.tokens <= Tokens::new(300));
    assert!(
        built
            .user
            .contains("[Content truncated to fit the token limit]")
    );
}

#[test]
fn of_many_dependencies_those_that_have_not_ended_are_shown_and_the_rest_is_counted() {
    for (ended, open, shown_ended, rest) in [
        (20, 0, 20, None),
        (5, 20, 0, Some("- and 5 more; `get_issue` lists them")),
        (30, 2, 18, Some("- and 12 more; `get_issue` lists them")),
    ] {
        let mut dispatch = rich::profile(&AgentType::Worker);
        let dependency = |n: u64| DependencyInput {
            identifier: IssueId::new("SYM", n + 1).unwrap(),
            title: "T".to_owned(),
            status: if n < ended {
                IssueStatus::Done
            } else {
                IssueStatus::Todo
            },
        };
        dispatch.dependencies = (0..ended + open).map(dependency).collect();
        let built = dispatch.build().unwrap();
        let (_, section) = built.user.split_once("## Dependencies\n\n").unwrap();
        let lines: Vec<&str> = section
            .lines()
            .take_while(|line| !line.is_empty())
            .collect();
        let count = |status: &str| lines.iter().filter(|line| line.contains(status)).count();
        assert_eq!(
            (count("(done)"), count("(todo)")),
            (shown_ended, usize::try_from(open).unwrap())
        );
        assert_eq!(
            lines.iter().copied().find(|line| line.starts_with("- and")),
            rest
        );
        let part = built
            .report
            .user
            .iter()
            .find(|part| part.part == "dependencies")
            .unwrap();
        let items = part.items.as_ref().unwrap();
        assert_eq!((items.given as u64, items.kept), (ended + open, 20));
    }
}
