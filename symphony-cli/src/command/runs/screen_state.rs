//! What an agent has switched on in a terminal, to switch it off again when it was killed.

/// The modes that are switched on by `ESC [ ? N h` and off by `ESC [ ? N l`, beyond those that a shell sets itself.
const MODES: [&str; 8] = [
    "1000", "1002", "1003", "1004", "1006", "1049", "2004", "2026",
];
/// The mode of a visible cursor, which is switched off instead.
const CURSOR: &str = "25";
/// The longest sequence that is looked for, in bytes.
const SEQUENCE_BYTES_MAX: usize = 8;

/// The modes of a terminal, as its output sets them.
#[derive(Debug, Default)]
pub(super) struct ScreenState {
    on: Vec<&'static str>,
    hides_cursor: bool,
    /// Whether keys come by the protocol of newer terminals.
    has_keyboard: bool,
    /// The end of the last output: a sequence may be cut in two.
    tail: Vec<u8>,
}

impl ScreenState {
    /// Takes note of what an output switches on and off.
    pub(super) fn observe(&mut self, output: &[u8]) {
        let mut text = std::mem::take(&mut self.tail);
        text.extend_from_slice(output);
        for at in text
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == 0x1b)
            .map(|(at, _)| at)
        {
            let rest = text.get(at + 1..).unwrap_or_default();
            self.has_keyboard = match rest {
                [b'[', b'>', b'0'..=b'9', b'u', ..] => true,
                [b'[', b'<', b'u', ..] | [b'[', b'<', b'0'..=b'9', b'u', ..] => false,
                _ => self.has_keyboard,
            };
            let Some(rest) = rest.strip_prefix(b"[?") else {
                continue;
            };
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'h' | b'l')) else {
                continue;
            };
            let (numbers, end) = rest.split_at(end);
            let is_on = end.first() == Some(&b'h');
            for number in numbers.split(|byte| *byte == b';') {
                self.set(number, is_on);
            }
        }
        let keep = text.len().saturating_sub(SEQUENCE_BYTES_MAX);
        self.tail = text.split_off(keep);
    }

    fn set(&mut self, number: &[u8], is_on: bool) {
        if number == CURSOR.as_bytes() {
            self.hides_cursor = !is_on;
        }
        if let Some(mode) = MODES.iter().find(|mode| mode.as_bytes() == number) {
            self.on.retain(|one| one != mode);
            if is_on {
                self.on.push(mode);
            }
        }
    }

    /// Returns the sequences that switch what is on, on (`h`) or off (`l`).
    fn modes(&self, to: char) -> String {
        let one = |mode: &&str| ["\x1b[?", mode, &to.to_string()].concat();
        self.on.iter().map(one).collect()
    }

    /// Returns what switches on again what [`Self::reset`] switches off.
    pub(super) fn restored(&self) -> String {
        let mut text = self.modes('h');
        if self.hides_cursor {
            text.push_str("\x1b[?25l");
        }
        if self.has_keyboard {
            text.push_str("\x1b[>1u");
        }
        text
    }

    /// Returns what switches off what is still on.
    pub(super) fn reset(&self) -> String {
        let mut text = self.modes('l');
        if self.hides_cursor {
            text.push_str("\x1b[?25h");
        }
        if self.has_keyboard {
            text.push_str("\x1b[<u");
        }
        text.push_str("\x1b[0m");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_still_on_is_switched_off() {
        for (outputs, expected) in [
            (vec!["hello"], "\x1b[0m"),
            (vec!["\x1b[?1049h\x1b[?25l"], "\x1b[?1049l\x1b[?25h\x1b[0m"),
            (vec!["\x1b[?1049h", "x\x1b[?1049l"], "\x1b[0m"),
            (vec!["\x1b[?20", "04h"], "\x1b[?2004l\x1b[0m"),
            (
                vec!["\x1b[?1000;1006h", "\x1b[?1000l"],
                "\x1b[?1006l\x1b[0m",
            ),
            (vec!["\x1b[?7h\x1b[31m"], "\x1b[0m"),
            (vec!["\x1b[>1u"], "\x1b[<u\x1b[0m"),
            (vec!["\x1b[>1u", "\x1b[<u"], "\x1b[0m"),
        ] {
            let mut state = ScreenState::default();
            for output in &outputs {
                state.observe(output.as_bytes());
            }
            assert_eq!(state.reset(), expected, "{outputs:?}");
        }
    }
}
