//! The end of a job's log, without what only a terminal or a log's page makes use of.

use symphony_prompt::is_hidden;

/// Escape, which begins a command to a terminal.
const ESCAPE: char = '\u{1b}';
/// The length of the date and the time of day that GitHub puts before each line, such as `2026-01-31T12:00:00`.
const TIME_CHARS: usize = 19;

/// Returns the end of a log as plain text, at most `chars_max` characters of it: without the times of its lines, colours, and
/// characters that show nothing or reorder others. They would take the room of what failed.
pub(super) fn plain_end(log: &str, chars_max: usize) -> String {
    let lines: Vec<String> = log.lines().map(plain_line).collect();
    let text = lines.join("\n");
    let text = text.trim_end();
    let skipped = text.chars().count().saturating_sub(chars_max);
    text.chars().skip(skipped).collect()
}

fn plain_line(line: &str) -> String {
    let line = line.trim_end_matches('\r').trim_start_matches('\u{feff}');
    // a progress bar overwrites its line: what is shown in the end is after the last return
    let line = line.rsplit('\r').next().unwrap_or(line);
    let line = without_commands(without_time(line));
    line.chars()
        .filter(|c| *c == '\t' || !is_hidden(*c))
        .collect()
}

fn without_time(line: &str) -> &str {
    let is_time = |(at, c): (usize, char)| match at {
        4 | 7 => c == '-',
        10 => c == 'T',
        13 | 16 => c == ':',
        _ => c.is_ascii_digit(),
    };
    let begin = line.get(..TIME_CHARS).unwrap_or_default();
    let has_time = begin.chars().count() == TIME_CHARS && begin.chars().enumerate().all(is_time);
    let Some(rest) = line.get(TIME_CHARS..).filter(|_| has_time) else {
        return line;
    };
    let fraction = |c: char| c.is_ascii_digit() || c == '.';
    match rest.trim_start_matches(fraction).strip_prefix('Z') {
        Some(rest) => rest.strip_prefix(' ').unwrap_or(rest),
        None => line,
    }
}

/// Takes out the commands to a terminal: `ESC [ … letter`, `ESC ] … BEL`, and `ESC` with one character.
fn without_commands(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c != ESCAPE {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => {
                let is_end = |c: &char| ('@'..='~').contains(c);
                chars.by_ref().find(is_end);
            }
            Some(']') => while chars.next_if(|c| *c != '\u{7}' && *c != ESCAPE).is_some() {},
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_terminal_uses_is_left_out() {
        for (log, expected) in [
            ("", ""),
            ("plain\ttext\n", "plain\ttext"),
            (
                "2026-01-01T00:00:00.0000000Z one\r\n2026-01-01T00:00:01Z two\r\n",
                "one\ntwo",
            ),
            ("\u{feff}2026-01-01T00:00:00.1Z first", "first"),
            (
                "2026-01-01T00:00:00 is no line of GitHub",
                "2026-01-01T00:00:00 is no line of GitHub",
            ),
            ("2026-01-01T00:00:00.0Z", ""),
            ("\u{1b}[1;31merror\u{1b}[0m: left", "error: left"),
            (
                "\u{1b}]8;;https://example.com\u{7}a link\u{1b}]8;;\u{7}",
                "a link",
            ),
            ("\u{1b}]0;title\u{1b}\\rest", "rest"),
            ("cut off \u{1b}[3", "cut off "),
            ("nul\0 \u{202e}evil \u{200b}漢字", "nul evil 漢字"),
            ("10 %\r50 %\r100 %\nready", "100 %\nready"),
        ] {
            assert_eq!(plain_end(log, 100), expected.trim_end(), "{log:?}");
        }
    }

    #[test]
    fn the_end_is_what_is_kept() {
        let line = "2026-01-01T00:00:00.0000000Z \u{1b}[31mone\u{1b}[0m\r\n";
        let log = format!("{}{line}last", line.repeat(1000));
        assert_eq!(plain_end(&log, 12), "one\none\nlast");
        assert_eq!(plain_end("漢字漢字", 2), "漢字");
    }
}
