//! An untrusted text cannot end its fence, whatever it contains.

use proptest::prelude::*;
use symphony_prompt::{
    AgentType, CommentAuthor, CommentInput, Warning, escape_hidden, strip_hidden,
};

use crate::outline::outline_of;
use crate::rich::{self, MARKER};

/// Texts that know the marker and try to hide it in what is stripped.
fn attack() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(MARKER.to_owned()),
        Just(MARKER.split_at(8).0.to_owned()),
        Just(MARKER.split_at(8).1.to_owned()),
        Just("<!--".to_owned()),
        Just("-->".to_owned()),
        Just("\u{200b}".to_owned()),
        Just("\u{202e}".to_owned()),
        Just("\r".to_owned()),
        Just("\n".to_owned()),
        Just("\u{2028}".to_owned()),
        "[ -~]{0,12}",
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_text_ends_its_fence(
        title in attack(),
        description in attack(),
        comments in prop::collection::vec(attack(), 0..4),
        output in attack(),
        learning in attack(),
        label in attack(),
    ) {
        let mut dispatch = rich::judge_of_pull_request();
        dispatch.issue.title = title;
        dispatch.issue.labels = vec![label];
        dispatch.issue.description = description.clone();
        dispatch.attempts[0].output_tail = output;
        dispatch.learnings = vec![learning];
        dispatch.comments = comments
            .iter()
            .map(|content| CommentInput { author: CommentAuthor::Human, content: content.clone(), created_at: None })
            .collect();
        let built = dispatch.build().unwrap();
        // The outline asserts that every fence is closed by the bare marker.
        let outline = outline_of(&built);
        let marker = built.report.fence_marker.clone().unwrap();
        prop_assert_eq!(
            built.user.matches(&marker).count(),
            2 + 2 * outline.fences.len(),
            "the marker stands in the note and on the fences, nowhere else"
        );
        prop_assert_eq!(
            marker != MARKER,
            built.report.warnings.contains(&Warning::FenceMarkerReplaced)
        );
        let shown = outline.fences.iter().filter(|fence| fence.label.starts_with("comment")).count();
        prop_assert_eq!(shown, comments.len());
    }

    /// Stripping leaves nothing hidden and changes nothing twice; escaping loses nothing.
    #[test]
    fn nothing_hidden_is_left(text in attack()) {
        let stripped = strip_hidden(&text);
        prop_assert_eq!(&strip_hidden(&stripped), &stripped);
        let escaped = escape_hidden(&text);
        for shown in [&stripped, &escaped] {
            let hidden = ['\u{200b}', '\u{202e}', '\u{2028}', '\r'];
            prop_assert!(!shown.contains(hidden));
        }
        prop_assert!(!escaped.contains("<!--"));
        if let Some((_, after)) = stripped.split_once("<!--") {
            prop_assert!(!after.contains("-->"), "a comment that is closed is stripped");
        }
    }
}

#[test]
fn the_derived_marker_is_the_same_each_time() {
    let mut dispatch = rich::profile(&AgentType::Worker);
    dispatch.issue.description = format!("end it: {MARKER}");
    let built = dispatch.build().unwrap();
    assert_ne!(built.report.fence_marker.as_deref(), Some(MARKER));
    assert_eq!(dispatch.build().unwrap(), built);
}
