//! Colours of words: what is well, what is wrong, what waits.
//!
//! A table measures its cells before it is painted, so a tone is a pair of characters without width around a text; they
//! become escape sequences when the layout is done. Where colours are off, `anstream` takes the sequences out again.

use owo_colors::OwoColorize as _;

/// Ends every tone.
const END: char = '\u{2064}';

/// What a word means for the person who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// It is well, or done.
    Good,
    /// It failed.
    Bad,
    /// It is under way, or waits.
    Busy,
}

impl Tone {
    const ALL: [Self; 3] = [Self::Good, Self::Bad, Self::Busy];

    const fn mark(self) -> char {
        match self {
            Self::Good => '\u{2061}',
            Self::Bad => '\u{2062}',
            Self::Busy => '\u{2063}',
        }
    }

    fn of_mark(mark: char) -> Option<Self> {
        Self::ALL.into_iter().find(|tone| tone.mark() == mark)
    }

    /// Returns the tone of a cell by its column and its first word; none for columns whose words are free.
    pub(super) fn of_cell(column: &str, cell: &str) -> Option<Self> {
        if !matches!(
            column,
            "STATUS" | "STATE" | "RESULT" | "GATES" | "VERDICT" | "ERROR" | "BY"
        ) {
            return None;
        }
        if matches!(column, "ERROR" | "BY") {
            return (!cell.is_empty()).then_some(Self::Bad);
        }
        let word = cell.split([' ', ':', ',']).next().unwrap_or_default();
        match word {
            "done" | "succeeded" | "complete" | "completed" | "merged" | "approved" | "passed"
            | "green" | "published" | "accepted" => Some(Self::Good),
            "failed" | "crashed" | "timed_out" | "stalled" | "looping" | "silent" | "tampered"
            | "rejected" | "red" | "blocked" | "aborted" | "unverified" => Some(Self::Bad),
            "in_progress" | "review" | "running" | "starting" | "retrying" | "pending"
            | "waiting" | "due" | "held" => Some(Self::Busy),
            _ => None,
        }
    }

    /// Marks a text with the tone.
    pub(super) fn marked(self, text: &str) -> String {
        format!("{}{text}{END}", self.mark())
    }
}

/// Takes out of a stored text what would be read as a mark.
pub(super) fn unmarked(text: &str) -> String {
    let is_mark = |c: char| c == END || Tone::of_mark(c).is_some();
    text.chars().filter(|c| !is_mark(*c)).collect()
}

/// Paints a line of a table that is laid out. A tone whose text was wrapped, so that it ends on another line, is left out:
/// it would paint the columns between.
pub(super) fn painted(line: &str) -> String {
    let mut result = String::with_capacity(line.len() + 16);
    let mut rest = line;
    while let Some((at, mark, tone)) = rest
        .char_indices()
        .find_map(|(at, c)| Some((at, c, Tone::of_mark(c)?)))
    {
        let (before, from) = rest.split_at(at);
        result.push_str(&before.replace(END, ""));
        let inside = from.get(mark.len_utf8()..).unwrap_or_default();
        let Some((text, after)) = inside.split_once(END) else {
            rest = inside;
            continue;
        };
        result.push_str(&match tone {
            Tone::Good => text.green().to_string(),
            Tone::Bad => text.red().to_string(),
            Tone::Busy => text.yellow().to_string(),
        });
        rest = after;
    }
    result.push_str(&rest.replace(END, ""));
    result
}

/// Paints a line of a unified diff.
pub(super) fn painted_diff(line: &str) -> String {
    let head = [
        "diff ",
        "index ",
        "--- ",
        "+++ ",
        "new file",
        "deleted file",
        "rename ",
        "similarity ",
    ];
    if head.iter().any(|start| line.starts_with(start)) {
        return line.bold().to_string();
    }
    match line.chars().next() {
        Some('+') => line.green().to_string(),
        Some('-') => line.red().to_string(),
        Some('@') => line.cyan().to_string(),
        _ => line.to_owned(),
    }
}

/// Paints a line of a run's log: the time of day dimmed, what went wrong red.
pub fn painted_log(line: &str) -> String {
    let Some((time, rest)) = line.split_once(' ') else {
        return line.to_owned();
    };
    let Some((kind, text)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return line.to_owned();
    };
    let time = time.dimmed();
    let kind = format!("[{kind}]");
    if matches!(kind.as_str(), "[error]" | "[stderr]") {
        format!("{time} {}{}", kind.red(), text.red())
    } else {
        format!("{time} {}{text}", kind.cyan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_cell_is_toned_by_its_column_and_first_word() {
        for (column, cell, tone) in [
            ("STATUS", "done", Some(Tone::Good)),
            ("GATES", "red: test, lint", Some(Tone::Bad)),
            ("GATES", "running: test", Some(Tone::Busy)),
            ("STATUS", "todo", None),
            ("ERROR", "agent_failed", Some(Tone::Bad)),
            ("ERROR", "", None),
            ("TITLE", "done", None),
        ] {
            assert_eq!(Tone::of_cell(column, cell), tone, "{column} {cell}");
        }
    }

    #[test]
    fn a_mark_never_reaches_the_terminal() {
        let good = Tone::Good.marked("done");
        assert_eq!(painted(&good), "\u{1b}[32mdone\u{1b}[39m");
        // wrapped: begun on one line, ended on the next
        for line in ["a \u{2062}bad", "ly\u{2064} b", "\u{2061}x\u{2064}\u{2064}"] {
            let painted = plain(&painted(line));
            assert!(
                !painted
                    .chars()
                    .any(|c| ('\u{2061}'..='\u{2064}').contains(&c)),
                "{painted:?}"
            );
        }
        assert_eq!(unmarked("a\u{2061}b\u{2064}"), "ab");
    }

    #[test]
    fn the_lines_of_diffs_and_logs_keep_their_text() {
        for line in [
            "+a",
            "-b",
            "@@ -1 +1 @@",
            " c",
            "",
            "--- a/x",
            "12:00:01 [text] hello",
            "no time",
        ] {
            assert_eq!(plain(&painted_diff(line)), line);
            assert_eq!(plain(&painted_log(line)), line);
        }
        assert!(painted_log("12:00:01 [error] x").contains("\u{1b}[31m"));
        assert!(painted_diff("+++ b/x").contains("\u{1b}[1m"));
    }
}
