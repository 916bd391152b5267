//! What items of open reviews have in common.

use crate::review_point::{PointNumber, list_numbers};
use crate::wording::counted;

/// Describes how many judges ended without a verdict.
pub(super) fn judges_ended(runs: u32) -> String {
    format!("{} ended without one", counted(runs.into(), "judge"))
}

/// Describes that only a person closes these points.
pub(super) fn persons_points(points: &[PointNumber]) -> String {
    let (is, it) = if points.len() == 1 {
        ("is", "it")
    } else {
        ("are", "them")
    };
    format!(
        "{} {is} open, and only you can close {it}",
        list_numbers(points)
    )
}

/// Returns the commands that show the points of an issue or a plan, and close those that only a person can close.
pub(super) fn close_points(of: &str, points: &[PointNumber]) -> [String; 2] {
    let numbers: Vec<String> = points.iter().map(PointNumber::to_string).collect();
    [
        format!("symphony point list {of}"),
        format!("symphony point close {of} {}", numbers.join(" ")),
    ]
}
