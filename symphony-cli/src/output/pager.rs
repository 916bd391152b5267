//! The pager: a long answer on a terminal can be scrolled.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Child, Command, Stdio};

use super::terminal::{self, Size};
use crate::interrupt::Interrupts;

/// Whether more of an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Go on.
    More,
    /// The person has left the pager.
    Enough,
}

/// The shell's exit codes for a command that it could not start.
const NOT_STARTED: [i32; 2] = [126, 127];

/// Whether a long answer may go through a pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paging {
    /// On a terminal, when the answer is longer than it.
    Auto,
    /// Never.
    Never,
}

/// The program to scroll with.
#[derive(Debug, PartialEq, Eq)]
enum Pager {
    /// `less`: it ends by itself when all fits, shows colours, and leaves the text on the screen.
    Less,
    /// What `$PAGER` says, in the words of a shell.
    Named(OsString),
}

impl Pager {
    /// Chooses by the value of `$PAGER`; none when it asks for no pager.
    fn of(variable: Option<OsString>) -> Option<Self> {
        match variable {
            None => Some(Self::Less),
            Some(value) if value.is_empty() || value == "cat" => None,
            Some(value) => Some(Self::Named(value)),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the pager belongs to the terminal, not to a run: this module owns it"
    )]
    fn command(&self) -> Command {
        match self {
            Self::Less => {
                let mut less = Command::new("less");
                less.arg("-FRX");
                less
            }
            Self::Named(words) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(words);
                if std::env::var_os("LESS").is_none() {
                    shell.env("LESS", "FRX");
                }
                shell
            }
        }
    }
}

/// Says whether a pager can be of use: standard output is a terminal of a known size.
pub(super) fn is_of_use() -> bool {
    io::stdout().is_terminal() && terminal::is_movable() && terminal::size().is_some()
}

/// Says whether a text fits on the terminal.
pub(super) fn fits_screen(text: &str) -> bool {
    terminal::size().is_none_or(|size| fits(text, size))
}

/// A pager that is running, and takes text in parts.
#[derive(Debug)]
pub(super) struct Scroll {
    child: Child,
}

impl Scroll {
    /// Starts the pager that `$PAGER` names, or `less`; none where none is wanted or there.
    pub(super) fn start() -> Option<Self> {
        let pager = Pager::of(std::env::var_os("PAGER"))?;
        // Ctrl-C is for the pager: if it ended this process, the pager would be left alone with the terminal
        let _listening = Interrupts::listen();
        let child = pager.command().stdin(Stdio::piped()).spawn().ok()?;
        Some(Self { child })
    }

    /// Gives the pager more text; waits while a person reads what it has.
    pub(super) fn write(&mut self, text: &str) -> Wanted {
        let Some(input) = self.child.stdin.as_mut() else {
            return Wanted::Enough;
        };
        // a person who has seen enough leaves before the end
        match input.write_all(terminal::coloured(text.to_owned()).as_bytes()) {
            Ok(()) => Wanted::More,
            Err(_) => Wanted::Enough,
        }
    }

    /// Waits until the person leaves the pager; says whether it could be started at all.
    pub(super) fn end(mut self) -> bool {
        drop(self.child.stdin.take());
        match self.child.wait() {
            Ok(status) => !status
                .code()
                .is_some_and(|code| NOT_STARTED.contains(&code)),
            Err(_) => true,
        }
    }
}

/// Says whether a text fits on a screen with one line left for the prompt. Long lines take several.
fn fits(text: &str, size: Size) -> bool {
    let mut room = usize::from(size.rows).saturating_sub(1);
    text.lines().all(|line| {
        let taken = terminal::height(line, size.columns);
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fits_with_its_long_lines() {
        for (text, rows, expected) in [
            ("a\nb\n", 3, true),
            ("a\nb\nc\n", 3, false),
            ("0123456789x\n", 3, true),
            ("0123456789x\nb\n", 3, false),
            ("\u{1b}[31m0123456789\u{1b}[0m\nb\n", 3, true),
        ] {
            assert_eq!(fits(text, Size { rows, columns: 10 }), expected, "{text:?}");
        }
    }

    #[test]
    fn the_variable_chooses() {
        assert_eq!(Pager::of(None), Some(Pager::Less));
        assert_eq!(Pager::of(Some("".into())), None);
        assert_eq!(Pager::of(Some("cat".into())), None);
        assert_eq!(
            Pager::of(Some("more".into())),
            Some(Pager::Named("more".into()))
        );
    }
}
