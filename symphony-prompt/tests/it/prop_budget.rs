//! Properties of budgets and truncation, for any input.

use proptest::prelude::*;
use symphony_prompt::{
    AgentType, AttemptInput, CommentAuthor, CommentInput, FindingInput, FindingKind,
    HeuristicCounter, Layer, LayerName, OmissionList, Outcome, Protection, Review, RunStatus,
    Shares, SharesRow, TRUNCATION_MARKER, TokenCounter, Tokens, build_system_prompt,
    estimate_tokens, truncate_head, truncate_tail,
};
use unicode_segmentation::UnicodeSegmentation;

use crate::outline::outline_of;
use crate::rich;

/// Texts with clusters of many kinds, some long.
fn text() -> impl Strategy<Value = String> {
    let cluster = prop_oneof![
        "[a-z ]{1,30}",
        Just("👨‍👩‍👧‍👦".to_owned()),
        Just("🇩🇪".to_owned()),
        Just("e\u{301}\u{302}".to_owned()),
        Just("\r\n".to_owned()),
        Just("한국".to_owned()),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(cluster, 0..40).prop_map(|parts| parts.concat())
}

fn comment(content: String) -> CommentInput {
    CommentInput {
        author: CommentAuthor::Human,
        content,
        created_at: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Truncation never exceeds its cap with the marker, and never splits a grapheme cluster.
    #[test]
    fn truncation_is_exact(text in text(), cap in 0u64..60) {
        let counter = HeuristicCounter::default();
        let cap = Tokens::new(cap);
        let boundaries: Vec<usize> =
            text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
        let tail = truncate_tail(&text, cap, &counter);
        let head = truncate_head(&text, cap, &counter);
        prop_assert!(counter.count(&tail) <= cap && counter.count(&head) <= cap);
        if counter.count(&text) <= cap {
            prop_assert_eq!(&tail, &text);
            prop_assert_eq!(&head, &text);
        } else if cap.get() * 4 < 14 {
            prop_assert_eq!(tail, "");
            prop_assert_eq!(head, "");
        } else {
            let kept = tail.strip_prefix(TRUNCATION_MARKER).unwrap();
            prop_assert!(text.ends_with(kept) && boundaries.contains(&(text.len() - kept.len())));
            let kept = head.strip_suffix(TRUNCATION_MARKER).unwrap();
            prop_assert!(text.starts_with(kept) && boundaries.contains(&kept.len()));
        }
    }

    /// The count is that of the plain definition.
    #[test]
    fn the_estimate_is_characters_by_four(text in text()) {
        prop_assert_eq!(estimate_tokens(&text).get(), text.chars().count().div_ceil(4) as u64);
    }

    /// Percentages are accepted exactly when they add up to 100, and their caps never exceed the budget.
    #[test]
    fn shares_are_one_whole(parts in prop::array::uniform6(0u8..=60), budget in 0u64..100_000) {
        let [description, diff, findings, learnings, comments, previous_output] = parts;
        let row = SharesRow { description, diff, findings, learnings, comments, previous_output };
        let sum: u32 = parts.iter().map(|part| u32::from(*part)).sum();
        prop_assert_eq!(Shares::new(row).is_ok(), sum == 100);
        let mut whole = row;
        whole.description = 0;
        let rest = sum - u32::from(description);
        if let Ok(missing) = u8::try_from(100u32.saturating_sub(rest)) && rest <= 100 {
            whole.description = missing;
            let caps = Shares::new(whole).unwrap().caps(Tokens::new(budget));
            let total: Tokens = [caps.description, caps.diff, caps.findings, caps.learnings, caps.comments, caps.previous_output]
                .into_iter()
                .sum();
            prop_assert!(total.get() <= budget);
        }
    }

    /// Protected and unbudgeted layers are always whole; nothing else makes the prompt longer than its budget.
    #[test]
    fn the_waterfall_holds(
        texts in prop::collection::btree_map(0..LayerName::ALL.len(), text(), 0..11),
        budget in 0u64..400,
    ) {
        let counter = HeuristicCounter::default();
        let layers: Vec<Layer<'_>> =
            texts.iter().map(|(index, text)| Layer::new(LayerName::ALL[*index], text.as_str())).collect();
        let built = build_system_prompt(layers.clone(), &OmissionList::default(), Tokens::new(budget), &counter);
        let again = build_system_prompt(layers.clone(), &OmissionList::default(), Tokens::new(budget), &counter);
        prop_assert_eq!(&built, &again);
        let fixed = |layer: &Layer<'_>| matches!(layer.name.protection(), Protection::Protected | Protection::Unbudgeted);
        for layer in &layers {
            let body = layer.text.trim_end().trim_start_matches(['\n', '\r']);
            if fixed(layer) {
                prop_assert!(built.text.contains(body), "{}", layer.name);
            }
            if let Some(part) = built.parts.iter().find(|part| part.part == layer.name.name()) {
                let cut = matches!(part.outcome, Outcome::Truncated { .. });
                prop_assert!(!cut || layer.name.protection() == Protection::Flexible);
            }
        }
        let over = estimate_tokens(&built.text).get() > budget;
        prop_assert_eq!(over, !built.warnings.is_empty());
        if over {
            let kept: Vec<&str> = built.parts.iter().filter(|part| part.tokens > Tokens::ZERO).map(|part| part.part.as_str()).collect();
            let all_fixed = layers.iter().filter(|layer| kept.contains(&layer.name.name())).all(fixed);
            prop_assert!(all_fixed, "{:?}", kept);
        }
    }

    /// No budgeted part of the user prompt is over its share, the newest survives, and the same input gives the same bytes.
    #[test]
    fn no_share_is_exceeded(
        description in text(),
        outputs in prop::collection::vec(text(), 0..5),
        comments in prop::collection::vec(text(), 0..8),
        findings in prop::collection::vec(text(), 0..8),
        learnings in prop::collection::vec(text(), 0..12),
        diff in text(),
        budget in 0u64..1_500,
    ) {
        let mut dispatch = rich::judge_of_pull_request();
        dispatch.budgets.user_tokens = Tokens::new(budget);
        dispatch.issue.description = description;
        dispatch.attempts = (1u32..)
            .zip(&outputs)
            .map(|(attempt, output)| AttemptInput {
                attempt, status: RunStatus::Failed, agent: None, duration_ms: None, error: None, output_tail: output.clone(),
            })
            .collect();
        dispatch.comments = comments.iter().cloned().map(comment).collect();
        dispatch.findings = findings
            .iter()
            .map(|text| FindingInput { kind: FindingKind::Approach, author: CommentAuthor::System, text: text.clone(), files: vec![] })
            .collect();
        dispatch.learnings = learnings;
        if let Some(Review::PullRequest(review)) = &mut dispatch.review {
            review.diff = Some(format!("diff --git a/x b/x\n{diff}\ndiff --git a/y b/y\n{diff}"));
        }
        let built = dispatch.build().unwrap();
        prop_assert_eq!(&dispatch.build().unwrap(), &built);
        let caps = Shares::WITH_DIFF.caps(Tokens::new(budget));
        let fences = outline_of(&built).fences;
        let tokens = |prefix: &str| -> Tokens {
            fences.iter().filter(|fence| fence.label.starts_with(prefix)).map(|fence| estimate_tokens(&fence.text)).sum()
        };
        prop_assert!(tokens("description") <= caps.description);
        prop_assert!(tokens("diff of the branch") <= caps.diff);
        prop_assert!(tokens("end of the output") <= caps.previous_output);
        prop_assert!(tokens("comment") <= caps.comments);
        prop_assert!(tokens("finding") <= caps.findings);
        if let Some(learnings) = built.report.user.iter().find(|part| part.part == "related_learnings") {
            prop_assert!(learnings.tokens <= caps.learnings + estimate_tokens("## Related Learnings\n\n"));
        }
        // With room for its fence and the marker, the newest comment is there, whole or cut.
        if caps.comments.get() > 40 && !comments.is_empty() {
            prop_assert!(fences.iter().any(|fence| fence.label.starts_with("comment")));
        }
    }

    /// Of a list, what is kept is an unbroken run up to the newest.
    #[test]
    fn the_newest_survive(lengths in prop::collection::vec(0usize..2_000, 1..12)) {
        let mut dispatch = rich::profile(&AgentType::Worker);
        dispatch.comments = lengths
            .iter()
            .enumerate()
            .map(|(index, length)| comment(format!("{}<{index}>", "x".repeat(*length))))
            .collect();
        let kept: Vec<String> = outline_of(&dispatch.build().unwrap())
            .fences
            .into_iter()
            .filter(|fence| fence.label.starts_with("comment"))
            .map(|fence| fence.text)
            .collect();
        prop_assert!(!kept.is_empty());
        for (text, index) in kept.iter().rev().zip((0..lengths.len()).rev()) {
            let mark = format!("<{index}>");
            prop_assert!(text.ends_with(&mark));
        }
    }
}
