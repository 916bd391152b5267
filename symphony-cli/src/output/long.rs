//! A long answer that a person reads through, while the rest of it is still being made.

use super::pager::{self, Scroll, Wanted};
use super::stream::Output;

/// Bytes that are kept until a pager has certainly begun to read: a pipe takes 64 KiB from a program that nothing reads.
const HELD_BYTES: usize = 256 * 1024;

/// An answer that comes in parts. On a terminal that is too small for it, a pager shows the first part while the others are made;
/// the memory that it needs does not grow with it.
#[derive(Debug)]
pub(crate) struct LongAnswer {
    output: Output,
    /// What is not shown yet, or what has to be shown in another way if the pager turns out not to start.
    held: String,
    way: Way,
}

impl Output {
    /// Begins an answer that a person reads through while the rest of it is made.
    pub(crate) fn long(self) -> LongAnswer {
        let way = if self.may_scroll() {
            Way::Held
        } else {
            Way::Printed
        };
        LongAnswer {
            output: self,
            held: String::new(),
            way,
        }
    }
}

/// How an answer is shown.
#[derive(Debug)]
enum Way {
    /// All of it may fit on the screen.
    Held,
    /// A pager reads it.
    Paged(Scroll),
    /// It goes straight to standard output.
    Printed,
}

impl LongAnswer {
    /// Shows the next part, in whole lines.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn write(&mut self, part: &str) -> anyhow::Result<Wanted> {
        match &mut self.way {
            Way::Printed => {
                self.output.write(part)?;
                return Ok(Wanted::More);
            }
            Way::Held => {
                self.held.push_str(part);
                if pager::fits_screen(&self.held) {
                    return Ok(Wanted::More);
                }
                let Some(mut scroll) = Scroll::start() else {
                    self.way = Way::Printed;
                    return self.print_held();
                };
                let wanted = scroll.write(&self.held);
                self.way = Way::Paged(scroll);
                if wanted == Wanted::More {
                    return Ok(Wanted::More);
                }
            }
            Way::Paged(scroll) => {
                if self.held.len() <= HELD_BYTES {
                    self.held.push_str(part);
                }
                if scroll.write(part) == Wanted::More {
                    return Ok(Wanted::More);
                }
            }
        }
        self.leave()
    }

    /// Shows what is left, and waits until the person has left the pager.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        if matches!(self.way, Way::Held) {
            self.way = Way::Printed;
            self.print_held()?;
        }
        self.leave().map(|_| ())
    }

    /// Waits for the pager. One that could not be started has shown nothing: what it got is printed, and so is the rest.
    fn leave(&mut self) -> anyhow::Result<Wanted> {
        let Way::Paged(scroll) = std::mem::replace(&mut self.way, Way::Printed) else {
            return Ok(Wanted::More);
        };
        if scroll.end() {
            return Ok(Wanted::Enough);
        }
        self.print_held()
    }

    fn print_held(&mut self) -> anyhow::Result<Wanted> {
        self.output.write(&std::mem::take(&mut self.held))?;
        Ok(Wanted::More)
    }
}
