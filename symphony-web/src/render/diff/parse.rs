//! Reading the output of `git diff`.
//!
//! The counts in a hunk's head decide where it ends, so that no content is read as the head of a file.

use super::file::{Change, Diff, FileDiff, Hunk, Line, Side};
use super::path;

/// Most lines of a file that are kept: longer changes are read in an editor.
pub const FILE_LINES_MAX: usize = 5_000;

/// Most lines of a diff that are kept.
pub const DIFF_LINES_MAX: usize = 20_000;

/// Most lines outside of any file that are kept.
const NOTES_MAX: usize = 20;

/// Mode of a commit of another repository.
const SUBMODULE: &str = "160000";

/// Reads a diff. Anything can be read: what is no diff becomes notes.
pub fn parse(text: &str) -> Diff {
    let mut reader = Reader::default();
    for line in text.split_terminator('\n') {
        reader.line(line);
    }
    reader.finish();
    reader.diff
}

#[derive(Debug, Default)]
struct Reader {
    diff: Diff,
    /// The file that is being read.
    file: Option<FileDiff>,
    /// How many lines of the old and the new side the hunk still has.
    rest: (u32, u32),
    /// The numbers of the next line.
    next: (u32, u32),
    kept: usize,
    kept_in_file: usize,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.starts_with("\\ ") && self.no_newline() {
            return;
        }
        if self.rest != (0, 0) {
            if let Some((side, text)) = content(line) {
                return self.content(side, text);
            }
            // the hunk is shorter than it says
            self.rest = (0, 0);
        }
        self.head(line);
    }

    /// Marks the last line as the file's last, which has no line feed; says whether there is one.
    fn no_newline(&mut self) -> bool {
        let hunk = self.file.as_mut().and_then(|file| file.hunks.last_mut());
        let line = hunk.and_then(|hunk| hunk.lines.last_mut());
        line.map(|line| line.no_newline = true).is_some()
    }

    fn content(&mut self, side: Side, text: &str) {
        let Some(file) = &mut self.file else {
            return;
        };
        let mut line = Line {
            side,
            ..Line::default()
        };
        if side != Side::Added {
            line.old = Some(self.next.0);
            self.next.0 = self.next.0.saturating_add(1);
            self.rest.0 = self.rest.0.saturating_sub(1);
        }
        if side != Side::Removed {
            line.new = Some(self.next.1);
            self.next.1 = self.next.1.saturating_add(1);
            self.rest.1 = self.rest.1.saturating_sub(1);
        }
        match side {
            Side::Added => file.added += 1,
            Side::Removed => file.removed += 1,
            Side::Both => {}
        }
        let Some(hunk) = file.hunks.last_mut() else {
            return;
        };
        if self.kept_in_file >= FILE_LINES_MAX || self.kept >= DIFF_LINES_MAX {
            file.left_out += 1;
            return;
        }
        self.kept += 1;
        self.kept_in_file += 1;
        text.clone_into(&mut line.text);
        hunk.lines.push(line);
    }

    fn head(&mut self, line: &str) {
        if let Some(paths) = line.strip_prefix("diff --git ") {
            self.finish();
            let (old_path, path) = path::pair(paths).unwrap_or_else(|| {
                let path = paths.to_owned();
                (path.clone(), path)
            });
            self.file = Some(FileDiff {
                old_path,
                path,
                ..FileDiff::default()
            });
            return;
        }
        if let Some((hunk, rest)) = hunk_head(line)
            && let Some(file) = &mut self.file
        {
            self.rest = rest;
            self.next = (hunk.old_start, hunk.new_start);
            file.hunks.push(hunk);
            return;
        }
        let read = self.file.as_mut().is_some_and(|file| file.head(line));
        if !read && !line.trim().is_empty() && self.diff.notes.len() < NOTES_MAX {
            self.diff.notes.push(line.to_owned());
        }
    }

    fn finish(&mut self) {
        self.rest = (0, 0);
        self.kept_in_file = 0;
        self.diff.files.extend(self.file.take());
    }
}

impl FileDiff {
    /// Reads a line between the first of a file and its first hunk; says whether it is one.
    fn head(&mut self, line: &str) -> bool {
        let line = line.trim_end_matches('\r');
        let modes = |text: &str| text.trim().to_owned();
        if let Some(mode) = line.strip_prefix("old mode ") {
            self.old_mode = Some(modes(mode));
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.new_mode = Some(modes(mode));
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.change = Change::New;
            self.new_mode = Some(modes(mode));
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            self.change = Change::Deleted;
            self.old_mode = Some(modes(mode));
        } else if let Some(from) = line.strip_prefix("rename from ") {
            self.change = Change::Renamed;
            self.old_path = path::to_end(from);
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.path = path::to_end(to);
        } else if let Some(from) = line.strip_prefix("copy from ") {
            self.change = Change::Copied;
            self.old_path = path::to_end(from);
        } else if let Some(to) = line.strip_prefix("copy to ") {
            self.path = path::to_end(to);
        } else if let Some(old) = line.strip_prefix("--- ") {
            if old != "/dev/null" {
                self.old_path = path::without_prefix(path::to_end(old));
            }
        } else if let Some(new) = line.strip_prefix("+++ ") {
            if new != "/dev/null" {
                self.path = path::without_prefix(path::to_end(new));
            }
        } else if let Some(index) = line.strip_prefix("index ") {
            self.submodule |= index.ends_with(SUBMODULE);
        } else if line.starts_with("Binary files ") || line == "GIT binary patch" {
            self.binary = true;
        } else if self.binary {
            // the content of a binary patch
            return true;
        } else if !["similarity index ", "dissimilarity index "]
            .iter()
            .any(|start| line.starts_with(start))
        {
            return false;
        }
        let modes = [&self.old_mode, &self.new_mode];
        self.submodule |= modes.iter().any(|mode| mode.as_deref() == Some(SUBMODULE));
        true
    }
}

/// Reads a line of a hunk. An empty one is an unchanged empty line whose space an editor took off.
fn content(line: &str) -> Option<(Side, &str)> {
    let mut characters = line.chars();
    let side = match characters.next() {
        Some('+') => Side::Added,
        Some('-') => Side::Removed,
        Some(' ') | None => Side::Both,
        Some(_) => return None,
    };
    Some((side, characters.as_str()))
}

/// Reads `@@ -1,2 +3,4 @@ section`; returns also how many lines follow.
fn hunk_head(line: &str) -> Option<(Hunk, (u32, u32))> {
    let (ranges, section) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let (old_start, old_lines) = range(old)?;
    let (new_start, new_lines) = range(new)?;
    let hunk = Hunk {
        old_start,
        new_start,
        section: section.trim().to_owned(),
        lines: Vec::new(),
    };
    Some((hunk, (old_lines, new_lines)))
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> FileDiff {
        let diff = parse(text);
        assert_eq!((diff.files.len(), diff.notes.len()), (1, 0), "{diff:?}");
        diff.files.into_iter().next().unwrap()
    }

    #[test]
    fn hunks_number_their_lines() {
        let file = only(
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -3,3 +3,3 @@ fn f()\n a\n-b\n+c\n\n\
             @@ -9 +9,2 @@\n-d\n\\ No newline at end of file\n+d\n+--- e\n",
        );
        let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
        let lines: Vec<_> = lines
            .map(|line| (line.old, line.new, line.text.as_str(), line.no_newline))
            .collect();
        assert_eq!(
            lines,
            [
                (Some(3), Some(3), "a", false),
                (Some(4), None, "b", false),
                (None, Some(4), "c", false),
                (Some(5), Some(5), "", false),
                (Some(9), None, "d", true),
                (None, Some(9), "d", false),
                (None, Some(10), "--- e", false),
            ]
        );
        assert_eq!(file.hunks[0].section, "fn f()");
        assert_eq!((file.added, file.removed), (3, 2));
    }

    #[test]
    fn content_is_never_read_as_a_head() {
        let file = only(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n--- a/y\n+diff --git a/z b/z\n+++ b/z\n",
        );
        assert_eq!((file.path.as_str(), file.lines()), ("x", 3));
    }

    #[test]
    fn heads_say_what_happened() {
        for (head, path, change) in [
            (
                "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x",
                "x",
                Change::New,
            ),
            (
                "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null",
                "x",
                Change::Deleted,
            ),
            (
                "diff --git a/o b/n b b/p\nsimilarity index 90%\nrename from o b/n\nrename to b b/p",
                "b b/p",
                Change::Renamed,
            ),
            (
                "diff --git a/x b/y\ncopy from x\ncopy to y",
                "y",
                Change::Copied,
            ),
            (
                "diff --git a/x b/x\nold mode 100644\nnew mode 100755",
                "x",
                Change::Changed,
            ),
            (
                "diff --git \"a/\\303\\274\" \"b/\\303\\274\"\n--- \"a/\\303\\274\"\n+++ \"b/\\303\\274\"",
                "ü",
                Change::Changed,
            ),
        ] {
            let file = only(head);
            assert_eq!((file.path.as_str(), file.change), (path, change), "{head}");
        }
        let moded = only("diff --git a/x b/x\nold mode 100644\nnew mode 100755");
        assert_eq!(moded.new_mode.as_deref(), Some("100755"));
        assert!(only("diff --git a/x b/x\nBinary files a/x and b/x differ").binary);
        assert!(
            only(
                "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\nzcmV\n\nliteral 0\n"
            )
            .binary
        );
        let submodule = "diff --git a/x b/x\nindex 1..2 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n";
        assert!(only(submodule).submodule);
    }

    #[test]
    fn long_files_are_cut_and_counted() {
        let lines = "+a\n".repeat(FILE_LINES_MAX + 7);
        let file = only(&format!(
            "diff --git a/x b/x\n@@ -0,0 +1,{} @@\n{lines}",
            FILE_LINES_MAX + 7
        ));
        assert_eq!((file.lines(), file.left_out), (FILE_LINES_MAX, 7));
        assert_eq!(file.added, FILE_LINES_MAX + 7);
    }

    #[test]
    fn what_is_no_diff_becomes_notes() {
        let diff = parse("hello\ndiff --git a/x b/x\n@@ -1,9 +1,9 @@\n a\n… cut here\n");
        assert_eq!(diff.notes, ["hello", "… cut here"]);
        assert_eq!(diff.files[0].lines(), 1);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*|(diff --git a/x b/x\n|@@ -[0-9]{1,10},[0-9]{1,2} \\+[0-9]{1,10},[0-9] @@ x\n|[-+ \\\\]\\PC{0,5}\n|rename from \\PC{0,5}\n|Binary files \n|\\PC{0,5}\n){0,30}") {
            let diff = parse(&text);
            for line in diff.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines) {
                proptest::prop_assert_eq!(line.old.is_none(), line.side == Side::Added);
                proptest::prop_assert_eq!(line.new.is_none(), line.side == Side::Removed);
            }
        }
    }
}
