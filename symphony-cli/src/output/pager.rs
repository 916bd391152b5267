//! The pager: a long answer on a terminal can be scrolled.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use super::terminal::{self, Size};
use crate::interrupt::Interrupts;

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

/// Shows a text in a pager; says whether it did. It does not when standard output is no terminal, when the text fits on it,
/// or when no pager can be started.
pub(super) fn show(text: &str) -> bool {
    if !io::stdout().is_terminal() || !terminal::is_movable() {
        return false;
    }
    let Some(size) = terminal::size() else {
        return false;
    };
    if fits(text, size) {
        return false;
    }
    let Some(pager) = Pager::of(std::env::var_os("PAGER")) else {
        return false;
    };
    scroll(&pager, &terminal::coloured(text.to_owned()))
}

/// Runs the pager until the person leaves it; says whether it could be started.
fn scroll(pager: &Pager, text: &str) -> bool {
    // Ctrl-C is for the pager: if it ended this process, the pager would be left alone with the terminal
    let _listening = Interrupts::listen();
    let Ok(mut child) = pager.command().stdin(Stdio::piped()).spawn() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        // a person who has seen enough leaves before the end
        let _unread = input.write_all(text.as_bytes());
    }
    match child.wait() {
        Ok(status) => !status
            .code()
            .is_some_and(|code| NOT_STARTED.contains(&code)),
        Err(_) => true,
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
