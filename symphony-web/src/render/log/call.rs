//! A tool call, folded: its name, the argument that says most, and all arguments on request.

use maud::{Markup, html};
use serde_json::Value;
use symphony_view::text::one_line;

use super::super::diff::edit_table;
use super::super::safe::{beginning, cut_remark, first_chars, unescaped, visible};
use super::arguments::{self, Arguments};

/// Most characters of a summary: one line of a wide screen.
const SUMMARY_CHARS_MAX: usize = 200;

/// Most bytes of arguments that are shown; a log line keeps less.
const ARGUMENTS_BYTES_MAX: usize = 64 * 1024;

/// Most edits of one call that are shown.
const EDITS_MAX: usize = 20;

/// Returns the first line of a text that has anything on it, as a summary shows it.
pub(super) fn summary(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    let (shown, left_out) = first_chars(line.unwrap_or_default().trim(), SUMMARY_CHARS_MAX);
    let shown = one_line(shown);
    if left_out > 0 {
        format!("{shown}…")
    } else {
        shown.into_owned()
    }
}

/// Renders a call as `Name {arguments}`.
pub(super) fn call(text: &str) -> Markup {
    let (name, input) = text.split_once(' ').unwrap_or((text, ""));
    let (input, left_out) = beginning(input.trim(), ARGUMENTS_BYTES_MAX);
    // escapes inside JSON are JSON's own; line feeds between its parts were escaped by the log
    let read = arguments::read(input).or_else(|| arguments::read(&unescaped(input)));
    let telling = match &read {
        Some(read) => read.telling().unwrap_or_default(),
        None => unescaped(input),
    };
    html! {
        details.call {
            summary {
                b { (visible(&tool_name(name))) }
                span { (summary(&telling)) }
            }
            @match &read {
                Some(read) => (details(read)),
                None => @if !input.is_empty() { pre { (visible(&unescaped(input))) } }
            }
            @if left_out > 0 { (cut_remark(left_out, "byte")) }
            @if read.as_ref().is_some_and(|read| read.is_cut) {
                p.cut { "… the log keeps only the beginning of the arguments" }
            }
        }
    }
}

/// Returns a tool's name as people read it: `mcp__symphony__add_comment` is `symphony add_comment`.
fn tool_name(name: &str) -> String {
    match name
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"))
    {
        Some((server, tool)) => format!("{server} {tool}"),
        None => name.to_owned(),
    }
}

fn details(arguments: &Arguments) -> Markup {
    let edits = edits(arguments);
    if !edits.is_empty() {
        return html! { @for (old, new) in &edits { (edit_table(old, new)) } };
    }
    match &arguments.value {
        Value::Object(object) if object.is_empty() => Markup::default(),
        Value::Object(object) => html! {
            dl.args {
                @for (name, value) in object {
                    dt { (visible(name)) }
                    dd { (argument(value)) }
                }
            }
        },
        other => argument(other),
    }
}

fn argument(value: &Value) -> Markup {
    match value {
        Value::String(text) if !text.contains('\n') => html! { code { (visible(text)) } },
        Value::String(text) => html! { pre { (visible(text)) } },
        Value::Object(_) | Value::Array(_) => {
            let text = format!("{value:#}");
            html! { pre { (visible(&text)) } }
        }
        other => html! { code { (other.to_string()) } },
    }
}

/// Returns what a call replaces in a file: old and new text of each edit.
fn edits(arguments: &Arguments) -> Vec<(&str, &str)> {
    if let Some(old) = arguments.text("old_string") {
        return edit(old, arguments.text("new_string"), arguments.is_cut)
            .into_iter()
            .collect();
    }
    if let Some(many) = arguments.value.get("edits").and_then(Value::as_array) {
        let of = |value| {
            let old = Value::get(value, "old_string")?.as_str()?;
            edit(
                old,
                value.get("new_string").and_then(Value::as_str),
                arguments.is_cut,
            )
        };
        return many.iter().take(EDITS_MAX).filter_map(of).collect();
    }
    let has_path = ["file_path", "notebook_path"]
        .iter()
        .any(|name| arguments.text(name).is_some());
    let content = ["content", "new_source"]
        .iter()
        .find_map(|name| arguments.text(name));
    content
        .filter(|_| has_path)
        .map(|content| ("", content))
        .into_iter()
        .collect()
}

/// Returns an edit; none if the log was cut before the new text, because then the old one would look deleted.
fn edit<'a>(old: &'a str, new: Option<&'a str>, is_cut: bool) -> Option<(&'a str, &'a str)> {
    match new {
        Some(new) => Some((old, new)),
        None => (!is_cut).then_some((old, "")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::safe::tests::assert_harmless;
    use super::*;

    #[test]
    fn a_call_shows_its_name_and_most_telling_argument() {
        for (text, parts) in [
            (
                r#"Bash {"command":"cargo test\n<b>","timeout":5}"#,
                &[
                    "<summary><b>Bash</b><span>cargo test</span></summary>",
                    "<dt>command</dt><dd><pre>cargo test\n&lt;b&gt;</pre></dd>",
                    "<dt>timeout</dt><dd><code>5</code></dd>",
                ][..],
            ),
            (
                r#"Edit {"file_path":"a.rs","old_string":"let x;","new_string":"let y;"}"#,
                &[
                    "<b>Edit</b><span>a.rs</span>",
                    "<tr class=\"d\"><td class=\"l\">−</td><td>let x;</td></tr>",
                    "<tr class=\"a\"><td class=\"l\">+</td><td>let y;</td></tr>",
                ],
            ),
            (
                r#"Write {"content":"one\ntwo","file_path":"a.rs"}"#,
                &["<td>one</td>", "<td>two</td>"],
            ),
            (
                r#"MultiEdit {"file_path":"a.rs","edits":[{"old_string":"b","new_string":"c"}]}"#,
                &["<td>b</td>", "<td>c</td>"],
            ),
            (
                r#"mcp__symphony__add_comment {"body":"hi"}"#,
                &["<b>symphony add_comment</b><span>hi</span>"],
            ),
            (
                r#"Write {"file_path":"a.rs","content":"cut he…"#,
                &["<td>cut he</td>", "keeps only the beginning"],
            ),
            (
                r#"Edit {"file_path":"a.rs","old_string":"cut he…"#,
                &["<dt>old_string</dt><dd><code>cut he</code></dd>"],
            ),
            (
                "shell <not> json\\nx",
                &["<b>shell</b><span>&lt;not&gt; json</span>", "<pre>"],
            ),
            ("Stop", &["<b>Stop</b><span></span>"]),
            ("", &["<b></b>"]),
        ] {
            let found = call(text).into_string();
            for part in parts {
                assert!(found.contains(part), "{text}: {part} in {found}");
            }
            assert_harmless(&found);
        }
    }

    #[test]
    fn summaries_are_one_short_line() {
        assert_eq!(summary("\n  a b\nc"), "a b");
        assert_eq!(
            summary(&"x".repeat(300)).chars().count(),
            SUMMARY_CHARS_MAX + 1
        );
        assert_eq!(summary(""), "");
    }

    proptest::proptest! {
        #[test]
        fn any_call_is_harmless(text in "\\PC*|[A-Z][a-z]{0,5} \\{\"(command|edits|content|file_path|old_string)\":\\PC{0,20}") {
            assert_harmless(&call(&text).into_string());
        }
    }
}
