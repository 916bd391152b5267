//! Between a person's terminal and that of an agent: a pseudo-terminal, and what copies bytes both ways.
//!
//! The agent has a terminal of its own, so that it can be confined and ended like every agent. What is typed goes there as
//! it is, Ctrl-C too: the agent's terminal turns it into a signal for the agent.

use std::io::{self, Write as _, stdin, stdout};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, kill_current_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    OptionalActions, Termios, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize,
};

use super::screen_state::ScreenState;

/// How long one look waits. The window's size is looked at as often.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// Bytes that are read at once.
const CHUNK_BYTES: usize = 8192;
/// How much typed text may wait until the agent reads it; until then nothing more is taken from the terminal.
const TYPED_BYTES_MAX: usize = 64 * 1024;
/// How long the agent's terminal has another size to have its screen drawn again.
const REDRAW: Duration = Duration::from_millis(300);
/// How long the last output is waited for when the agent has ended.
const LAST_OUTPUT_MAX: Duration = Duration::from_secs(1);

/// A terminal for an agent, of which this process has the other end.
#[derive(Debug)]
pub(super) struct AgentTerminal {
    master: OwnedFd,
    path: PathBuf,
    size: Winsize,
    /// Since when the agent's terminal has another size than the person's, to have the screen drawn again.
    redrawn_at: Option<Instant>,
}

/// Why the copying ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelayEnd {
    /// The agent has ended, and with it its terminal.
    AgentEnded,
    /// The person's own terminal is gone, or a signal asked for the end.
    Left,
}

impl AgentTerminal {
    /// Makes a terminal with the modes and the size of the person's own.
    ///
    /// # Errors
    /// When the system has none left.
    pub(super) fn make() -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let path = ptsname(&master, Vec::new())?;
        let path = path
            .into_string()
            .map_err(|_not_text| io::Error::from(io::ErrorKind::InvalidData))?;
        // Set through this end: nothing has opened the other one yet.
        tcsetattr(&master, OptionalActions::Now, &tcgetattr(stdin())?)?;
        let size = tcgetwinsize(stdin())?;
        tcsetwinsize(&master, size)?;
        rustix::io::ioctl_fionbio(&master, true)?;
        Ok(Self {
            master,
            path: path.into(),
            size,
            redrawn_at: None,
        })
    }

    /// Returns the path by which the supervisor opens it.
    pub(super) fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Copies bytes both ways until the agent has ended, or until `is_over` says so. Then this end is closed, and the
    /// person's terminal is as it was.
    ///
    /// What is typed before the agent writes something is left to the person's own terminal: Ctrl-C ends the command then.
    pub(super) fn relay(mut self, mut is_over: impl FnMut() -> Option<RelayEnd>) -> RelayEnd {
        let mut taken: Option<Taken> = None;
        let mut typed: Vec<u8> = Vec::new();
        let mut ended_at: Option<Instant> = None;
        loop {
            match is_over() {
                Some(RelayEnd::Left) => return RelayEnd::Left,
                // Its last words may still be on the way. A process that keeps the terminal open is not waited for.
                Some(RelayEnd::AgentEnded) => {
                    let since = ended_at.get_or_insert_with(Instant::now);
                    if since.elapsed() > LAST_OUTPUT_MAX {
                        return RelayEnd::AgentEnded;
                    }
                }
                None => {}
            }
            self.follow_size();
            let reads = taken.is_some() && typed.len() < TYPED_BYTES_MAX;
            let (from_person, from_agent) = self.wait(reads, !typed.is_empty());
            if from_agent {
                match self.take_output() {
                    Ok(output) if output.is_empty() => {}
                    Ok(output) => {
                        let taken = match &mut taken {
                            Some(taken) => taken,
                            none => match Taken::begin() {
                                Ok(begun) => none.insert(begun),
                                Err(_gone) => return RelayEnd::Left,
                            },
                        };
                        if taken.show(&output).is_err() {
                            return RelayEnd::Left;
                        }
                    }
                    Err(_closed) => return RelayEnd::AgentEnded,
                }
            }
            if from_person {
                let mut chunk = [0; CHUNK_BYTES];
                match rustix::io::read(stdin(), &mut chunk) {
                    Ok(count @ 1..) => {
                        let keys = chunk.get(..count).unwrap_or_default();
                        typed.extend(without_suspend(keys));
                        if has_suspend(keys)
                            && let Some(taken) = &mut taken
                            && self.suspend(taken).is_err()
                        {
                            return RelayEnd::Left;
                        }
                    }
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    Ok(_) | Err(_) => return RelayEnd::Left,
                }
            }
            if !typed.is_empty() {
                match rustix::io::write(&self.master, &typed) {
                    Ok(count) => drop(typed.drain(..count)),
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    Err(_closed) => return RelayEnd::AgentEnded,
                }
            }
        }
    }

    /// Waits until the person typed something, if that is asked for, or the agent wrote something. Returns which.
    fn wait(&self, reads: bool, writes: bool) -> (bool, bool) {
        let mut wanted = PollFlags::IN;
        if writes {
            wanted |= PollFlags::OUT;
        }
        let input = stdin();
        let mut ready = vec![PollFd::new(&self.master, wanted)];
        if reads {
            ready.push(PollFd::new(&input, PollFlags::IN));
        }
        if poll(&mut ready, Some(&LOOK)).is_err() {
            return (false, false);
        }
        let came = |at: usize, flags| {
            ready
                .get(at)
                .is_some_and(|end| end.revents().intersects(flags))
        };
        let gone = PollFlags::HUP | PollFlags::ERR;
        (came(1, PollFlags::IN | gone), came(0, PollFlags::IN | gone))
    }

    fn take_output(&self) -> Result<Vec<u8>, Errno> {
        let mut chunk = [0; CHUNK_BYTES];
        match rustix::io::read(&self.master, &mut chunk) {
            Ok(0) => Err(Errno::IO),
            Ok(count) => Ok(chunk.iter().take(count).copied().collect()),
            Err(Errno::INTR | Errno::AGAIN) => Ok(Vec::new()),
            // The last process that had the other end has closed it.
            Err(error) => Err(error),
        }
    }

    /// Gives the terminal to the person's shell until they continue this job. The agent continues meanwhile.
    fn suspend(&mut self, taken: &mut Taken) -> io::Result<()> {
        taken.give_back();
        kill_current_process_group(Signal::TSTP)?;
        // Here the job continues, or was not stopped because no shell is there to continue it.
        taken.take_again()?;
        // Another size makes the agent draw its screen again.
        let smaller = Winsize {
            ws_col: self.size.ws_col.saturating_sub(1).max(1),
            ..self.size
        };
        tcsetwinsize(&self.master, smaller)?;
        self.size = smaller;
        self.redrawn_at = Some(Instant::now());
        Ok(())
    }

    /// Passes a changed size of the window on.
    fn follow_size(&mut self) {
        // Both changes at once would be none for the agent.
        if self.redrawn_at.is_some_and(|at| at.elapsed() < REDRAW) {
            return;
        }
        self.redrawn_at = None;
        let is_same = |one: &Winsize, other: &Winsize| {
            (one.ws_row, one.ws_col) == (other.ws_row, other.ws_col)
        };
        if let Ok(size) = tcgetwinsize(stdin())
            && !is_same(&size, &self.size)
        {
            // It is tried again at the next look.
            if tcsetwinsize(&self.master, size).is_ok() {
                self.size = size;
            }
        }
    }
}

/// The person's terminal while the agent has it. Dropping it puts the terminal back in order.
#[derive(Debug)]
struct Taken {
    before: Termios,
    screen: ScreenState,
}

impl Taken {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Drain, &raw)?;
        Ok(Self {
            before,
            screen: ScreenState::default(),
        })
    }

    /// Puts the terminal back in order. One that is gone needs nothing.
    fn give_back(&mut self) {
        // An agent that was killed left its own modes.
        let _gone = stdout().write_all(self.screen.reset().as_bytes());
        let _gone = stdout().flush();
        let _gone = tcsetattr(stdin(), OptionalActions::Flush, &self.before);
    }

    /// Takes the terminal again, with the modes that the agent had switched on.
    fn take_again(&mut self) -> io::Result<()> {
        self.before = tcgetattr(stdin())?;
        let mut raw = self.before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Drain, &raw)?;
        stdout().write_all(self.screen.restored().as_bytes())?;
        stdout().flush()
    }

    fn show(&mut self, output: &[u8]) -> io::Result<()> {
        self.screen.observe(output);
        let mut screen = stdout().lock();
        screen.write_all(output)?;
        screen.flush()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// What a terminal sends for Ctrl-Z: a byte, or what the keyboard protocol of newer terminals makes of it.
const SUSPEND: [&[u8]; 2] = [b"\x1a", b"\x1b[122;5u"];

fn has_suspend(keys: &[u8]) -> bool {
    SUSPEND
        .iter()
        .any(|one| keys.windows(one.len()).any(|part| part == *one))
}

/// Returns what was typed without Ctrl-Z: no shell is above the agent that could continue it, so it would wait forever.
fn without_suspend(keys: &[u8]) -> Vec<u8> {
    let mut rest = keys;
    let mut kept = Vec::new();
    while let Some((first, others)) = rest.split_first() {
        if let Some(after) = SUSPEND.iter().find_map(|one| rest.strip_prefix(*one)) {
            rest = after;
        } else {
            kept.push(*first);
            rest = others;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ctrl_z_is_the_shells_and_everything_else_the_agents() {
        for (typed, kept, suspends) in [
            ("hello", "hello", false),
            ("a\x1ab", "ab", true),
            ("a\x1b[122;5ub", "ab", true),
            ("\x03\x1b[A", "\x03\x1b[A", false),
            ("", "", false),
        ] {
            assert_eq!(without_suspend(typed.as_bytes()), kept.as_bytes());
            assert_eq!(has_suspend(typed.as_bytes()), suspends, "{typed:?}");
        }
    }
}
