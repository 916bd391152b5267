//! Redaction of an output that comes line by line, with values that are wrapped from one line to the next.

use std::borrow::Cow;
use std::sync::Arc;

use super::patterns::BEGINNING_BYTES;
use super::redact::Redactor;

/// Output that is held back at most, until what comes next decides.
const HELD_BYTES_MAX: usize = 64 * 1024;

/// Redacts lines. A line that ends with the beginning of a value is held back until the next one comes.
#[derive(Debug)]
pub struct LineRedactor {
    redactor: Option<Arc<Redactor>>,
    /// The end of what was given out, then what is held back.
    text: Vec<u8>,
    /// Where what is held back begins.
    from: usize,
}

impl LineRedactor {
    /// Begins with an output.
    pub fn new(redactor: Option<Arc<Redactor>>) -> Self {
        Self {
            redactor,
            text: Vec::new(),
            from: 0,
        }
    }

    /// Processes a line, without its end. Returns what can be written now: one line or several, without the last line's
    /// end; `None` while the next line decides.
    pub fn take<'a>(&mut self, line: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        let Some(redactor) = &self.redactor else {
            return Some(Cow::Borrowed(line));
        };
        self.text.extend_from_slice(line);
        let held = self.text.len() - self.from;
        if held < HELD_BYTES_MAX && redactor.may_go_on(&self.text) {
            self.text.push(b'\n');
            return None;
        }
        self.give_out().map(Cow::Owned)
    }

    /// Returns what was held back at the end of the output.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        if self.text.len() == self.from {
            return None;
        }
        // The line end that was kept because more could follow.
        self.text.pop();
        self.give_out()
    }

    fn give_out(&mut self) -> Option<Vec<u8>> {
        let redactor = self.redactor.as_ref()?;
        let clean = redactor.redact_from(&self.text, self.from);
        // A value of which fewer bytes than a beginning were given out is still recognised by its rest.
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let mut end: Vec<u8> = self
            .text
            .iter()
            .rev()
            .filter(|byte| !is_break(byte))
            .take(BEGINNING_BYTES - 1)
            .copied()
            .collect();
        end.reverse();
        end.push(b'\n');
        let from = std::mem::replace(&mut self.from, end.len());
        let mut text = std::mem::replace(&mut self.text, end);
        // a text without secrets is given out as it is: it may be long
        Some(clean.unwrap_or_else(|| {
            text.drain(..from);
            text
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "sk-live-0123456789";

    fn redacted(lines: &[&str]) -> Vec<String> {
        let values = [("KEY".to_owned(), VALUE.to_owned())];
        let mut output = LineRedactor::new(Redactor::of(values).unwrap().map(Arc::new));
        let mut written: Vec<Vec<u8>> = lines
            .iter()
            .filter_map(|line| output.take(line.as_bytes()).map(Cow::into_owned))
            .collect();
        written.extend(output.finish());
        written
            .into_iter()
            .map(|text| String::from_utf8(text).unwrap())
            .collect()
    }

    #[test]
    fn a_value_that_is_cut_anywhere_is_never_written_down() {
        let encoded = "c2stbGl2ZS0wMTIzNDU2Nzg5";
        for form in [VALUE, encoded] {
            for at in 1..form.len() {
                let (first, second) = form.split_at(at);
                let lines = [format!("a {first}"), format!("{second} b")];
                let written = redacted(&["before", &lines[0], &lines[1], "after"]);
                let text = written.join("\n");
                assert!(text.starts_with("before\na "), "{text}");
                assert!(text.ends_with("[redacted: KEY] b\nafter"), "{text}");
                // Only what is too short to be recognized was written.
                let shown = text.matches(first).count();
                assert!(at < BEGINNING_BYTES || shown == 0, "{text}");
            }
        }
    }

    #[test]
    fn a_value_over_three_lines_is_one() {
        assert_eq!(
            redacted(&["x sk-live-0", "12345", "6789", "y"]),
            ["x [redacted: KEY]", "y"]
        );
    }

    #[test]
    fn other_lines_are_written_as_they_come() {
        for lines in [
            &["one", "", "two"][..],
            // held back, and then honest
            &["a sk-live", "b", "c"],
            &["a sk-live-01", "", ""],
            &["ends with sk-live-"],
            &["sk-live-", "sk-live-"],
            &[],
        ] {
            assert_eq!(redacted(lines).join("\n"), lines.join("\n"));
        }
        let mut none = LineRedactor::new(None);
        assert_eq!(none.take(b"a"), Some(Cow::Borrowed(&b"a"[..])));
        assert_eq!(none.finish(), None);
    }
}
