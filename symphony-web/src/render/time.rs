//! Times as people read them: relative, with the exact time on hover.

use maud::{Markup, html};
use symphony_core::Timestamp;
use symphony_view::text;

/// Renders how long ago a time was: `3m 20s ago`; a time in the future as `in 3m`.
pub fn ago(then: Timestamp, now: Timestamp) -> Markup {
    element(then, &text::ago(then, now))
}

/// Renders when a time will be: `in 3m 20s`, or `now` when it has come.
pub fn until(then: Timestamp, now: Timestamp) -> Markup {
    element(then, &text::in_future(then, now))
}

/// Renders the time of the day, as a line of a log shows it.
pub fn of_day(at: Timestamp) -> Markup {
    element(at, &at.strftime("%H:%M:%S").to_string())
}

fn element(at: Timestamp, shown: &str) -> Markup {
    let exact = at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    html! { time datetime=(at) title=(exact) { (shown) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_relative_and_exact() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (then, now) = (
            at("2026-11-23T14:05:09.250Z"),
            at("2026-11-23T14:08:29.250Z"),
        );
        let exact = "datetime=\"2026-11-23T14:05:09.250Z\" title=\"2026-11-23 14:05:09 UTC\"";
        for (markup, shown) in [
            (ago(then, now), "3m 20s ago"),
            (until(then, now), "now"),
            (until(then, at("2026-11-23T14:05:00Z")), "in 9s"),
            (of_day(then), "14:05:09"),
        ] {
            assert_eq!(
                markup.into_string(),
                format!("<time {exact}>{shown}</time>")
            );
        }
    }
}
