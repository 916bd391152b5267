//! No open review point is ever missing from a prompt, or cut, whatever the budget and whatever else there is.

use proptest::prelude::*;
use proptest::sample::select;
use symphony_prompt::{
    AgentType, AnswerKind, AnswerPatch, CommentAuthor, CommentInput, PointAnswerInput, PointInput,
    PointNumber, Review, Severity, Shares, Tokens, estimate_tokens, strip_hidden,
};

use crate::outline::outline_of;
use crate::rich;

fn answer() -> impl Strategy<Value = PointAnswerInput> {
    let kind = select(AnswerKind::ALL.to_vec());
    (kind, "[a-zé<!>\u{200b} -]{1,200}", any::<bool>()).prop_map(|(kind, text, commit)| {
        PointAnswerInput {
            kind,
            author: CommentAuthor::Agent(AgentType::Worker),
            commit: commit.then(|| "0123456789abcdef".to_owned()),
            text,
        }
    })
}

fn points() -> impl Strategy<Value = Vec<PointInput>> {
    let severity = select(Severity::ALL.to_vec());
    let text = prop_oneof![
        4 => "[a-zé<!>\u{200b}\u{202e} \n-]{1,300}",
        1 => Just("é".repeat(2_000)),
        1 => Just("word ".repeat(400)),
    ];
    let place = proptest::option::of("[a-z]{1,9}\\.rs:[1-9]{1,3}");
    let one = (
        severity,
        text,
        place,
        proptest::collection::vec(answer(), 0..3),
    );
    proptest::collection::vec(one, 0..50).prop_map(|parts| {
        (1..)
            .zip(parts)
            .map(|(number, (severity, text, place, answers))| PointInput {
                number: PointNumber::new(number),
                severity,
                author: CommentAuthor::Agent(AgentType::Judge),
                review: Some("pull request 2".to_owned()),
                place,
                text: format!("[{number}] {text} [/{number}]"),
                answered: false,
                answers,
            })
            .collect()
    })
}

/// Every point and every answer stands in a fence of its own, whole.
fn assert_whole(
    points: &[PointInput],
    built: &symphony_prompt::BuiltPrompt,
) -> Result<(), TestCaseError> {
    let fences = outline_of(built).fences;
    // the text itself is searched in the prompt, because reading fences back drops empty first lines
    let has = |label: &str, text: &str| {
        let is_labelled = fences.iter().any(|fence| fence.label.starts_with(label));
        is_labelled && built.user.contains(strip_hidden(text).as_ref())
    };
    for point in points {
        let label = format!("point {} of", point.number);
        prop_assert!(has(&label, &point.text), "{label} is missing or cut");
        for answer in &point.answers {
            let label = format!("answer to point {} ({}", point.number, answer.kind);
            prop_assert!(has(&label, &answer.text), "{label} is missing or cut");
        }
    }
    let part = built
        .report
        .user
        .iter()
        .find(|part| part.part == "review_points");
    prop_assert_eq!(part.is_some(), !points.is_empty());
    if let Some(part) = part {
        let note = part.note.as_deref();
        prop_assert_eq!(note, Some("protected: never cut"));
        let warns = built
            .report
            .warnings
            .iter()
            .any(|warning| warning.to_string().contains("review_points"));
        prop_assert_eq!(
            warns,
            part.tokens > symphony_prompt::UNBOUNDED_WARNING_TOKENS
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_open_point_is_missing_from_a_prompt(
        points in points(),
        agent in select(vec![AgentType::Worker, AgentType::Judge, AgentType::Planner, AgentType::Architect]),
        budget in 0u64..1_500,
        comments in proptest::collection::vec("[a-z \n]{0,3000}", 0..4),
    ) {
        let later: Vec<CommentInput> = comments
            .into_iter()
            .map(|content| CommentInput { author: CommentAuthor::Human, content, created_at: None })
            .collect();
        let mut dispatch = rich::profile(&agent);
        dispatch.budgets.user_tokens = Tokens::new(budget);
        dispatch.review_points = points.clone();
        dispatch.comments.extend(later.clone());
        assert_whole(&points, &dispatch.build().unwrap())?;
        let mut phase = rich::phase(AgentType::Architect, "architecture");
        phase.budgets.user_tokens = Tokens::new(budget);
        phase.review_points = points.clone();
        phase.comments.extend(later);
        assert_whole(&points, &phase.build().unwrap())?;
    }

    /// The worker template of a plan's phase is cut at its end when it is too long; the points are not.
    #[test]
    fn no_open_point_is_missing_from_the_prompt_of_a_plans_phase(
        points in points(),
        maximum in 0u64..1_500,
        tasks in proptest::collection::vec("[a-z \n#]{1,3000}", 1..4),
    ) {
        let mut dispatch = rich::plan_phase();
        dispatch.prompt_tokens_max = maximum;
        dispatch.worker.phase.tasks = tasks;
        dispatch.review_points = points.clone();
        dispatch.fence_marker = rich::MARKER.to_owned();
        let built = dispatch.build().unwrap();
        if points.is_empty() {
            prop_assert_eq!(built.report.fence_marker, None);
        } else {
            assert_whole(&points, &built)?;
        }
    }

    /// What answers points takes at most half of the diff's share, each patch whole; both stay within it.
    #[test]
    fn the_answers_and_the_diff_share_one_share(
        lengths in proptest::collection::vec(0usize..3_000, 0..6),
        budget in 0u64..8_000,
    ) {
        let mut dispatch = rich::judge_of_pull_request();
        dispatch.budgets.user_tokens = Tokens::new(budget);
        let patches: Vec<AnswerPatch> = (1..)
            .zip(&lengths)
            .map(|(number, length)| AnswerPatch {
                commit: format!("{number:012x}{:028}", 0),
                points: vec![PointNumber::new(number)],
                patch: Some("x".repeat(*length)),
            })
            .collect();
        if let Some(Review::PullRequest(review)) = &mut dispatch.review {
            review.answer_patches.clone_from(&patches);
            review.diff = Some(format!("diff --git a/x b/x\n{}", "+line\n".repeat(4_000)));
        }
        let built = dispatch.build().unwrap();
        let fences = outline_of(&built).fences;
        let share = Shares::WITH_DIFF.caps(Tokens::new(budget)).diff;
        let tokens = |prefix: &str| -> Tokens {
            fences.iter().filter(|fence| fence.label.starts_with(prefix)).map(|fence| estimate_tokens(&fence.text)).sum()
        };
        prop_assert!(tokens("diff of commit").get() <= share.get() / 2);
        prop_assert!(tokens("diff of commit") + tokens("diff of the branch") <= share);
        for patch in &patches {
            let begin: String = patch.commit.chars().take(12).collect();
            let label = format!("diff of commit {begin}");
            let shown = fences.iter().find(|fence| fence.label.starts_with(&label));
            let is_whole = shown.is_none_or(|fence| Some(&fence.text) == patch.patch.as_ref());
            prop_assert!(is_whole);
        }
    }
}
