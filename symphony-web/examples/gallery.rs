//! Writes one page with everything that `render` draws, to look at: `cargo run -p symphony-web --example gallery --
//! STYLESHEET OUT`. The stylesheet is the page's own; the rules of `render` are added.

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_view::LogDay;
use symphony_web::highlight::highlight;
use symphony_web::render::chart::{Bar, bar_chart};
use symphony_web::render::dag::{Graph, Node, dag};
use symphony_web::render::diff::{DiffPage, Layout, Place, diff, parse};
use symphony_web::render::log::log_line;
use symphony_web::render::markdown::markdown;
use symphony_web::render::meter::{Segment, meter};
use symphony_web::render::{STYLE, time};

const MARKDOWN: &str = "# Stream exports\n\nRows are *buffered*; **stream** them through `Channel`, see [the guide](https://example.org).\n\n- [x] bounded memory\n- [ ] documented\n\n| case | rows |\n|---|---:|\n| small | 10 |\n| large | 1e6 |\n\n> No `unsafe`.\n\n```rust\nlet rows = db.stream(64);\n```\n\n<script>alert(1)</script> [bad](javascript:alert) ![chart](https://example.org/c.png)\n";

const LOG: &str = r#"12:00:01 [init] model opus session 4f2 tools 21 mcp symphony=connected
12:00:04 [thinking] The judge asked for bounded memory.\nA channel of 64 rows is enough.
12:00:09 [text] The judge asked for **bounded memory** (point 1). I will stream rows through a channel of `64`.
12:00:12 [tool_use] Edit {"file_path":"src/export/stream.rs","old_string":"let rows = db.all()?;\nfor row in rows {","new_string":"let mut rows = db.stream(64);\nwhile let Some(row) = rows.next() {"}
12:00:12 [tool_result] The file src/export/stream.rs has been updated.
12:00:20 [tool_use] Bash {"command":"cargo test -p export","description":"Run the tests","timeout":120000}
12:00:41 [tool_result] running 31 tests\n␛[32m...............................␛[0m\ntest result: ␛[1;32mok␛[0m. 31 passed
12:00:50 [tool_use] Bash {"command":"cargo clippy -- -D warnings"}
12:01:02 [tool_result] error: Exit code 101\n␛[1m␛[31merror␛[0m: this loop could be written as a `while let` loop\n  --> src/export/stream.rs:88:9
12:01:05 [api_retry] 1/10 overloaded status 529
12:01:30 [tool_use] Write {"file_path":"docs/export.md","content":"Exports are streamed.\nMemory is bou…
12:01:40 [permission_denied] Bash: rm -rf / is not allowed
12:01:44 [result] success turns 8 cost 0.41: Done."#;

const DIFF: &str = "diff --git a/src/date/zone.rs b/src/date/zone.rs\nindex 1..2 100644\n--- a/src/date/zone.rs\n+++ b/src/date/zone.rs\n@@ -41,4 +41,5 @@ fn parse_zone(text: &str)\n     let (name, rest) = split_zone(text)?;\n-    let zone = ZONES.get(name).unwrap();\n+    let zone = ZONES.get(name).ok_or(Error::UnknownZone { name, at })?;\n+    debug_assert!(rest.is_empty());\n     Ok(Parsed { zone, rest })\n }\ndiff --git a/Cargo.lock b/Cargo.lock\n--- a/Cargo.lock\n+++ b/Cargo.lock\n@@ -1,2 +1,2 @@\n [[package]]\n-version = \"1.0.0\"\n+version = \"1.0.1\"\ndiff --git a/old name.md b/new name.md\nsimilarity index 100%\nrename from old name.md\nrename to new name.md\ndiff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\ndiff --git a/logo.png b/logo.png\nnew file mode 100644\nBinary files /dev/null and b/logo.png differ\n";

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let stylesheet = arguments.next().unwrap_or_default();
    let out = arguments
        .next()
        .unwrap_or_else(|| "target/gallery.html".to_owned());
    let style = if stylesheet.is_empty() {
        String::new()
    } else {
        std::fs::read_to_string(stylesheet)?
    };
    std::fs::write(out, page(&style).into_string())
}

fn page(style: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { "Gallery" }
                style { (PreEscaped(style)) (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { "Gallery" }
                    section.panel { h2 { "Markdown" } (markdown(MARKDOWN)) }
                    section { h2 { "Log" } div.log { (log()) } }
                    section { h2 { "Unified" } (changes(Layout::Unified)) }
                    section { h2 { "Split" } (changes(Layout::Split)) }
                    section.panel { h2 { "Plan" } (plan(9)) }
                    section.panel { h2 { "Large plan" } (plan(60)) }
                    section.panel { h2 { "Spending" } (spending()) }
                    section.panel { h2 { "Prompt" } (budget()) }
                    section.panel { h2 { "Time" } (moment()) }
                }
            }
        }
    }
}

fn log() -> Markup {
    let run = RunId::parse("r-1").expect("the id is valid");
    let mut day = LogDay::starting(Timestamp::UNIX_EPOCH);
    html! {
        @for line in LOG.lines() { (log_line(&day.parsed(&run, line))) }
        (log_line(&day.parsed(&run, "a gate: \u{1b}[41;97m FAIL \u{1b}[0m \u{1b}[36mzone.rs\u{1b}[0m")))
    }
}

fn changes(layout: Layout) -> Markup {
    let place = Place {
        path: "src/date/zone.rs".to_owned(),
        line: 42,
    };
    let point =
        html! { div.point { b { "Point 1 · must · judge" } " The zone's name is not escaped." } };
    let page = DiffPage {
        layout,
        below: &BTreeMap::from([(place, point)]),
        top: &BTreeMap::new(),
        comment: Some(&|place| format!("#comment-{}", place.line)),
    };
    let mut change = parse(DIFF);
    highlight(&mut change);
    diff(&change, &page)
}

fn plan(count: usize) -> Markup {
    let states = [
        ("done · 2 m 10 s", "fin"),
        ("running · Claude", "run"),
        ("waits", "wait"),
    ];
    let node = |(at, (small, class)): (usize, (&str, &'static str))| Node {
        id: at.to_string(),
        title: format!("Phase {at} of the new export pipeline"),
        small: small.to_owned(),
        class,
        href: Some(format!("#phase-{at}")),
    };
    let edge = |(from, to): (usize, usize)| (from.to_string(), to.to_string());
    let edges = (1..count).flat_map(|to| [(to / 3, to), ((to * 7 + 3) % to, to)]);
    let graph = Graph {
        nodes: (0..count)
            .zip(states.into_iter().cycle())
            .map(node)
            .collect(),
        edges: edges.map(edge).collect(),
    };
    dag("Phases and what they wait for", &graph)
}

fn spending() -> Markup {
    let bar = |day: u64| Bar {
        label: format!("{day} Nov"),
        value: day * 37 % 23 * 10,
        shown: format!("${}.{:02}", day * 37 % 23, day),
    };
    let bars: Vec<_> = (1..=25).map(bar).collect();
    bar_chart("Spending by day", "day", "cost", &bars)
}

fn budget() -> Markup {
    let segment = |class: &'static str, value| Segment {
        name: class,
        value,
        class,
    };
    let segments = [
        segment("used", 5200),
        segment("cut", 1400),
        segment("dropped", 400),
    ];
    meter("Learnings", &segments, 8000, "tokens")
}

fn moment() -> Markup {
    let now = Timestamp::UNIX_EPOCH.saturating_add_ms(10_000_000_000);
    html! { (time::ago(Timestamp::UNIX_EPOCH, now)) }
}
