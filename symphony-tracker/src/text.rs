//! Titles and texts, from the tracker's form to ours and back.

use symphony_core::issue::{TEXT_BYTES_MAX, TITLE_CHARS_MAX};

use crate::linked::TextBy;
use crate::marker;
use crate::quote::{self, TITLE_SENT_CHARS_MAX};

/// Ends a description that was cut.
const CUT: &str = "\n\n(The tracker has the rest of this text.)";

/// Returns a tracker's title as one of ours: one line that is not empty, and not longer than ours may be.
pub(crate) fn title_in(title: &str, key: &str) -> String {
    let words: String = title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let title = quote::shortened(words.trim(), TITLE_CHARS_MAX);
    if title.is_empty() {
        return quote::shortened(&format!("Untitled ({key})"), TITLE_CHARS_MAX);
    }
    title
}

/// Returns a tracker's text as a description of ours.
pub(crate) fn body_in(body: &str) -> String {
    let body = unmarked(body);
    if body.len() <= TEXT_BYTES_MAX {
        return body;
    }
    let kept_max = TEXT_BYTES_MAX - CUT.len();
    let end = body
        .char_indices()
        .map(|(at, _)| at)
        .take_while(|at| *at <= kept_max)
        .last()
        .unwrap_or(0);
    let (kept, _) = body.split_at(end);
    format!("{}{CUT}", kept.trim_end())
}

/// Returns whether a tracker's text is longer than a description of ours can be.
pub(crate) fn is_cut(body: &str) -> bool {
    unmarked(body).len() > TEXT_BYTES_MAX
}

fn unmarked(body: &str) -> String {
    marker::without(&body.replace("\r\n", "\n")).to_owned()
}

/// Returns our title as the tracker can have it.
pub(crate) fn title_out(title: &str, by: TextBy) -> String {
    match by {
        TextBy::Person => quote::shortened(title, TITLE_SENT_CHARS_MAX),
        TextBy::Agent => quote::agent_line(title, TITLE_SENT_CHARS_MAX),
    }
}

/// Returns our description as the tracker can have it: ours are shorter than what trackers take.
pub(crate) fn body_out(description: &str, by: TextBy) -> String {
    match by {
        TextBy::Person => description.to_owned(),
        TextBy::Agent => quote::neutral(description),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::ChangeId;
    use symphony_core::issue::{check_text, check_title};

    #[test]
    fn every_title_becomes_one_that_symphony_accepts() {
        for (title, expected) in [
            ("Add a page", "Add a page"),
            ("  Add\ta\npage ", "Add a page"),
            ("", "Untitled (#12)"),
            ("\n", "Untitled (#12)"),
        ] {
            assert_eq!(title_in(title, "#12"), expected, "{title}");
        }
        let long = title_in(&"ä".repeat(400), "#12");
        assert_eq!(check_title(&long), Ok(()));
        assert_eq!(long.chars().count(), TITLE_CHARS_MAX);
    }

    #[test]
    fn a_text_over_the_limit_is_cut_between_characters_and_says_so() {
        let long = "ä".repeat(TEXT_BYTES_MAX);
        let cut = body_in(&long);
        assert_eq!(check_text("description", &cut), Ok(()));
        assert!(cut.ends_with(CUT) && is_cut(&long));
        assert_eq!(body_in("a\r\nb"), "a\nb");
        assert_eq!(body_in(&marker::with("a", &ChangeId::new("x"))), "a");
        let fits = "a".repeat(TEXT_BYTES_MAX);
        assert!(!is_cut(&fits) && body_in(&fits) == fits);
    }

    #[test]
    fn what_is_sent_fits_and_notifies_no_one() {
        let long = "t".repeat(300);
        assert_eq!(
            title_out(&long, TextBy::Person).chars().count(),
            TITLE_SENT_CHARS_MAX
        );
        assert_eq!(title_out("ask @ada", TextBy::Person), "ask @ada");
        assert_eq!(title_out("ask @ada", TextBy::Agent), "ask @\u{200b}ada");
        assert_eq!(body_out("fixes #1", TextBy::Agent), "fixes #\u{200b}1");
    }
}
