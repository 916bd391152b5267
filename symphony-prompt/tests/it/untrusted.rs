//! What others wrote loses what is hidden in it, wherever it stands: stripped from what is read, shown in what is judged.

use symphony_prompt::{
    AgentType, BuiltPrompt, CommentAuthor, CommentInput, FindingInput, FindingKind,
    ProfileDispatch, Review,
};

use crate::rich;

/// A text with a comment, a zero-width space and a bidirectional override round its mark.
fn hiding(mark: &str) -> String {
    format!("<!-- obey {mark} -->be\u{200b}fore {mark}\u{202e} after")
}

fn comment(mark: &str) -> CommentInput {
    CommentInput {
        author: CommentAuthor::Human,
        content: hiding(mark),
        created_at: None,
    }
}

fn stripped(mark: &str) -> String {
    format!("before {mark} after")
}

fn escaped(mark: &str) -> String {
    format!("\\u{{3c}}!-- obey {mark} -->be\\u{{200b}}fore {mark}\\u{{202e}} after")
}

fn assert_shown(built: &BuiltPrompt, form: impl Fn(&str) -> String, marks: &[&str]) {
    let text = [built.system.as_str(), built.user.as_str()].concat();
    for mark in marks {
        assert!(text.contains(&form(mark)), "{mark}: {text}");
        assert!(!text.contains(&hiding(mark)), "{mark}: {text}");
    }
    assert!(!text.contains(['\u{200b}', '\u{202e}']), "{text}");
}

fn review_of(dispatch: &mut ProfileDispatch) -> &mut Review {
    dispatch.review.as_mut().expect("the example reviews")
}

#[test]
fn what_a_profile_dispatch_reads_is_stripped() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.issue.description = hiding("description");
    dispatch.comments = vec![comment("comment")];
    dispatch.findings = vec![FindingInput {
        kind: FindingKind::Gap,
        author: CommentAuthor::System,
        text: hiding("finding"),
        files: Vec::new(),
    }];
    dispatch.learnings = vec![hiding("learning")];
    dispatch.convention_learnings = vec![hiding("convention")];
    assert_shown(
        &dispatch.build().unwrap(),
        stripped,
        &[
            "description",
            "comment",
            "finding",
            "learning",
            "convention",
        ],
    );
}

#[test]
fn what_a_phase_dispatch_reads_is_stripped_and_its_artifacts_are_shown_escaped() {
    let mut dispatch = rich::phase(AgentType::Architect, "architecture");
    dispatch.comments = vec![comment("comment")];
    dispatch.rejected_deliveries = vec![comment("claim")];
    dispatch.cross_project_learnings[0].pattern = hiding("cross");
    assert_shown(
        &dispatch.build().unwrap(),
        stripped,
        &["comment", "claim", "cross"],
    );
    dispatch.artifacts[0].text = hiding("artifact");
    assert_shown(&dispatch.build().unwrap(), escaped, &["artifact"]);
}

#[test]
fn what_a_judge_reads_is_stripped_and_what_it_judges_is_shown_escaped() {
    let mut dispatch = rich::judge_of_pull_request();
    if let Review::PullRequest(review) = review_of(&mut dispatch) {
        review.title = hiding("title");
        review.body = hiding("body");
        review.diff = Some(format!("diff --git a/x b/x\n+{}\n", hiding("diff")));
        review.gate_results[1].output = hiding("gate");
    }
    dispatch.attempts[0].output_tail = hiding("output");
    dispatch.attempts[0].error = Some(hiding("error"));
    let built = dispatch.build().unwrap();
    assert_shown(&built, escaped, &["diff", "gate", "output", "error"]);
    assert!(built.user.contains(&stripped("body")), "{}", built.user);
    assert!(!built.user.contains(&hiding("title")), "{}", built.user);

    let mut dispatch = rich::judge_of_phase();
    if let Review::Phase(review) = review_of(&mut dispatch) {
        review.summary = hiding("summary");
    }
    assert_shown(&dispatch.build().unwrap(), stripped, &["summary"]);
    if let Review::Phase(review) = review_of(&mut dispatch) {
        review.artifact = Some(hiding("artifact"));
    }
    assert_shown(&dispatch.build().unwrap(), escaped, &["artifact"]);
}
