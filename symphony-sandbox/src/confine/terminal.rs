//! The terminal of a session in which a person works with the agent.

use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::stdio::stdin;
use rustix::termios::isatty;

/// Makes this process lead a session whose terminal is its standard input, if that is one. Then Ctrl-C, changes of the
/// window's size and the end of the terminal reach the program that it becomes.
///
/// A program can do without: so nothing fails when the system refuses.
pub fn take_terminal() {
    if !isatty(stdin()) {
        return;
    }
    // The trampoline leads one already.
    let _led = setsid();
    let _taken = ioctl_tiocsctty(stdin());
}
