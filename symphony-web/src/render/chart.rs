//! A chart of bars, one per day, with a table that says the same.

use maud::{Markup, html};

/// How high the bars are, in units of the drawing.
const HEIGHT: u64 = 120;

/// How wide a bar is with the gap after it.
const STEP: usize = 24;

/// How wide a bar is.
const BAR: usize = 16;

/// Space for the line of labels below the bars.
const LABELS: u64 = 20;

/// Space for the highest value above the bars.
const HEAD: u64 = 16;

/// Most bars: a year and a day.
pub const BARS_MAX: usize = 366;

/// Narrowest drawing: the highest value has to fit.
const WIDTH_MIN: usize = 240;

/// A bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// What it is for: a day.
    pub label: String,
    /// How high it is.
    pub value: u64,
    /// The value as people read it: `$4.12`.
    pub shown: String,
}

/// Renders a chart; of more bars than [`BARS_MAX`] the last ones.
pub fn bar_chart(title: &str, label_head: &str, value_head: &str, bars: &[Bar]) -> Markup {
    let bars = bars
        .get(bars.len().saturating_sub(BARS_MAX)..)
        .unwrap_or_default();
    if bars.is_empty() {
        return html! { p.quiet { (title) ": nothing yet" } };
    }
    html! {
        div.chart {
            (drawing(title, bars))
            details {
                summary { "As a table" }
                table {
                    caption { (title) }
                    thead { tr { th scope="col" { (label_head) } th scope="col" { (value_head) } } }
                    tbody {
                        @for bar in bars {
                            tr { th scope="row" { (bar.label) } td { (bar.shown) } }
                        }
                    }
                }
            }
        }
    }
}

fn drawing(title: &str, bars: &[Bar]) -> Markup {
    let width = (bars.len() * STEP).max(WIDTH_MIN);
    let highest = bars.iter().max_by_key(|bar| bar.value);
    let most = highest.map_or(1, |bar| bar.value.max(1));
    let bottom = HEAD + HEIGHT;
    let every = label_every(bars);
    html! {
        svg role="img" aria-label=(summary(title, bars)) width=(width) height=(bottom + LABELS)
            viewBox={ "0 0 " (width) " " (bottom + LABELS) } {
            @if let Some(bar) = highest {
                path d={ "M0 " (HEAD) " H" (width) } {}
                text.s x="0" y=(HEAD - 4) { (bar.shown) }
            }
            path d={ "M0 " (bottom) " H" (width) } {}
            @for (at, bar) in bars.iter().enumerate() {
                @let height = height(bar.value, most);
                g {
                    title { (bar.label) ": " (bar.shown) }
                    rect.column x=(at * STEP + (STEP - BAR) / 2) y=(bottom - height) width=(BAR) height=(height) {}
                }
                @if at % every == 0 {
                    text.s x=(at * STEP) y=(bottom + LABELS - 5) { (bar.label) }
                }
            }
        }
    }
}

/// A value that is not nothing is at least visible.
fn height(value: u64, most: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(HEIGHT) / u128::from(most.max(1));
    u64::try_from(scaled)
        .unwrap_or(HEIGHT)
        .max(u64::from(value > 0) * 2)
}

/// Returns how many bars share a label, so that labels do not touch; a character is about 7 units wide.
fn label_every(bars: &[Bar]) -> usize {
    let longest = bars.iter().map(|bar| bar.label.chars().count()).max();
    (longest.unwrap_or(0) * 7 + 10).div_ceil(STEP).max(1)
}

fn summary(title: &str, bars: &[Bar]) -> String {
    let highest = bars.iter().max_by_key(|bar| bar.value);
    match (bars.first(), bars.last(), highest) {
        (Some(first), Some(last), Some(highest)) => format!(
            "{title}, {} to {}; the most is {} on {}",
            first.label, last.label, highest.shown, highest.label
        ),
        _ => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::safe::tests::assert_harmless;
    use super::*;

    fn bar(label: &str, value: u64) -> Bar {
        Bar {
            label: label.to_owned(),
            value,
            shown: format!("${value}"),
        }
    }

    #[test]
    fn a_chart_has_bars_titles_and_a_table() {
        let bars = [bar("23 Nov", 2), bar("<24> Nov", 4), bar("25 Nov", 0)];
        let found = bar_chart("Spending & more", "day", "cost", &bars).into_string();
        for part in [
            "aria-label=\"Spending &amp; more, 23 Nov to 25 Nov; the most is $4 on &lt;24&gt; Nov\"",
            "<title>23 Nov: $2</title><rect class=\"column\" x=\"4\" y=\"76\" width=\"16\" height=\"60\">",
            "<tr><th scope=\"row\">&lt;24&gt; Nov</th><td>$4</td></tr>",
        ] {
            assert!(found.contains(part), "{part} in {found}");
        }
        assert_harmless(&found);
    }

    #[test]
    fn the_last_bars_are_shown() {
        let bars: Vec<_> = (0..400).map(|day| bar(&format!("d{day}"), day)).collect();
        let found = bar_chart("t", "day", "cost", &bars).into_string();
        assert!(
            !found.contains("<th scope=\"row\">d33</th>")
                && found.contains("<th scope=\"row\">d34</th>")
        );
        assert!(
            bar_chart("t", "day", "cost", &[])
                .into_string()
                .contains("nothing yet")
        );
    }

    proptest::proptest! {
        #[test]
        fn any_values_fit(values in proptest::collection::vec(0..=u64::MAX, 0..20), label in "\\PC{0,10}") {
            let bars: Vec<_> = values.iter().map(|value| bar(&label, *value)).collect();
            assert_harmless(&bar_chart(&label, "day", "cost", &bars).into_string());
            let most = values.iter().copied().max().unwrap_or(0);
            for value in values {
                proptest::prop_assert!(height(value, most) <= HEIGHT);
            }
        }
    }
}
