//! Drawing a diff: a section per file, unified or split.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use maud::{Markup, html};
use symphony_view::text::plural;

use super::super::safe::{cut_remark, visible};
use super::file::{Diff, FileDiff, Hunk, Line, Side};
use super::marks::{Comparer, Part};
use super::pair::{Pair, pairs};
use super::row::{class_and_sign, code};

/// Files with more lines than this are folded: about ten screens.
const FOLDED_FROM: usize = 500;

/// How the two sides are arranged.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Removed lines above added ones.
    #[default]
    Unified,
    /// Removed lines beside added ones.
    Split,
}

/// A line of the new side of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file's path after the change.
    pub path: String,
    /// The line's number after the change.
    pub line: u32,
}

/// What a page adds to a diff.
#[derive(Clone, Copy)]
pub struct DiffPage<'a> {
    /// How the sides are arranged.
    pub layout: Layout,
    /// What to insert below lines: points of a review, a form for a comment.
    pub below: &'a BTreeMap<Place, Markup>,
    /// What to insert at the top of files, by path: what [`elsewhere`] returns is shown there.
    pub top: &'a BTreeMap<String, Markup>,
    /// Where the link to comment on a line leads; without it there are none.
    pub comment: Option<&'a dyn Fn(&Place) -> String>,
}

impl fmt::Debug for DiffPage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiffPage")
            .field("layout", &self.layout)
            .field("below", &self.below.keys())
            .field("top", &self.top.keys())
            .finish_non_exhaustive()
    }
}

/// Returns the places that a diff does not show: the caller shows what is about them at the file's top, or, if the file is
/// not in the diff either, above all files.
pub fn elsewhere<'p>(diff: &Diff, places: impl IntoIterator<Item = &'p Place>) -> Vec<&'p Place> {
    let mut shown: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for file in &diff.files {
        shown
            .entry(&file.path)
            .or_default()
            .extend(file.new_numbers());
    }
    let is_shown = |place: &&Place| {
        let lines = shown.get(place.path.as_str());
        lines.is_some_and(|lines| lines.contains(&place.line))
    };
    places
        .into_iter()
        .filter(|place| !is_shown(place))
        .collect()
}

/// Returns the id of a file's section, to link to it; it depends on the path alone.
pub fn file_id(path: &str) -> String {
    // FNV-1a: short, and the same on every machine
    let hash = path.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("f-{hash:08x}")
}

/// Returns the id of a line of the new side, to link to it.
pub fn line_id(place: &Place) -> String {
    format!("{}-n{}", file_id(&place.path), place.line)
}

/// Renders all files of a diff.
pub fn diff(diff: &Diff, page: &DiffPage<'_>) -> Markup {
    let mut comparer = Comparer::default();
    html! {
        @if !diff.notes.is_empty() {
            pre.cut { (visible(&diff.notes.join("\n"))) }
        }
        @for file in &diff.files { (section(file, page, &mut comparer)) }
    }
}

fn section(file: &FileDiff, page: &DiffPage<'_>, comparer: &mut Comparer) -> Markup {
    let id = file_id(&file.path);
    let numbers = file.new_numbers();
    let has_points = page
        .below
        .keys()
        .any(|place| place.path == file.path && numbers.contains(&place.line));
    html! {
        section.file id=(id) aria-label=(visible(&file.path)) {
            (head(file, &id))
            @if let Some(top) = page.top.get(&file.path) { (top) }
            @match folded_because(file) {
                None => (body(file, page, comparer)),
                Some(reason) => details.fold open[has_points] {
                    summary { (reason) }
                    (body(file, page, comparer))
                }
            }
        }
    }
}

fn head(file: &FileDiff, id: &str) -> Markup {
    let moved = file.old_path != file.path && file.change.word().is_some();
    html! {
        div {
            span.path {
                @if moved { (visible(&file.old_path)) " → " }
                a href={ "#" (id) } { (visible(&file.path)) }
                @if let Some(word) = file.change.word() { " " span.tag { (word) } }
                @if let (Some(old), Some(new)) = (&file.old_mode, &file.new_mode) {
                    " " span.tag { "mode " (old) " → " (new) }
                } @else if file.new_mode.as_deref() == Some("120000") {
                    " " span.tag { "symbolic link" }
                } @else if file.new_mode.as_deref() == Some("100755") {
                    " " span.tag { "executable" }
                }
                @if file.submodule { " " span.tag { "submodule" } }
                @if file.binary { " " span.tag { "binary" } }
            }
            span.count {
                span.ok { "+" (file.added) } " " span.bad { "−" (file.removed) }
            }
        }
    }
}

/// Says why a file is folded, with the count of its lines.
fn folded_because(file: &FileDiff) -> Option<String> {
    let lines = file.lines() + file.left_out;
    let shown = plural(lines, "line");
    if lines == 0 {
        None
    } else if file.is_generated() {
        Some(format!("generated, {shown}"))
    } else if lines > FOLDED_FROM {
        Some(format!("long, {shown}"))
    } else {
        None
    }
}

fn body(file: &FileDiff, page: &DiffPage<'_>, comparer: &mut Comparer) -> Markup {
    let table = Table { file, page };
    let is_split = page.layout == Layout::Split;
    html! {
        @if file.hunks.is_empty() {
            p.cut { (without_lines(file)) }
        } @else {
            // the split view may be wider than the screen, and the keyboard scrolls what has the focus
            div.diff tabindex=[is_split.then_some("0")] {
                table class=[is_split.then_some("sides")] {
                    @if is_split {
                        colgroup { col.l; col; col.l; col; }
                    }
                    @for hunk in &file.hunks { (table.hunk(hunk, comparer)) }
                }
                @if file.left_out > 0 { (cut_remark(file.left_out, "line")) }
            }
        }
    }
}

const fn without_lines(file: &FileDiff) -> &'static str {
    if file.binary {
        "The content is binary."
    } else {
        "No line changed."
    }
}

/// What is the same for all rows of a file.
struct Table<'a> {
    file: &'a FileDiff,
    page: &'a DiffPage<'a>,
}

type Parts<'a> = Option<Vec<Part<'a>>>;

impl Table<'_> {
    fn hunk(&self, hunk: &Hunk, comparer: &mut Comparer) -> Markup {
        let rows: Vec<_> = pairs(&hunk.lines)
            .into_iter()
            .map(|pair| {
                let (left, right) = marks(pair, comparer);
                (pair, left, right)
            })
            .collect();
        html! {
            tbody {
                tr.hunk {
                    td colspan="4" {
                        "@@ −" (hunk.old_start) " +" (hunk.new_start) " @@ " (visible(&hunk.section))
                    }
                }
                @match self.page.layout {
                    Layout::Split => @for (pair, left, right) in &rows { (self.split(*pair, left, right)) },
                    Layout::Unified => (self.unified(&rows)),
                }
            }
        }
    }

    /// Writes the removed lines of each change above the added ones.
    fn unified(&self, rows: &[(Pair<'_>, Parts<'_>, Parts<'_>)]) -> Markup {
        let is_same = |pair: &Pair<'_>| pair.left.is_some_and(|line| line.side == Side::Both);
        html! {
            @for run in rows.chunk_by(|before, after| is_same(&before.0) == is_same(&after.0)) {
                @for (pair, parts, _) in run {
                    @if let Some(line) = pair.left { (self.line(line, parts)) }
                }
                @for (pair, _, parts) in run {
                    @if let Some(line) = pair.right.filter(|line| line.side == Side::Added) {
                        (self.line(line, parts))
                    }
                }
            }
        }
    }

    fn line(&self, line: &Line, parts: &Parts<'_>) -> Markup {
        let (class, sign) = class_and_sign(line.side);
        html! {
            tr class=[class] {
                (self.old_number(line.old, line.side == Side::Removed))
                (self.new_number(line.new))
                td.sign { (sign) }
                td { (code(line, parts.as_deref())) }
            }
            (self.inserted(line.new))
        }
    }

    fn split(&self, pair: Pair<'_>, left: &Parts<'_>, right: &Parts<'_>) -> Markup {
        let class =
            |line: Option<&Line>| line.map_or(Some("none"), |line| class_and_sign(line.side).0);
        let is_removed = pair.left.is_some_and(|line| line.side == Side::Removed);
        html! {
            tr {
                (self.old_number(pair.left.and_then(|line| line.old), is_removed))
                td class=[class(pair.left)] {
                    @if let Some(line) = pair.left { (code(line, left.as_deref())) }
                }
                (self.new_number(pair.right.and_then(|line| line.new)))
                td class=[class(pair.right)] {
                    @if let Some(line) = pair.right { (code(line, right.as_deref())) }
                }
            }
            (self.inserted(pair.right.and_then(|line| line.new)))
        }
    }

    /// Writes the number before; only a line that is gone has an id of this side.
    fn old_number(&self, number: Option<u32>, has_id: bool) -> Markup {
        let id = number.filter(|_| has_id);
        let id = id.map(|number| format!("{}-o{number}", file_id(&self.file.path)));
        html! { td.l id=[id] { @if let Some(number) = number { (number) } } }
    }

    /// Writes the number after, with the link to comment on the line.
    fn new_number(&self, number: Option<u32>) -> Markup {
        let Some(line) = number else {
            return html! { td.l {} };
        };
        let place = Place {
            path: self.file.path.clone(),
            line,
        };
        html! {
            td.l id=(line_id(&place)) {
                @if let Some(comment) = self.page.comment {
                    @let name = format!("Comment on line {line} of {}", visible(&place.path));
                    a.say href=(comment(&place)) aria-label=(name) { (line) }
                } @else {
                    (line)
                }
            }
        }
    }

    fn inserted(&self, number: Option<u32>) -> Markup {
        let place = number.map(|line| Place {
            path: self.file.path.clone(),
            line,
        });
        html! {
            @if let Some(markup) = place.and_then(|place| self.page.below.get(&place)) {
                tr.below { td colspan="4" { (markup) } }
            }
        }
    }
}

/// Returns the changed words of a removed line and the added one that it faces.
fn marks<'a>(pair: Pair<'a>, comparer: &mut Comparer) -> (Parts<'a>, Parts<'a>) {
    match (pair.left, pair.right) {
        (Some(left), Some(right)) if left.side == Side::Removed => {
            comparer.parts(&left.text, &right.text).unzip()
        }
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::super::safe::tests::assert_harmless;
    use super::super::parse;
    use super::*;
    use crate::highlight::highlight_until;

    const DIFF: &str = "diff --git a/src/<x>.rs b/src/<x>.rs\n--- a/src/<x>.rs\n+++ b/src/<x>.rs\n@@ -1,3 +1,3 @@ fn <f>()\n a\n-let b = 1;\n+let c = 1;\n d\n";

    fn place(path: &str, line: u32) -> Place {
        Place {
            path: path.to_owned(),
            line,
        }
    }

    fn drawn(text: &str, layout: Layout, below: &BTreeMap<Place, Markup>) -> String {
        let page = DiffPage {
            layout,
            below,
            top: &BTreeMap::new(),
            comment: Some(&|place| format!("#say-{}", place.line)),
        };
        diff(&parse(text), &page).into_string()
    }

    #[test]
    fn both_layouts_show_lines_points_and_links() {
        let below = BTreeMap::from([(place("src/<x>.rs", 2), html! { p { "a point" } })]);
        for layout in [Layout::Unified, Layout::Split] {
            let found = drawn(DIFF, layout, &below);
            assert_harmless(&found);
            // without them the first row, which is one cell, would decide how wide the columns are
            assert_eq!(found.contains("<colgroup>"), layout == Layout::Split);
            let id = line_id(&place("src/<x>.rs", 2));
            for part in [
                "aria-label=\"src/&lt;x&gt;.rs\"",
                "let <span class=\"w\">b</span> = 1;",
                "let <span class=\"w\">c</span> = 1;",
                "fn &lt;f&gt;()",
                "<tr class=\"below\"><td colspan=\"4\"><p>a point</p></td></tr>",
                &format!(
                    "<td class=\"l\" id=\"{id}\"><a class=\"say\" href=\"#say-2\" aria-label=\"Comment on line 2 of src/&lt;x&gt;.rs\">2</a></td>"
                ),
            ] {
                assert!(found.contains(part), "{layout:?}: {part} in {found}");
            }
        }
    }

    #[test]
    fn highlighted_code_is_harmless() {
        let code = "let a = \"</span><script>alert(1)</script>\"; // <img src=x onerror=alert(1)>";
        let minute = Instant::now() + Duration::from_mins(1);
        for path in ["a.rs", "a.js", "a.html", "a.md", "a.<b>.vue"] {
            let text = format!(
                "diff --git a/{path} b/{path}\n@@ -1,2 +1,2 @@\n <script>/*\n-{code}\n+{code} */\n"
            );
            let mut change = parse(&text);
            highlight_until(&mut change, minute);
            for layout in [Layout::Unified, Layout::Split] {
                let page = DiffPage {
                    layout,
                    below: &BTreeMap::new(),
                    top: &BTreeMap::new(),
                    comment: None,
                };
                let found = diff(&change, &page).into_string();
                assert_harmless(&found);
                assert!(found.contains("<span class=\"h"), "{path}: {found}");
                assert!(!found.contains("<script"), "{path}: {found}");
            }
        }
    }

    #[test]
    fn generated_and_long_files_are_folded() {
        let lock = DIFF.replace("src/<x>.rs", "Cargo.lock");
        let none = BTreeMap::new();
        let found = drawn(&lock, Layout::Unified, &none);
        assert!(
            found.contains("<details class=\"fold\"><summary>generated, 4 lines</summary>"),
            "{found}"
        );
        // a point is never hidden
        let below = BTreeMap::from([(place("Cargo.lock", 2), html! { "a point" })]);
        let found = drawn(&lock, Layout::Unified, &below);
        assert!(found.contains("<details class=\"fold\" open>"), "{found}");
        let long = format!(
            "diff --git a/x b/x\n@@ -0,0 +1,501 @@\n{}",
            "+a\n".repeat(501)
        );
        let found = drawn(&long, Layout::Split, &none);
        assert!(found.contains("<summary>long, 501 lines</summary>"));
    }

    #[test]
    fn heads_name_what_happened() {
        let none = BTreeMap::new();
        for (text, part) in [
            ("diff --git a/x b/y\nrename from x\nrename to y", "x → <a"),
            (
                "diff --git a/x b/x\nold mode 100644\nnew mode 100755",
                "mode 100644 → 100755",
            ),
            (
                "diff --git a/x b/x\nBinary files a/x and b/x differ",
                "The content is binary.",
            ),
            ("diff --git a/x b/x\nnew file mode 120000", "symbolic link"),
            ("left out\n", "<pre class=\"cut\">left out</pre>"),
        ] {
            let found = drawn(text, Layout::Unified, &none);
            assert!(found.contains(part), "{part} in {found}");
            assert_harmless(&found);
        }
    }

    #[test]
    fn places_outside_of_the_diff_are_returned() {
        let diff = parse(DIFF);
        let places = [
            place("src/<x>.rs", 2),
            place("src/<x>.rs", 40),
            place("y", 1),
        ];
        assert_eq!(elsewhere(&diff, &places), [&places[1], &places[2]]);
    }

    #[test]
    fn ids_depend_on_the_path_alone() {
        assert_eq!(
            line_id(&place("src/main.rs", 7)),
            line_id(&place("src/main.rs", 7))
        );
        assert_ne!(file_id("a"), file_id("b"));
    }

    proptest::proptest! {
        #[test]
        fn any_diff_is_harmless(text in "(diff --git a/<x>\" b/<x>\"\n|@@ -[0-9],[0-9] \\+[0-9],[0-9] @@ <x>\n|[-+ \\\\]\\PC{0,8}\n|rename from \\PC{0,5}\n|new mode <b>\n|\\PC{0,5}\n){0,20}") {
            for layout in [Layout::Unified, Layout::Split] {
                assert_harmless(&drawn(&text, layout, &BTreeMap::new()));
            }
        }
    }
}
