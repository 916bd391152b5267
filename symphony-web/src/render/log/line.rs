//! A line of a log as one fragment.

use maud::{Markup, html};
use symphony_view::LogLine;
use symphony_view::text::plural;

use super::super::ansi::{ansi, plain};
use super::super::markdown::markdown;
use super::super::safe::{beginning, cut_remark, unescaped, visible};
use super::super::time;
use super::call::{call, summary};

/// Most bytes of a line that are rendered; lines of runs have 4 KiB, lines of gates are as long as their output.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Results with no more characters than this, on one line, are not folded.
const SHORT_CHARS: usize = 160;

/// Kinds of events that report a failure.
const BAD_KINDS: &[&str] = &["error", "stderr", "api_error", "permission_denied"];

/// What the answer of a tool that failed begins with.
const FAILED: &str = "error:";

/// Renders a line. The fragment needs nothing around it; its kind is in `data-kind`, failures have the class `bad`.
pub fn log_line(line: &LogLine<'_>) -> Markup {
    draw(line, None)
}

/// Renders a line that can be linked to by its offset in the log.
pub fn log_line_at(line: &LogLine<'_>, offset: u64) -> Markup {
    draw(line, Some(&format!("L{offset}")))
}

fn draw(line: &LogLine<'_>, id: Option<&str>) -> Markup {
    let Some(kind) = line.kind else {
        return output_line(line.text, id);
    };
    let (text, left_out) = beginning(line.text, LINE_BYTES_MAX);
    let is_bad = is_bad(kind, text);
    html! {
        div.turn.bad[is_bad] id=[id] data-kind=(visible(kind)) {
            @match (line.at, id) {
                (Some(at), Some(id)) => a.at href={ "#" (id) } { (time::of_day(at)) },
                (Some(at), None) => (time::of_day(at)),
                (None, _) => {}
            }
            div.what {
                @match kind {
                    "text" => (said(text)),
                    "thinking" => (thought(text)),
                    "tool_use" => (call(text)),
                    "tool_result" => (result(text)),
                    _ => (event(kind, text)),
                }
                @if left_out > 0 { (cut_remark(left_out, "byte")) }
            }
        }
    }
}

/// Says whether a line reports that something failed.
fn is_bad(kind: &str, text: &str) -> bool {
    match kind {
        "tool_result" => text.starts_with(FAILED),
        "result" => text.starts_with("error"),
        "rate_limit" => text.starts_with("rejected"),
        _ => BAD_KINDS.contains(&kind),
    }
}

/// Renders a line of output that says neither time nor kind.
fn output_line(text: &str, id: Option<&str>) -> Markup {
    let (text, left_out) = beginning(text, LINE_BYTES_MAX);
    html! {
        div.out id=[id] data-kind="output" {
            (ansi(text))
            @if left_out > 0 { (cut_remark(left_out, "byte")) }
            @if let Some(id) = id { a.at href={ "#" (id) } title="Link to this line" { "link" } }
        }
    }
}

/// Renders what an agent says.
fn said(text: &str) -> Markup {
    let own = text.strip_prefix("(subagent) ");
    html! {
        @if own.is_some() { span.tag { "subagent" } }
        (markdown(&unescaped(own.unwrap_or(text))))
    }
}

/// Renders what an agent thinks: plain text, since it is written for no reader.
fn thought(text: &str) -> Markup {
    let text = unescaped(text);
    let paragraphs = text.split("\n\n").map(str::trim);
    html! {
        @for paragraph in paragraphs.filter(|paragraph| !paragraph.is_empty()) {
            p.thinking { (visible(paragraph)) }
        }
    }
}

/// Renders what a tool answered: long output folded, failures open.
fn result(text: &str) -> Markup {
    let failure = text.strip_prefix(FAILED).map(str::trim_start);
    let output = with_controls(&unescaped(failure.unwrap_or(text)));
    let output = output.trim_end();
    let shown = plain(output);
    let lines = shown.lines().count();
    let is_short = lines <= 1 && shown.chars().count() <= SHORT_CHARS;
    html! {
        @if output.is_empty() {
            p.quiet { "no output" }
        } @else if is_short {
            pre.result { (ansi(output)) }
        } @else {
            details.call.result open[failure.is_some()] {
                summary { span { (summary(&shown)) } span.n { (plural(lines, "line")) } }
                pre { (ansi(output)) }
            }
        }
    }
}

/// Renders any other event.
fn event(kind: &str, text: &str) -> Markup {
    let text = with_controls(&unescaped(text));
    let words = kind.replace(['_', '/'], " ");
    html! {
        p.quiet { b { (visible(&words)) } " " (ansi(text.trim_end())) }
    }
}

/// Turns the pictures that a log shows for escape sequences back into sequences, so that colours are colours again. A
/// picture that begins no sequence stays as it is.
fn with_controls(text: &str) -> String {
    text.replace("␛[", "\u{1b}[")
        .replace("␛]", "\u{1b}]")
        .replace("␛\\", "\u{1b}\\")
        .replace('␇', "\u{7}")
}

#[cfg(test)]
mod tests {
    use symphony_core::Timestamp;
    use symphony_core::id::RunId;
    use symphony_view::LogDay;

    use super::super::super::safe::tests::assert_harmless;
    use super::*;

    fn rendered(text: &str) -> String {
        let run = RunId::parse("r-1").unwrap();
        let mut day = LogDay::starting(Timestamp::UNIX_EPOCH);
        log_line(&day.parsed(&run, text)).into_string()
    }

    #[test]
    fn each_kind_has_its_form() {
        for (line, parts) in [
            (
                r"12:00:01 [text] Some *words*\n\n<b>",
                &[
                    "<div class=\"turn\" data-kind=\"text\"><time datetime=\"1970-01-01T12:00:01.000Z\"",
                    ">12:00:01</time>",
                    "<p>Some <em>words</em></p>",
                    "&lt;b&gt;",
                ][..],
            ),
            (
                "12:00:01 [text] (subagent) hello",
                &["<span class=\"tag\">subagent</span>", "<p>hello</p>"],
            ),
            (
                r"12:00:01 [thinking] Why *so*?\nHm.\n\nA <b>.",
                &["<p class=\"thinking\">Why *so*?\nHm.</p><p class=\"thinking\">A &lt;b&gt;.</p>"],
            ),
            (
                "12:00:01 [tool_use] Bash {\"command\":\"ls\"}",
                &[
                    "data-kind=\"tool_use\"",
                    "<summary><b>Bash</b><span>ls</span>",
                ],
            ),
            (
                r"12:00:01 [tool_result] one\n␛[32mtwo␛[0m\n",
                &[
                    "<details class=\"call result\"><summary><span>one</span><span class=\"n\">2 lines</span></summary>",
                    "<pre>one\n<span class=\"f2\">two</span></pre>",
                ],
            ),
            (
                "12:00:01 [tool_result] ok",
                &["<pre class=\"result\">ok</pre>"],
            ),
            ("12:00:01 [tool_result] ", &["no output"]),
            (
                "12:00:01 [tool_result] errors: 0",
                &["<div class=\"turn\" data-kind"],
            ),
            (
                "12:00:01 [tool_result] error: ",
                &["<div class=\"turn bad\"", "no output"],
            ),
            (
                r"12:00:01 [tool_result] error: Exit code 3\nout",
                &[
                    "<div class=\"turn bad\" data-kind=\"tool_result\">",
                    "<details class=\"call result\" open><summary><span>Exit code 3</span>",
                ],
            ),
            (
                "12:00:01 [api_error] overloaded <x>",
                &[
                    "class=\"turn bad\"",
                    "<b>api error</b> overloaded &lt;x&gt;",
                ],
            ),
            (
                "12:00:01 [result] success turns 3",
                &["<div class=\"turn\" data-kind=\"result\">"],
            ),
            (
                "test \u{1b}[31mFAILED\u{1b}[0m",
                &[
                    "<div class=\"out\" data-kind=\"output\">test <span class=\"f1\">FAILED</span></div>",
                ],
            ),
            ("", &["<div class=\"out\" data-kind=\"output\"></div>"]),
        ] {
            let found = rendered(line);
            for part in parts {
                assert!(found.contains(part), "{line}: {part} in {found}");
            }
            assert_harmless(&found);
        }
    }

    #[test]
    fn long_lines_are_cut_with_a_remark() {
        let found = rendered(&format!(
            "12:00:01 [tool_result] {}",
            "a".repeat(LINE_BYTES_MAX + 5)
        ));
        assert!(found.contains("… 5 more bytes not shown"));
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_harmless(line in "\\PC*|12:00:01 \\[(text|thinking|tool_use|tool_result|error|[a-z\"<>]{0,8})\\] (\\PC|\\\\n|<script>|␛\\[[0-9;]{0,4}m|javascript:){0,40}") {
            assert_harmless(&rendered(&line));
        }
    }
}
