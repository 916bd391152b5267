//! Single keys from the terminal, without an echo between the lines of the progress.

use std::io::{Stdin, stdin};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp, tcsetattr,
};

/// Most keys that are taken in one look; what is typed faster than that is no answer.
const KEYS_MAX: usize = 256;
/// Ctrl-D, which a shell's line reader takes for the end.
const END_OF_INPUT: u8 = 0x04;
/// The first byte of what arrows and function keys send: digits follow that no one typed.
const ESCAPE: u8 = 0x1b;

/// What was heard since the last look.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// These keys, maybe none.
    Keys(Vec<u8>),
    /// Nothing more will come.
    End,
}

/// The terminal while its keys are taken one by one; its modes are put back when the value is dropped. Ctrl-C stays what it
/// is.
#[derive(Debug)]
pub(super) struct Keyboard {
    terminal: Stdin,
    before: Termios,
}

impl Keyboard {
    /// Takes the terminal; what was typed so far is forgotten. None while another job has it, or when there is none.
    pub(super) fn take() -> Option<Self> {
        let terminal = stdin();
        if !is_in_front(&terminal) {
            return None;
        }
        let before = tcgetattr(&terminal).ok()?;
        let mut single = before.clone();
        single
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(&terminal, OptionalActions::Flush, &single).ok()?;
        Some(Self { terminal, before })
    }

    /// Forgets what was typed so far.
    pub(super) fn forget(&self) {
        if is_in_front(&self.terminal) {
            // a terminal that is gone says so when it is read
            let _gone = tcflush(&self.terminal, QueueSelector::IFlush);
        }
    }

    /// Returns what was typed since the last look; never waits.
    pub(super) fn listen(&self) -> Heard {
        // a job in the background that reads is stopped
        if !is_in_front(&self.terminal) {
            return Heard::Keys(Vec::new());
        }
        let mut ready = [PollFd::new(&self.terminal, PollFlags::IN)];
        match poll(&mut ready, Some(&Timespec::default())) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Heard::Keys(Vec::new()),
            Ok(_) => {}
            Err(_) => return Heard::End,
        }
        let mut keys = [0; KEYS_MAX];
        match rustix::io::read(&self.terminal, &mut keys) {
            Ok(0) => Heard::End,
            Ok(count) => heard(keys.get(..count).unwrap_or_default()),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Heard::Keys(Vec::new()),
            Err(_) => Heard::End,
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        if is_in_front(&self.terminal) {
            // a terminal that is gone needs no modes
            let _gone = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
        }
    }
}

/// Says whether the terminal listens to this job.
fn is_in_front(terminal: &Stdin) -> bool {
    tcgetpgrp(terminal).is_ok_and(|front| front == getpgrp())
}

/// Picks the keys out of what was read: without the sequences that arrows and function keys send.
fn heard(bytes: &[u8]) -> Heard {
    let mut keys = Vec::new();
    let mut bytes = bytes.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            ESCAPE => {
                if matches!(bytes.next(), Some(b'[' | b'O')) {
                    // up to the letter that ends it
                    let _letter = bytes.find(|byte| matches!(byte, b'@'..=b'~'));
                }
            }
            END_OF_INPUT if keys.is_empty() => return Heard::End,
            END_OF_INPUT => break,
            key => keys.push(key),
        }
    }
    Heard::Keys(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_heard_one_by_one_and_no_digit_of_an_arrow_key() {
        let keys = |text: &str| Heard::Keys(text.as_bytes().to_vec());
        for (typed, expected) in [
            ("1", keys("1")),
            ("2\n", keys("2\n")),
            ("\u{1b}[1;5A", keys("")),
            ("\u{1b}[15~\u{1b}OP\u{1b}x3\u{1b}", keys("3")),
            ("\u{1b}[1", keys("")),
            ("\u{4}", Heard::End),
            ("2\u{4}", keys("2")),
        ] {
            assert_eq!(heard(typed.as_bytes()), expected, "{typed:?}");
        }
    }
}
