//! A bar with segments: how much of a budget was used, cut and dropped.

use maud::{Markup, html};

/// How wide the drawing is, in its own units; the page scales it.
const WIDTH: u64 = 1000;

/// A part of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'a> {
    /// What it is: `used`, `cut`.
    pub name: &'a str,
    /// How much of it there is.
    pub value: u64,
    /// Its class, which gives it its colour: `used`, `cut`, `dropped`.
    pub class: &'a str,
}

/// Renders segments side by side, against a whole; of segments that are more than the whole, the sum is the whole.
pub fn meter(label: &str, segments: &[Segment<'_>], whole: u64, unit: &str) -> Markup {
    let sum = segments
        .iter()
        .fold(0_u64, |sum, segment| sum.saturating_add(segment.value));
    let whole = whole.max(sum).max(1);
    let name = name(label, segments, whole, unit);
    let mut end = 0_u64;
    let places = segments.iter().map(|segment| {
        let start = end;
        end = end.saturating_add(segment.value);
        (segment.class, scaled(start, whole), scaled(end, whole))
    });
    html! {
        svg.meter role="img" aria-label=(name) viewBox={ "0 0 " (WIDTH) " 10" } preserveAspectRatio="none" {
            title { (name) }
            rect.whole x="0" y="0" width=(WIDTH) height="10" {}
            @for (class, start, end) in places.filter(|(_, start, end)| end > start) {
                rect class=(class) x=(start) y="0" width=(end - start) height="10" {}
            }
        }
    }
}

fn scaled(value: u64, whole: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(WIDTH) / u128::from(whole);
    u64::try_from(scaled).unwrap_or(WIDTH).min(WIDTH)
}

fn name(label: &str, segments: &[Segment<'_>], whole: u64, unit: &str) -> String {
    let shown = segments.iter().filter(|segment| segment.value > 0);
    let parts: Vec<_> = shown
        .map(|segment| format!("{} {}", segment.value, segment.name))
        .collect();
    let parts = if parts.is_empty() {
        "0".to_owned()
    } else {
        parts.join(", ")
    };
    format!("{label}: {parts} of {whole} {unit}")
}

#[cfg(test)]
mod tests {
    use super::super::safe::tests::assert_harmless;
    use super::*;

    fn segment(name: &'static str, value: u64) -> Segment<'static> {
        Segment {
            name,
            value,
            class: name,
        }
    }

    #[test]
    fn segments_are_side_by_side() {
        let segments = [
            segment("used", 30),
            segment("cut", 0),
            segment("dropped", 10),
        ];
        let found = meter("<Learnings>", &segments, 100, "tokens").into_string();
        let name = "&lt;Learnings&gt;: 30 used, 10 dropped of 100 tokens";
        assert!(found.contains(&format!("aria-label=\"{name}\"")), "{found}");
        assert!(
            found.contains("<rect class=\"used\" x=\"0\" y=\"0\" width=\"300\" height=\"10\">"),
            "{found}"
        );
        assert!(
            found
                .contains("<rect class=\"dropped\" x=\"300\" y=\"0\" width=\"100\" height=\"10\">"),
            "{found}"
        );
        assert!(!found.contains("class=\"cut\""));
        assert_harmless(&found);
    }

    proptest::proptest! {
        #[test]
        fn a_bar_never_overflows(label in "\\PC*", values in proptest::collection::vec(0..=u64::MAX, 0..4), whole in 0..=u64::MAX) {
            let segments: Vec<_> = values.iter().map(|value| segment("used", *value)).collect();
            assert_harmless(&meter(&label, &segments, whole, "tokens").into_string());
            proptest::prop_assert!(scaled(whole, whole.max(1)) <= WIDTH);
        }
    }
}
