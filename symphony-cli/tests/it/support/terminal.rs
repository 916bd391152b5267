//! A command on a terminal: a pseudo-terminal, and a model of what a person sees on it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::project::{Project, until};

/// Lines of the terminal: all that a test's command says fits.
const ROWS: u16 = 50;

/// A command whose standard streams are a terminal, which is its session's.
#[derive(Debug)]
pub(crate) struct Terminal {
    child: Child,
    master: File,
    /// The end that the command has, to ask for its modes.
    line: OwnedFd,
    screen: Arc<Mutex<Screen>>,
    reader: JoinHandle<()>,
    is_closed: Arc<AtomicBool>,
}

struct Screen {
    model: vt100::Parser,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&lines(&self.model).join("\n"))
    }
}

impl Terminal {
    /// Starts a command of Symphony on a terminal of a width.
    pub(crate) fn start(project: &Project, columns: u16, arguments: &[&str]) -> Self {
        Self::start_on("xterm-256color", project, columns, arguments)
    }

    /// Starts a command of Symphony on a terminal of a kind and a width.
    pub(crate) fn start_on(
        kind: &str,
        project: &Project,
        columns: u16,
        arguments: &[&str],
    ) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || -> OwnedFd {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            rustix::fs::open(&name, flags, Mode::empty()).unwrap()
        };
        let size = Winsize {
            ws_row: ROWS,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
        // signals are as a shell has them, whatever the tests were started with; then it makes a session, takes the terminal
        // for it, and becomes the command
        let mut command = project.program("env");
        command
            .args(["--default-signal", "setsid", "--ctty"])
            .arg(env!("CARGO_BIN_EXE_symphony"))
            .args(arguments)
            .env("TERM", kind)
            .stdin(open())
            .stdout(open())
            .stderr(open());
        let child = command.spawn().expect("coreutils are installed");
        drop(command);
        let [rows, width] = [ROWS, columns].map(|cells| NonZero::new(cells).unwrap());
        let screen = Arc::new(Mutex::new(Screen {
            model: vt100::Parser::new(rows, width, 0),
        }));
        let master = File::from(master);
        let (shown, mut output) = (Arc::clone(&screen), master.try_clone().unwrap());
        let line = open();
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&is_closed);
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            // the kernel answers with an error when nobody has the other end any more
            while is_readable(&output, &closed)
                && let Ok(count @ 1..) = output.read(&mut chunk)
            {
                let mut screen = shown.lock().unwrap();
                screen.model.process(&chunk[..count]);
                // what a terminal answers when it is asked where its cursor is
                if chunk[..count].windows(4).any(|part| part == b"\x1b[6n") {
                    let (row, column) = screen.model.screen().cursor_position();
                    let answer = format!("\x1b[{};{}R", row + 1, column + 1);
                    // a command that has ended meanwhile wants no answer
                    let _gone = output.write_all(answer.as_bytes());
                }
            }
        });
        Self {
            child,
            master,
            line,
            screen,
            reader,
            is_closed,
        }
    }

    /// What stands on the screen now: its lines, without what is empty at their ends and at its end.
    pub(crate) fn seen(&self) -> Vec<String> {
        lines(&self.screen.lock().unwrap().model)
    }

    /// Waits until the lines on the screen are as they should be; returns them.
    pub(crate) fn until_seen(&self, what: &str, is_so: impl Fn(&[String]) -> bool) -> Vec<String> {
        let mut last = Vec::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(what, || {
                last = self.seen();
                is_so(&last).then(|| last.clone())
            })
        }));
        found.unwrap_or_else(|_| panic!("waited in vain for {what}; seen:\n{}", last.join("\n")))
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Says whether the terminal shows what is typed and gives it line by line, as a shell leaves it.
    pub(crate) fn is_plain(&self) -> bool {
        let modes = tcgetattr(&self.line).unwrap().local_modes;
        modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG)
    }

    /// Takes the terminal away, as a window that is closed does; waits for the command's end.
    pub(crate) fn close(self) -> ExitStatus {
        let Self {
            mut child,
            master,
            line,
            reader,
            is_closed,
            ..
        } = self;
        is_closed.store(true, Ordering::SeqCst);
        reader.join().unwrap();
        drop((master, line));
        end_of(&mut child)
    }

    /// Kills the command.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the command's end; returns its exit code and what then stands on the screen.
    pub(crate) fn end(mut self) -> (i32, Vec<String>) {
        let status = end_of(&mut self.child);
        assert!(self.is_plain(), "the terminal is left as it was");
        drop(self.line);
        self.reader.join().unwrap();
        let screen = self.screen.lock().unwrap();
        let code = status
            .code()
            .unwrap_or_else(|| panic!("{status}: {screen:?}"));
        (code, lines(&screen.model))
    }
}

fn end_of(child: &mut Child) -> ExitStatus {
    until("the end of the command", || child.try_wait().unwrap())
}

/// Waits until there is something to read, or the terminal was closed.
fn is_readable(output: &File, is_closed: &AtomicBool) -> bool {
    const LOOK: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 20_000_000,
    };
    while !is_closed.load(Ordering::SeqCst) {
        let mut ready = [PollFd::new(output, PollFlags::IN)];
        if poll(&mut ready, Some(&LOOK)).is_ok_and(|count| count > 0) {
            return true;
        }
    }
    false
}

fn lines(model: &vt100::Parser) -> Vec<String> {
    let screen = model.screen();
    let (_, columns) = screen.size();
    let mut lines: Vec<String> = screen
        .rows(0, columns.get())
        .map(|line| line.trim_end().to_owned())
        .collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}
