//! The forwarder: a process in the sandbox by which ports of its loopback lead to sockets.
//!
//! `symphony confine` becomes the agent's program, so that exit codes and signals are the agent's own. A forwarder that was
//! its child would be one that the agent knows nothing of: programs that wait for all of their children would wait for it.
//! So it is a child of the first process of the sandbox, and ends with it.
//!
//! It is a copy of `symphony confine` and no program that is executed: that would be most of its cost. So it lets go of
//! what belongs to the agent: its streams, its group, and the words and variables by which other processes see it.
//!
//! The forwarder holds no rights that the agent lacks: the sockets are the agent's, too.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::FileExt as _;

use rustix::process::setpgid;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::{CONFINE_FAILED, ConfineError, Confinement, Forward, landlock};
use crate::kernel::{self, Copied};

/// The words by which the forwarder is seen in lists of processes.
const TITLE: &[u8] = b"symphony forward-in-sandbox";
/// The line that says that all ports are open; any other line says why they are not.
const READY: &str = "ready\n";
/// Most bytes that are read of such a line.
const LINE_BYTES_MAX: u64 = 4096;

/// A forwarder that opens its ports while this process confines itself.
pub(super) struct Starting(Option<PipeReader>);

/// Starts the forwarder. The system calls of this process must have been restricted: the forwarder inherits that. It
/// restricts itself to the sockets, so this process must still reach what the agent will not.
#[expect(
    clippy::exit,
    reason = "the copy ends here, and must not go on as the agent's program"
)]
pub(super) fn start(forwards: &[Forward]) -> Result<Starting, ConfineError> {
    if forwards.is_empty() {
        return Ok(Starting(None));
    }
    let (reader, writer) = io::pipe().map_err(|error| failed(&error))?;
    match kernel::copy_beside().map_err(|error| failed(&error))? {
        Copied::Original => Ok(Starting(Some(reader))),
        Copied::Copy => {
            drop(reader);
            let Err(error) = run(forwards, &writer);
            say(&writer, &format!("{error}\n"));
            std::process::exit(i32::from(CONFINE_FAILED))
        }
    }
}

fn failed(error: &dyn std::error::Error) -> ConfineError {
    ConfineError::Forward(described(error))
}

impl Starting {
    /// Waits until all ports are open: an agent connects at once.
    pub(super) fn wait(self) -> Result<(), ConfineError> {
        let Some(reader) = self.0 else {
            return Ok(());
        };
        let mut line = String::new();
        BufReader::new(reader.take(LINE_BYTES_MAX))
            .read_line(&mut line)
            .map_err(|error| failed(&error))?;
        match line.as_str() {
            READY => Ok(()),
            "" => Err(ConfineError::Forward("its process ended".to_owned())),
            why => Err(ConfineError::Forward(why.trim().to_owned())),
        }
    }
}

/// Is the forwarder. Returns only when a port could not be opened.
fn run(forwards: &[Forward], writer: &PipeWriter) -> Result<Infallible, ConfineError> {
    let_go().map_err(|error| failed(&error))?;
    landlock::restrict(&sockets_only(forwards))?;
    let forwards: Vec<_> = forwards
        .iter()
        .map(|forward| symphony_proxy::Forward {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, forward.port)),
            socket: forward.socket.clone(),
        })
        .collect();
    symphony_proxy::forward(&forwards, |_| say(writer, READY)).map_err(|error| failed(&error))
}

/// Lets go of what belongs to the agent. Whoever reads the agent's output waits until nobody has its streams open, and a signal
/// to the agent's group is to leave it the way out for its last requests.
fn let_go() -> io::Result<()> {
    // without the words of the agent nothing takes the forwarder for it; where this is refused, it works as well
    drop(rename());
    setpgid(None, None)?;
    std::env::set_current_dir("/")?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(())
}

/// Overwrites the words and the variables that this process was started with, as others see them. Nothing reads them here after
/// this.
fn rename() -> io::Result<()> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let [words, variables] = areas(&stat).ok_or(io::ErrorKind::InvalidData)?;
    let memory = File::options().write(true).open("/proc/self/mem")?;
    let length = |area: &(u64, u64)| usize::try_from(area.1.saturating_sub(area.0));
    let mut text = vec![0; length(&words).map_err(io::Error::other)?];
    // the last byte stays zero, or the kernel would take what follows for a part of it
    let last = text.len().saturating_sub(1);
    for (place, byte) in text.iter_mut().take(last).zip(TITLE) {
        *place = *byte;
    }
    memory.write_all_at(&text, words.0)?;
    let nothing = vec![0; length(&variables).map_err(io::Error::other)?];
    memory.write_all_at(&nothing, variables.0)
}

/// Returns where the words and the variables of a process are in its memory, by its line in `/proc`: the fields 48 to 51.
fn areas(stat: &str) -> Option<[(u64, u64); 2]> {
    /// The first field after the name, which can have anything in it.
    const AFTER_NAME: usize = 3;
    const WORDS: usize = 48;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut numbers = fields
        .split_ascii_whitespace()
        .skip(WORDS - AFTER_NAME)
        .map_while(|field| field.parse().ok());
    let mut area = || Some((numbers.next()?, numbers.next()?));
    let found = [area()?, area()?];
    found.iter().all(|(start, _)| *start > 0).then_some(found)
}

/// It opens nothing but the sockets. From Landlock 9 on, connecting to one needs a rule for it.
fn sockets_only(forwards: &[Forward]) -> Confinement {
    Confinement {
        write: forwards
            .iter()
            .map(|forward| forward.socket.clone())
            .collect(),
        ..Confinement::default()
    }
}

/// Writes to whoever waits for the line. That one may be gone, which leaves nothing to do.
fn say(mut writer: &PipeWriter, line: &str) {
    drop(writer.write_all(line.as_bytes()));
}

fn described(error: &dyn std::error::Error) -> String {
    let cause = error
        .source()
        .map_or(String::new(), |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_and_variables_of_a_process_are_found_in_its_memory() {
        let line = |name: &str, fields: &str| format!("7 ({name}) R{}{fields}", " 0".repeat(44));
        for (stat, expected) in [
            (line("sh", " 10 20 20 40 0"), Some([(10, 20), (20, 40)])),
            (line("a) R 1 (b", " 1 2 3 4"), Some([(1, 2), (3, 4)])),
            (line("sh", " 0 0 0 0 0"), None),
            (line("sh", " 10 20 20"), None),
            ("7".to_owned(), None),
        ] {
            assert_eq!(areas(&stat), expected, "{stat}");
        }
        let own = fs::read_to_string("/proc/self/stat").unwrap();
        let [words, _] = areas(&own).unwrap();
        let memory = File::open("/proc/self/mem").unwrap();
        let mut found = vec![0; usize::try_from(words.1 - words.0).unwrap()];
        memory.read_exact_at(&mut found, words.0).unwrap();
        assert_eq!(found, fs::read("/proc/self/cmdline").unwrap());
    }
}
