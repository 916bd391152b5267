//! A diff in git's unified form, read as files and hunks.

use std::borrow::Cow;

use memchr::memmem;

use crate::tokens::count_lines;

/// What a line of a diff begins with where a file starts. Content lines begin with a space, `+`, `-` or `\`.
const FILE_START: &str = "diff --git ";
/// What a line of a diff begins with where a hunk starts.
const HUNK_START: &str = "@@ -";

/// Lines that git writes before the first hunk, at most.
const HEAD_LINES_MAX: usize = 10;

/// How much a file matters to a reviewer, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileRank {
    /// Below a sensitive path of the project.
    Sensitive,
    /// Source code, and whatever is not known to be something else.
    Source,
    /// Tests and what they read.
    Test,
    /// Configuration, including instructions for agents.
    Configuration,
    /// Documentation.
    Documentation,
    /// Lock files, generated and vendored files: no one wrote them by hand.
    Generated,
}

/// One file's part of a diff, and how much of it is shown.
#[derive(Debug)]
pub(super) struct FileDiff<'a> {
    /// The whole part.
    pub(super) whole: &'a str,
    /// What is before the first hunk; everything where there is none.
    pub(super) head: &'a str,
    names: (&'a str, Option<&'a str>),
    pub(super) hunks: Vec<Hunk<'a>>,
    pub(super) rank: FileRank,
    /// Whether its head and the headers of its hunks are shown.
    pub(super) is_placed: bool,
}

/// A hunk: where it lies, and what it changes.
#[derive(Debug)]
pub(super) struct Hunk<'a> {
    /// The line with the place and the function it is in.
    pub(super) header: &'a str,
    pub(super) body: &'a str,
    pub(super) shown: Shown<'a>,
}

impl<'a> Hunk<'a> {
    fn read(whole: &'a str) -> Self {
        let (header, body) = first_line(whole);
        Self::new(header, body)
    }

    const fn new(header: &'a str, body: &'a str) -> Self {
        Self {
            header,
            body,
            shown: Shown::Header,
        }
    }
}

/// How much of a hunk is shown where its file is.
#[derive(Debug)]
pub(super) enum Shown<'a> {
    Whole,
    /// The beginning, with a mark.
    Beginning(Cow<'a, str>),
    Header,
}

/// Splits a diff where files start. Text before the first start, or a diff of another form, is one file with one hunk.
pub(super) fn split(diff: &str) -> Vec<FileDiff<'_>> {
    parts(diff, FILE_START).map(FileDiff::read).collect()
}

/// Splits a text before each line that begins with `start`.
fn parts<'a>(text: &'a str, start: &str) -> impl Iterator<Item = &'a str> {
    let mut rest = Some(text).filter(|text| !text.is_empty());
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let is_line = |at: &usize| text.as_bytes().get(at - 1) == Some(&b'\n');
        let behind_first = memmem::find_iter(text.as_bytes(), start).filter(|at| *at > 0);
        let (part, others) = match behind_first.into_iter().find(is_line) {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        rest = Some(others).filter(|others| !others.is_empty());
        Some(part)
    })
}

/// Splits behind the first line.
fn first_line(text: &str) -> (&str, &str) {
    text.split_at(text.find('\n').map_or(text.len(), |at| at + 1))
}

/// Reads the names of a file. The lines with one name are believed: ` b/` may be part of a name.
fn names(whole: &str) -> (&str, Option<&str>) {
    let (mut new, mut old, mut to, mut from) = (None, None, None, None);
    let lines = whole.lines().take(HEAD_LINES_MAX);
    for line in lines.take_while(|line| !line.starts_with(HUNK_START)) {
        let places = [
            ("+++ ", &mut new),
            ("--- ", &mut old),
            ("rename to ", &mut to),
            ("rename from ", &mut from),
        ];
        for (start, place) in places {
            if let Some(name) = line.strip_prefix(start) {
                // git ends names with spaces so
                place.get_or_insert(name.strip_suffix('\t').unwrap_or(name));
            }
        }
    }
    let name = of_side(new, "b/")
        .or_else(|| of_side(old, "a/"))
        .or(to)
        .unwrap_or_else(|| name_of_first_line(whole));
    (name, from)
}

/// Returns the name of one side; none if the file is not there.
fn of_side<'a>(name: Option<&'a str>, side: &str) -> Option<&'a str> {
    let name = name.filter(|name| *name != "/dev/null")?;
    Some(name.strip_prefix(side).unwrap_or(name))
}

/// Reads the name of a file without changed lines from the first line, which has the name twice.
fn name_of_first_line(whole: &str) -> &str {
    let first = whole.lines().next().unwrap_or_default();
    let Some(names) = first.strip_prefix(FILE_START) else {
        return first;
    };
    let same = names
        .split_at_checked(names.len() / 2)
        .and_then(|(old, new)| {
            let (old, new) = (old.strip_prefix("a/")?, new.strip_prefix(" b/")?);
            (old == new).then_some(new)
        });
    same.or_else(|| names.rsplit_once(" b/").map(|(_, name)| name))
        .unwrap_or(names)
}

impl<'a> FileDiff<'a> {
    fn read(whole: &'a str) -> Self {
        let mut pieces = parts(whole, HUNK_START);
        let head = pieces.next().unwrap_or_default();
        let hunks: Vec<_> = pieces.map(Hunk::read).collect();
        if !hunks.is_empty() {
            return Self::new(whole, head, hunks);
        }
        // renamed, binary or of another form: what is said of it counts as a hunk
        let (head, rest) = if whole.starts_with(FILE_START) {
            first_line(whole)
        } else {
            ("", whole)
        };
        Self::new(whole, head, vec![Hunk::new("", rest)])
    }

    fn new(whole: &'a str, head: &'a str, hunks: Vec<Hunk<'a>>) -> Self {
        Self {
            whole,
            head,
            names: names(whole),
            hunks,
            rank: FileRank::Source,
            is_placed: false,
        }
    }

    /// Returns the file's name, and what it was called before if it was renamed. Each is in quotes, with escapes, where git needs
    /// them.
    pub(super) const fn names(&self) -> (&'a str, Option<&'a str>) {
        self.names
    }

    /// Returns the name for people.
    pub(super) fn title(&self) -> Cow<'_, str> {
        crate::section::issue::title_line(self.names().0)
    }

    pub(super) fn lines(&self) -> u64 {
        count_lines(self.whole)
    }

    /// Counts the lines that are shown.
    pub(super) fn lines_shown(&self) -> u64 {
        if !self.is_placed {
            return 0;
        }
        let lines = self.hunks.iter().map(|hunk| {
            let body = match &hunk.shown {
                Shown::Whole => count_lines(hunk.body),
                // the mark is no line of it
                Shown::Beginning(beginning) => count_lines(beginning).saturating_sub(1),
                Shown::Header => 0,
            };
            count_lines(hunk.header) + body
        });
        count_lines(self.head) + lines.sum::<u64>()
    }

    /// Counts the lines that were added and removed.
    pub(super) fn changes(&self) -> (u64, u64) {
        let lines = || self.hunks.iter().flat_map(|hunk| hunk.body.lines());
        let count = |sign| lines().filter(|line| line.starts_with(sign)).count() as u64;
        (count('+'), count('-'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_read_as_files_and_hunks() {
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ fn a\n-@@ -no\n+diff --git no\n@@ -9,0 +9 @@\n+y\n\
                    diff --git a/old b/new\nsimilarity index 100%\n";
        let files = split(diff);
        let [x, renamed] = files.as_slice() else {
            panic!("{files:?}")
        };
        assert_eq!(
            (x.names(), x.changes(), x.lines()),
            (("x", None), (2, 1), 8)
        );
        let headers: Vec<&str> = x.hunks.iter().map(|hunk| hunk.header).collect();
        assert_eq!(headers, ["@@ -1 +1 @@ fn a\n", "@@ -9,0 +9 @@\n"]);
        assert_eq!(renamed.names().0, "new");
        assert_eq!(renamed.hunks[0].body, "similarity index 100%\n");
    }

    #[test]
    fn a_name_is_read_whole_whatever_it_contains() {
        for (head, name, old) in [
            (
                "diff --git a/a b/vendor/x b/a b/vendor/x\n--- a/a b/vendor/x\t\n+++ b/a b/vendor/x\t\n",
                "a b/vendor/x",
                None,
            ),
            (
                "diff --git a/a b/vendor/x b/a b/vendor/x\nBinary files differ\n",
                "a b/vendor/x",
                None,
            ),
            (
                "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n",
                "gone",
                None,
            ),
            (
                "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
                "y",
                Some("x"),
            ),
            (
                "diff --git \"a/\\t\" \"b/\\t\"\n--- \"a/\\t\"\n+++ \"b/\\t\"\n",
                "\"b/\\t\"",
                None,
            ),
        ] {
            let files = split(head);
            assert_eq!(files[0].names(), (name, old), "{head}");
        }
    }

    #[test]
    fn a_text_of_another_form_is_one_hunk() {
        let files = split("some text\nmore\n");
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].names().0, "some text");
        assert_eq!(files[0].hunks[0].body, "some text\nmore\n");
    }
}
