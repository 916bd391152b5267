//! Markdown of agents and trackers as HTML that can do no harm.
//!
//! Raw HTML is shown as text. Links lead to `http`, `https`, `mailto` and places of the page; others become plain text.
//! Images become links, so that reading a page asks no foreign server.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{
    Alignment, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};

use super::safe::{beginning, cut_remark, visible};

/// Most bytes of a text that are rendered: about 15 printed pages; the spec of an issue is rarely longer than two.
pub const MARKDOWN_BYTES_MAX: usize = 64 * 1024;

/// Most events that are rendered: short texts can describe tables of a quarter of a million cells.
const EVENTS_MAX: usize = 20_000;

/// How many levels headings move down: the page has its own h1, and panels have h2.
const HEADING_SHIFT: usize = 2;

/// Renders a text as Markdown of GitHub's kind: tables, strikethrough and task lists.
pub fn markdown(text: &str) -> Markup {
    let (kept, left_out) = beginning(text, MARKDOWN_BYTES_MAX);
    let shown = visible(kept);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::default();
    let events: Vec<Event<'_>> = Parser::new_ext(&shown, options)
        .filter_map(|event| writer.event(event))
        .collect();
    let mut body = String::with_capacity(kept.len() * 2);
    pulldown_cmark::html::push_html(&mut body, events.into_iter());
    html! {
        div.md {
            (PreEscaped(body))
            @if left_out > 0 {
                p { (cut_remark(left_out, "byte")) }
            } @else if writer.is_full() {
                p { span.cut { "… the rest is not shown: this text has too many parts" } }
            }
        }
    }
}

/// Replaces the events that could do harm, and leaves out those over the limit.
#[derive(Debug, Default)]
struct Writer {
    seen: usize,
    /// How many elements are open that were left out.
    skipped: usize,
    /// What closes each link and image that is open.
    open: Vec<&'static str>,
    /// How many links are open: HTML allows one.
    links: usize,
}

impl Writer {
    fn is_full(&self) -> bool {
        self.seen > EVENTS_MAX
    }

    fn event<'a>(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        self.seen += 1;
        if self.is_full() {
            match event {
                Event::Start(_) => self.skipped += 1,
                Event::End(_) if self.skipped > 0 => self.skipped -= 1,
                Event::End(end) => return Some(self.end(end)),
                _ => {}
            }
            return None;
        }
        Some(match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::TaskListMarker(done) => task(done),
            other => other,
        })
    }

    fn start<'a>(&mut self, tag: Tag<'a>) -> Event<'a> {
        match tag {
            Tag::Link {
                link_type: LinkType::Email,
                dest_url,
                ..
            } => self.link(&format!("mailto:{dest_url}"), ""),
            Tag::Link { dest_url, .. } => self.link(&dest_url, ""),
            Tag::Image { dest_url, .. } => self.link(&dest_url, "image: "),
            // the text of an HTML block is shown in a paragraph
            Tag::HtmlBlock => Event::Start(Tag::Paragraph),
            Tag::Heading { level, .. } => Event::Start(Tag::Heading {
                level: shifted(level),
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            }),
            // alignment would be written as inline style
            Tag::Table(columns) => Event::Start(Tag::Table(vec![Alignment::None; columns.len()])),
            other => Event::Start(other),
        }
    }

    fn end<'a>(&mut self, end: TagEnd) -> Event<'a> {
        match end {
            TagEnd::Link | TagEnd::Image => {
                let close = self.open.pop().unwrap_or_default();
                if close == "</a>" {
                    self.links = self.links.saturating_sub(1);
                }
                raw(close.to_owned())
            }
            TagEnd::HtmlBlock => Event::End(TagEnd::Paragraph),
            TagEnd::Heading(level) => Event::End(TagEnd::Heading(shifted(level))),
            other => Event::End(other),
        }
    }

    /// Opens a link; one inside another, or to a place that is not allowed, becomes plain text.
    fn link<'a>(&mut self, address: &str, before: &str) -> Event<'a> {
        if self.links > 0 || !is_allowed(address) {
            self.open.push("</span>");
            return raw(format!("<span class=\"nolink\">{before}"));
        }
        self.links += 1;
        self.open.push("</a>");
        let address = html! { (address) }.into_string();
        raw(format!(
            "<a href=\"{address}\" rel=\"noopener nofollow\">{before}"
        ))
    }
}

/// Returns HTML that is written as it is; its variable parts are escaped already.
fn raw<'a>(markup: String) -> Event<'a> {
    Event::InlineHtml(CowStr::from(markup))
}

/// Renders the box of a task list. An input element would need a label of its own.
fn task<'a>(done: bool) -> Event<'a> {
    let (label, sign) = if done {
        ("done", '☑')
    } else {
        ("open", '☐')
    };
    raw(format!(
        "<span class=\"task\" role=\"img\" aria-label=\"{label}\">{sign}</span> "
    ))
}

/// Says whether a link may lead to an address: schemes are compared as browsers read them.
pub(super) fn is_allowed(address: &str) -> bool {
    if address.starts_with('#') {
        return true;
    }
    if address.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return false;
    }
    let lower = address.to_ascii_lowercase();
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme))
}

fn shifted(level: HeadingLevel) -> HeadingLevel {
    HeadingLevel::try_from(level as usize + HEADING_SHIFT).unwrap_or(HeadingLevel::H6)
}

#[cfg(test)]
mod tests {
    use super::super::safe::tests::assert_harmless;
    use super::*;

    fn body(text: &str) -> String {
        let markup = markdown(text).into_string();
        let inner = markup.strip_prefix("<div class=\"md\">").unwrap();
        inner.strip_suffix("</div>").unwrap().trim().to_owned()
    }

    #[test]
    fn markdown_becomes_html() {
        for (text, expected) in [
            ("# A\n\n#### B", "<h3>A</h3>\n<h6>B</h6>"),
            (
                "a *b* ~~c~~ `d`",
                "<p>a <em>b</em> <del>c</del> <code>d</code></p>",
            ),
            (
                "[a](https://x.org/?a&b \"t\")",
                "<p><a href=\"https://x.org/?a&amp;b\" rel=\"noopener nofollow\">a</a></p>",
            ),
            (
                "[a](#b) <me@x.org>",
                "<p><a href=\"#b\" rel=\"noopener nofollow\">a</a> <a href=\"mailto:me@x.org\" rel=\"noopener nofollow\">me@x.org</a></p>",
            ),
            (
                "![a](https://x.org/p.png)",
                "<p><a href=\"https://x.org/p.png\" rel=\"noopener nofollow\">image: a</a></p>",
            ),
            (
                "- [x] a\n- [ ] b",
                "<ul>\n<li><span class=\"task\" role=\"img\" aria-label=\"done\">☑</span> a</li>\n<li><span class=\"task\" role=\"img\" aria-label=\"open\">☐</span> b</li>\n</ul>",
            ),
            (
                "|a|\n|:-:|\n|b|",
                "<table><thead><tr><th>a</th></tr></thead><tbody>\n<tr><td>b</td></tr>\n</tbody></table>",
            ),
            (
                "```rust\n<b>\n```",
                "<pre><code class=\"language-rust\">&lt;b&gt;\n</code></pre>",
            ),
        ] {
            assert_eq!(body(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_of_an_attack_is_left() {
        for (text, expected) in [
            (
                "<script>x</script>",
                "<p>&lt;script&gt;x&lt;/script&gt;</p>",
            ),
            (
                "a <img src=x onerror=y> b",
                "<p>a &lt;img src=x onerror=y&gt; b</p>",
            ),
            (
                "[a](javascript:x)",
                "<p><span class=\"nolink\">a</span></p>",
            ),
            (
                "[a](JaVaScRiPt:x)",
                "<p><span class=\"nolink\">a</span></p>",
            ),
            (
                "[a](java&#10;script:x)",
                "<p><span class=\"nolink\">a</span></p>",
            ),
            ("[a](//x.org)", "<p><span class=\"nolink\">a</span></p>"),
            (
                "[a](data:text/html,x)",
                "<p><span class=\"nolink\">a</span></p>",
            ),
            ("[a](/merge)", "<p><span class=\"nolink\">a</span></p>"),
            (
                "[a](https://x.org/\"onclick=\"y)",
                "<p><a href=\"https://x.org/&quot;onclick=&quot;y\" rel=\"noopener nofollow\">a</a></p>",
            ),
            (
                "```x\" onclick=\"y\nz\n```",
                "<pre><code class=\"language-x&quot;\">z\n</code></pre>",
            ),
            ("a\u{202e}b", "<p>a\u{fffd}b</p>"),
        ] {
            let found = body(text);
            assert_eq!(found, expected, "{text}");
            assert_harmless(&found);
        }
    }

    #[test]
    fn an_image_in_a_link_is_one_link() {
        let found = body("[![a](https://x.org/p.png)](https://x.org)");
        assert_eq!(found.matches("<a ").count(), 1, "{found}");
        assert_harmless(&found);
    }

    #[test]
    fn long_texts_are_cut_with_a_remark() {
        let found = body(&"a ".repeat(MARKDOWN_BYTES_MAX));
        assert!(
            found.contains("… 65536 more bytes not shown"),
            "{}",
            found.len()
        );
        // a table whose rows are filled to the width of its head
        let wide = format!(
            "{}|\n{}|\n{}",
            "|a".repeat(2000),
            "|-".repeat(2000),
            "|a|\n".repeat(2000)
        );
        let found = body(&wide);
        assert!(found.contains("too many parts"), "{}", found.len());
        assert!(found.len() < 1024 * 1024, "{}", found.len());
        assert_harmless(&found);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_harmless(text in "\\PC*|([<>\"'&\\[\\]()!#*_`~|\\-: \n\ta-z]|javascript:|https://|<script>|onerror=|\\PC){0,80}") {
            assert_harmless(&markdown(&text).into_string());
        }
    }
}
