//! The points that reviews and comments become.

use symphony_core::review_point::{
    Lines, NewPoint, PATH_CHARS_MAX, POINT_CHARS_MAX, Place, Severity,
};
use symphony_tracker::quote;
use symphony_tracker::remote::ExternalId;

use crate::remote::{RemoteReview, RemoteReviewComment};

/// Longest line of a comment in a point that sums up several ones, in characters.
const LINE_CHARS_MAX: usize = 200;

/// A point that comments ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The comments at places of the change that it has.
    pub comments: Vec<ExternalId>,
    /// Whether it has the text of the review.
    pub has_text: bool,
    /// The point.
    pub point: NewPoint,
}

/// Returns the points of a review: its text, then its comments.
pub(crate) fn asked(
    review: &RemoteReview,
    comments: &[&RemoteReviewComment],
    severity: Severity,
) -> Vec<Asked> {
    let text = review.body.trim();
    let is_empty = text.is_empty() && comments.is_empty();
    let mut points = Vec::new();
    if !text.is_empty() || is_empty {
        // GitHub lets no one request changes without a text, but other forges do
        let missing = "Changes were requested at the forge, without a text.";
        let text = if is_empty { missing } else { text };
        points.push(Asked {
            comments: Vec::new(),
            has_text: true,
            point: NewPoint {
                severity,
                text: shortened(text),
                place: None,
            },
        });
    }
    points.extend(remarks(comments, severity));
    points
}

/// Returns the points of comments.
pub(crate) fn remarks(comments: &[&RemoteReviewComment], severity: Severity) -> Vec<Asked> {
    let points = comments.iter();
    points.map(|comment| asked_by(comment, severity)).collect()
}

/// Returns the point of a comment.
pub(crate) fn asked_by(comment: &RemoteReviewComment, severity: Severity) -> Asked {
    Asked {
        comments: vec![comment.id.clone()],
        has_text: false,
        point: NewPoint {
            severity,
            text: shortened(&comment.body),
            place: place_of(comment),
        },
    }
}

fn place_of(comment: &RemoteReviewComment) -> Option<Place> {
    let file = comment.path.as_str();
    let is_path = !file.trim().is_empty()
        && !file.chars().any(char::is_control)
        && file.chars().count() <= PATH_CHARS_MAX;
    let lines = comment
        .lines
        .and_then(|lines| Lines::parse(&format!("{}-{}", lines.first, lines.last)).ok());
    is_path.then(|| Place {
        file: file.to_owned(),
        lines,
    })
}

/// Returns at most as many points as there is room for. The last one sums up those that would be too many, with where to read them:
/// a review of many comments must not be lost for its length.
pub(crate) fn fitted(mut points: Vec<Asked>, room: usize, url: &str) -> Vec<Asked> {
    if points.len() <= room {
        return points;
    }
    let Some(kept) = room.checked_sub(1) else {
        return Vec::new();
    };
    let rest = points.split_off(kept);
    let Some(severity) = rest.first().map(|asked| asked.point.severity) else {
        return points;
    };
    let first = format!("{} more comments are at {url}:", rest.len());
    let lines = rest.iter().map(|asked| line_of(&asked.point));
    let text: Vec<String> = [first].into_iter().chain(lines).collect();
    points.push(Asked {
        has_text: rest.iter().any(|asked| asked.has_text),
        comments: rest.into_iter().flat_map(|asked| asked.comments).collect(),
        point: NewPoint {
            severity,
            text: shortened(&text.join("\n")),
            place: None,
        },
    });
    points
}

fn line_of(point: &NewPoint) -> String {
    let place = point.place.as_ref();
    let place = place.map_or_else(String::new, |place| format!("{place}: "));
    let line = point.text.lines().next().unwrap_or_default();
    format!("- {place}{}", quote::shortened(line, LINE_CHARS_MAX))
}

/// Returns a text that fits into a point.
pub(crate) fn shortened(text: &str) -> String {
    let text = quote::shortened(text.trim(), POINT_CHARS_MAX);
    if text.is_empty() {
        return "(no text)".to_owned();
    }
    text
}
