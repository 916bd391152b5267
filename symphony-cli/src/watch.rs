//! Showing a view again and again: redrawn in place on a terminal, one after the other elsewhere.

use std::time::Duration;

use symphony_core::Timestamp;
use symphony_view::text::View;

use crate::failure::sentence;
use crate::interrupt::Interrupts;
use crate::output::{Output, Screen};

/// Loads a view and shows it, at once and after each interval, until Ctrl-C or SIGTERM. A look that fails after the first is
/// shown and tried again: a database that is busy for a moment does not end the watch.
///
/// # Errors
/// When the first look fails, or standard output cannot be written.
pub(crate) fn watch<T: View>(
    out: Output,
    interval: Duration,
    mut load: impl FnMut() -> anyhow::Result<T>,
) -> anyhow::Result<()> {
    let mut view = Ok(load()?);
    let interrupts = Interrupts::listen()?;
    let mut screen = Screen::open(out)?;
    while interrupts.count() == 0 {
        let now = Timestamp::now();
        match (&view, &mut screen) {
            (Ok(view), Some(screen)) => screen.draw(view, interval)?,
            (Err(error), Some(screen)) => screen.draw_problem(&sentence(error))?,
            (Ok(view), None) if out.is_json() => out.event(view)?,
            (Ok(view), None) => {
                out.write(&format!("--- {now}\n"))?;
                out.answer(view)?;
            }
            (Err(error), None) => out.warn(&sentence(error)),
        }
        interrupts.wait(interval);
        if interrupts.count() == 0 {
            view = load();
        }
    }
    Ok(())
}
