//! What goes wrong with the answers of a tracker.

use std::time::Duration;

use serde_json::json;
use symphony_fakes::{Fault, On};

use super::there::There;
use crate::interleavings::case::Chance;

/// A fault, and whether it shows only by a time limit.
pub(super) struct Planned {
    pub(super) words: String,
    pub(super) is_slow: bool,
}

/// Plans a fault for one of the next requests, sometimes for a few in a row.
pub(super) fn plan(there: &There, chance: &mut Chance) -> Planned {
    let (fault, is_slow) = fault(there.is_github(), chance);
    let (after, times) = (chance.below(7), 1 + chance.below(3));
    let words = format!("{fault:?} after {after}, {times} times");
    // what is late is late once: each time costs a time limit
    let times = if is_slow { 1 } else { times };
    there.fail(On::any().after(after).times(times), fault);
    Planned { words, is_slow }
}

fn fault(is_github: bool, chance: &mut Chance) -> (Fault, bool) {
    match chance.below(14) {
        0 | 1 => (limited(is_github, chance), false),
        2 => (Fault::status(500, "Server Error"), false),
        3 => (Fault::status(502, "Bad Gateway"), false),
        4 | 5 => (Fault::CutBefore, false),
        6..=8 => (Fault::CutAfter, false),
        9 => (Fault::Half, false),
        10 => (Fault::TruncatedJson, false),
        11 => (Fault::Duplicated, false),
        12 => (Fault::Reversed, false),
        _ => (
            if chance.below(2) == 0 {
                Fault::Silence
            } else {
                Fault::Trickle(Duration::from_millis(20))
            },
            true,
        ),
    }
}

fn limited(is_github: bool, chance: &mut Chance) -> Fault {
    if !is_github {
        let body = json!({ "errors": [{
            "message": "Rate limit exceeded", "extensions": { "code": "RATELIMITED", "type": "ratelimited" },
        }] });
        return Fault::Answer {
            status: 400,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_string(),
        };
    }
    match chance.below(3) {
        0 => Fault::status(429, "Too Many Requests"),
        1 => Fault::status(429, "Too Many Requests").with_header("retry-after", "7"),
        _ => Fault::status(403, "You have exceeded a secondary rate limit.")
            .with_header("retry-after", "60"),
    }
}
