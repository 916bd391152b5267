//! Points from plain text: of feedback, and as a person types one on the command line.

use super::model::{NewPoint, POINT_CHARS_MAX, Severity};
use super::place::{Lines, Place};

/// Turns plain feedback into points: one `must` point, and more only if it is longer than a point may be. It is split
/// between paragraphs, else between lines, and nothing is lost.
pub fn points_from_feedback(feedback: &str) -> Vec<NewPoint> {
    let mut points = Vec::new();
    let mut rest = feedback.trim();
    while !rest.is_empty() {
        let (text, after) = rest.split_at(part(rest));
        points.push(NewPoint {
            severity: Severity::Must,
            text: text.trim_end().to_owned(),
            place: None,
        });
        rest = after.trim_start();
    }
    points
}

/// Where the next point ends, in bytes: the last end of a paragraph, a line or a word that is not past the limit.
fn part(text: &str) -> usize {
    let Some((limit, _)) = text.char_indices().nth(POINT_CHARS_MAX) else {
        return text.len();
    };
    let window = text.get(..limit).unwrap_or(text);
    ["\n\n", "\n", " "]
        .into_iter()
        .filter_map(|end| window.rfind(end))
        .find(|at| *at > 0)
        .unwrap_or(limit)
}

/// Reads a point as a person types it: `[SEVERITY: ][FILE[:LINES]: ]TEXT`, as in
/// `should: src/a.rs:12-20: name the field`.
///
/// Without a severity it has the default one. What is before a colon and a blank is a file when it has no blank, and a
/// dot, a slash or lines: else it belongs to the text.
pub fn read_point(typed: &str, default: Severity) -> NewPoint {
    let typed = typed.trim();
    let severity = typed
        .split_once(':')
        .and_then(|(word, rest)| Severity::parse(word.trim()).ok().map(|s| (s, rest.trim())));
    let (severity, rest) = severity.unwrap_or((default, typed));
    let (place, text) = match rest.split_once(": ") {
        Some((place, text)) if !text.trim().is_empty() => match read_place(place) {
            Some(place) => (Some(place), text.trim()),
            None => (None, rest),
        },
        _ => (None, rest),
    };
    NewPoint {
        severity,
        text: text.to_owned(),
        place,
    }
}

fn read_place(text: &str) -> Option<Place> {
    if text.is_empty() || text.contains(char::is_whitespace) {
        return None;
    }
    if let Some((file, lines)) = text.rsplit_once(':')
        && !file.is_empty()
        && let Ok(lines) = Lines::parse(lines)
    {
        return Some(Place {
            file: file.to_owned(),
            lines: Some(lines),
        });
    }
    text.contains(['.', '/']).then(|| Place {
        file: text.to_owned(),
        lines: None,
    })
}
