//! Caps, hard limits and what is kept, seen from outside.

use symphony_prompt::{
    AgentType, AttemptInput, Budgets, CommentAuthor, CommentInput, FindingInput, FindingKind,
    Outcome, PartReport, PhaseArtifact, ProfileDispatch, Review, RunStatus, Tokens, Warning,
};

use crate::outline::{Fence, outline_of};
use crate::rich;

pub(crate) fn part<'a>(parts: &'a [PartReport], name: &str) -> &'a PartReport {
    parts
        .iter()
        .find(|part| part.part == name)
        .expect("the part is reported")
}

pub(crate) fn comments(count: usize, chars: usize) -> Vec<CommentInput> {
    (0..count)
        .map(|n| CommentInput {
            author: CommentAuthor::Human,
            content: format!("<{n}> {}", "c".repeat(chars)),
            created_at: None,
        })
        .collect()
}

fn findings(count: usize) -> Vec<FindingInput> {
    (0..count)
        .map(|n| FindingInput {
            kind: FindingKind::Note,
            author: CommentAuthor::System,
            text: format!("finding <{n}>"),
            files: Vec::new(),
        })
        .collect()
}

fn attempts(count: u32, chars: usize) -> Vec<AttemptInput> {
    (1..=count)
        .map(|attempt| AttemptInput {
            attempt,
            status: RunStatus::Failed,
            agent: None,
            duration_ms: None,
            error: None,
            output_tail: "o".repeat(chars) + &format!("<end of {attempt}>"),
        })
        .collect()
}

pub(crate) fn fences(dispatch: &ProfileDispatch, label: &str) -> Vec<Fence> {
    outline_of(&dispatch.build().expect("the example builds"))
        .fences
        .into_iter()
        .filter(|fence| fence.label.contains(label))
        .collect()
}

#[test]
fn a_description_keeps_its_end_behind_the_marker() {
    for (chars, whole) in [(8_000, true), (8_001, false)] {
        let mut dispatch = rich::profile(&AgentType::Worker);
        dispatch.issue.description = "d".repeat(chars - 3) + "end";
        let built = dispatch.build().unwrap();
        let fence = &outline_of(&built).fences[0];
        assert_eq!(fence.label, "description of SYM-12, by human");
        assert_eq!(fence.text.len(), 8_000);
        assert_eq!(fence.text.starts_with("...(truncated)d"), !whole);
        assert!(fence.text.ends_with("end"));
        let report = part(&built.report.user, "description");
        assert_eq!(report.cap, Some(Tokens::new(2_000)));
        let cut = Outcome::Truncated {
            from: Tokens::new(2_001),
            to: Tokens::new(2_000),
        };
        assert_eq!(report.outcome, if whole { Outcome::Included } else { cut });
    }
}

#[test]
fn a_judge_with_a_diff_has_the_other_shares() {
    let built = rich::judge_of_pull_request().build().unwrap();
    let caps: Vec<Option<u64>> = [
        "description",
        "diff",
        "previous_attempts",
        "conversation",
        "related_learnings",
    ]
    .map(|name| part(&built.report.user, name).cap.map(Tokens::get))
    .to_vec();
    assert_eq!(caps, [1_200, 2_000, 2_000, 800, 800].map(Some));
    let built = rich::judge_of_phase().build().unwrap();
    assert_eq!(
        part(&built.report.user, "description").cap,
        Some(Tokens::new(2_000))
    );
}

#[test]
fn the_newest_comments_are_kept_in_their_order() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.comments = comments(10, 800);
    let built = dispatch.build().unwrap();
    let kept: Vec<String> = outline_of(&built)
        .fences
        .into_iter()
        .filter(|fence| fence.label.starts_with("comment"))
        .map(|fence| fence.text.chars().take(3).collect())
        .collect();
    assert_eq!(kept, ["<5>", "<6>", "<7>", "<8>", "<9>"]);
    let items = part(&built.report.user, "conversation").items.clone();
    let items = items.unwrap();
    assert_eq!((items.given, items.kept, items.left_out), (10, 5, vec![]));
}

#[test]
fn a_newest_comment_over_the_cap_is_kept_cut() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.comments = comments(2, 9_000);
    let kept = fences(&dispatch, "comment");
    assert_eq!(kept.len(), 1);
    assert!(kept[0].text.starts_with("...(truncated)c"));
}

#[test]
fn an_older_item_does_not_slip_past_one_that_did_not_fit() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.comments = [comments(1, 10), comments(1, 9_000), comments(1, 20)].concat();
    let kept = fences(&dispatch, "comment");
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].text.len(), 24);
}

#[test]
fn hard_limits_hold_before_the_budget() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.findings = findings(9);
    let kept: Vec<String> = fences(&dispatch, "finding")
        .into_iter()
        .map(|fence| fence.text)
        .collect();
    assert_eq!(kept, [4, 5, 6, 7, 8].map(|n| format!("finding <{n}>")));
    dispatch.attempts = attempts(5, 10);
    let user = dispatch.build().unwrap().user;
    let shown: Vec<bool> = (1..=5)
        .map(|n| user.contains(&format!("- Attempt {n}: failed")))
        .collect();
    assert_eq!(shown, [false, false, true, true, true]);
    dispatch.learnings = (0..30).map(|n| format!("learning <{n}>")).collect();
    let user = dispatch.build().unwrap().user;
    assert!(user.contains("learning <24>") && !user.contains("learning <25>"));
    let mut phase = rich::phase(AgentType::Architect, "architecture");
    phase.comments = comments(8, 10);
    let user = phase.build().unwrap().user;
    assert!(!user.contains("<2> c") && user.contains("<3> c") && user.contains("<7> c"));
}

#[test]
fn output_tails_share_one_cap_and_the_newest_is_served_first() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.attempts = attempts(3, 5_000);
    let built = dispatch.build().unwrap();
    let tails: Vec<Fence> = outline_of(&built)
        .fences
        .into_iter()
        .filter(|fence| fence.label.starts_with("end of the output"))
        .collect();
    assert_eq!(tails.len(), 2, "nothing is left for the oldest");
    assert!(tails[0].text.starts_with("...(truncated)o") && tails[0].text.ends_with("<end of 2>"));
    assert!(tails[1].text.starts_with('o') && tails[1].text.ends_with("<end of 3>"));
    let total: usize = tails.iter().map(|fence| fence.text.len()).sum();
    assert!((7_990..=8_000).contains(&total), "{total}");
}

#[test]
fn output_is_limited_to_its_last_50_kib() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.attempts = attempts(1, 100_000);
    dispatch.budgets.user_tokens = Tokens::new(1_000_000);
    let tails = fences(&dispatch, "end of the output");
    assert_eq!(tails[0].text.len(), 50 * 1024);
}

#[test]
fn a_diff_is_limited_and_what_was_cut_is_listed() {
    let mut dispatch = rich::judge_of_pull_request();
    let Some(Review::PullRequest(review)) = &mut dispatch.review else {
        panic!("the example reviews a pull request");
    };
    let two_files = |lines: usize| {
        ["a.rs", "b.rs"]
            .map(|name| {
                format!(
                    "diff --git a/{name} b/{name}\n{}",
                    "+added line\n".repeat(lines)
                )
            })
            .concat()
    };
    review.diff = Some(two_files(1_500));
    let built = dispatch.build().unwrap();
    let outline = outline_of(&built);
    let shown = outline
        .fences
        .iter()
        .find(|fence| fence.label.starts_with("diff of the branch"))
        .unwrap();
    assert!(shown.text.chars().count() <= 8_000);
    assert!(shown.text.contains("diff --git a/a.rs") && shown.text.contains("diff --git a/b.rs"));
    let list = outline
        .fences
        .iter()
        .find(|fence| fence.label.starts_with("files of the diff"))
        .unwrap();
    assert_eq!(list.text.lines().count(), 2);
    assert!(list.text.starts_with("- a.rs: 3"), "{}", list.text);
    assert!(
        built
            .user
            .contains("The whole diff is in `/srv/api/.symphony/runs/7f3a/diff.patch`")
    );
    dispatch.budgets.user_tokens = Tokens::new(1_000_000);
    if let Some(Review::PullRequest(review)) = &mut dispatch.review {
        review.diff = Some(two_files(4_000));
    }
    let outline = outline_of(&dispatch.build().unwrap());
    let shown = outline
        .fences
        .iter()
        .find(|fence| fence.label.starts_with("diff of the branch"))
        .unwrap();
    let chars = shown.text.chars().count();
    assert!((49_900..=50_100).contains(&chars), "{chars}");
}

#[test]
fn an_artifact_under_review_is_outside_the_shares_with_a_limit_of_its_own() {
    let mut dispatch = rich::judge_of_phase();
    let Some(Review::Phase(review)) = &mut dispatch.review else {
        panic!("the example reviews a phase");
    };
    review.artifact = Some("begin ".to_owned() + &"a".repeat(40_000));
    let artifact = &fences(&dispatch, "artifact of the phase")[0];
    assert_eq!(artifact.text.len(), 30_000);
    assert!(artifact.text.starts_with("begin ") && artifact.text.ends_with("...(truncated)"));
}

#[test]
fn phase_artifacts_share_four_thousand_tokens() {
    let mut dispatch = rich::phase(AgentType::Planner, "grooming");
    dispatch.artifacts = ["research", "architecture"]
        .map(|phase| {
            PhaseArtifact::new(
                phase.parse().unwrap(),
                format!("docs/tickets/SYM-12/{phase}.md"),
                format!("# {phase}\n\nFirst.\n\n{}", "long text ".repeat(1_500)),
            )
        })
        .to_vec();
    let built = dispatch.build().unwrap();
    let report = part(&built.report.user, "previous_artifacts");
    assert_eq!(report.cap, Some(Tokens::new(4_000)));
    assert_eq!(
        report.note.as_deref(),
        Some("research: shortened; architecture: shortened")
    );
    // A text of one long paragraph, too, gets the room that is left.
    assert!(report.tokens.get() > 3_900, "{:?}", report.tokens);
    dispatch.prefer_full_text = false;
    let built = dispatch.build().unwrap();
    let report = part(&built.report.user, "previous_artifacts");
    assert_eq!(
        report.note.as_deref(),
        Some("research: summarised; architecture: summarised")
    );
}

#[test]
fn long_parts_without_a_bound_are_warned_about() {
    let long = "i".repeat(16_004);
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.contract = Some(long.clone());
    dispatch.custom_instructions = Some(long.clone());
    let built = dispatch.build().unwrap();
    assert!(built.user.ends_with(&long));
    let warned: Vec<&str> = built
        .report
        .warnings
        .iter()
        .filter_map(|warning| match warning {
            Warning::LongUnboundedPart { part, .. } => Some(part.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(warned, ["contract", "project_instructions"]);
}

#[test]
fn shares_are_caps_where_nothing_is_passed_on() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.issue.description = "d".repeat(30_000);
    dispatch.comments = Vec::new();
    dispatch.findings = Vec::new();
    let built = dispatch.build().unwrap();
    assert_eq!(outline_of(&built).fences[0].text.len(), 8_000);
    assert_eq!(Budgets::default().user_tokens, Tokens::new(8_000));
    assert_eq!(Budgets::default().system_tokens, Tokens::new(12_000));
    assert_eq!(Budgets::default().artifact_tokens, Tokens::new(4_000));
}
