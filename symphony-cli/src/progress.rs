//! Live progress of runs: a spinner each on a terminal, plain lines elsewhere, objects with `--json`. Standard error only,
//! but for the objects.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::RunId;
use symphony_store::{Store, StoreError};
use symphony_view::RunView;
use symphony_view::text::one_line;

use crate::output::Output;

/// Time between two frames of a spinner.
const FRAME: Duration = Duration::from_millis(120);
/// Characters of an event that are shown: a spinner is one line.
const EVENT_CHARS_MAX: usize = 100;

/// What is done with objects of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// They are part of the answer.
    Events,
    /// The answer is one document: nothing comes before it.
    Silent,
}

/// Shows what runs do while they are watched.
#[derive(Debug)]
pub(crate) struct Progress {
    out: Output,
    stream: Stream,
    tells_ends: bool,
    bars: Option<MultiProgress>,
    whole: Option<ProgressBar>,
    shown: BTreeMap<RunId, Shown>,
}

#[derive(Debug, Default)]
struct Shown {
    bar: Option<ProgressBar>,
    last: String,
    is_over: bool,
}

/// An object of progress.
#[derive(Debug, Serialize)]
struct RunEvent<'a> {
    /// `run_progress` or `run_ended`.
    event: &'static str,
    at: Timestamp,
    /// What the agent did last, in words.
    last_event: &'a str,
    run: &'a RunView,
}

impl Progress {
    /// Begins to watch.
    pub(crate) fn new(out: Output, stream: Stream) -> Self {
        let bars = out.is_watched().then(MultiProgress::new);
        Self {
            out,
            stream,
            tells_ends: true,
            bars,
            whole: None,
            shown: BTreeMap::new(),
        }
    }

    /// Begins to watch for a command whose answer tells how the runs ended.
    pub(crate) fn quiet_about_ends(out: Output, stream: Stream) -> Self {
        Self {
            tells_ends: false,
            ..Self::new(out, stream)
        }
    }

    /// Reads the runs and shows what is new in them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn look(&mut self, store: &Store, runs: &[RunId]) -> Result<(), StoreError> {
        for id in runs {
            if self.has_told_end(id) {
                continue;
            }
            let run = RunView::from(store.run(id)?);
            let last = store
                .last_event(id)?
                .map(|(text, _)| text)
                .unwrap_or_default();
            if run.status.is_live() {
                self.moved(&run, &last);
            } else {
                self.ended(&run);
            }
        }
        Ok(())
    }

    /// Says whether the end of a run was shown.
    pub(crate) fn has_told_end(&self, id: &RunId) -> bool {
        self.shown.get(id).is_some_and(|shown| shown.is_over)
    }

    /// Shows how much of the whole is done, below the spinners of its parts; nothing where no one watches.
    pub(crate) fn bar(&mut self, done: usize, total: usize) {
        let Some(bars) = &self.bars else { return };
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let whole = self.whole.get_or_insert_with(|| {
            let bar = bars.add(ProgressBar::new(count(total)));
            if let Ok(style) = ProgressStyle::with_template("[{bar:20}] {pos}/{len}") {
                bar.set_style(style.progress_chars("█▌░"));
            }
            bar
        });
        whole.set_length(count(total));
        whole.set_position(count(done));
    }

    /// Takes the bar of the whole away: the answer follows.
    pub(crate) fn clear_bar(&self) {
        if let Some(whole) = &self.whole {
            whole.finish_and_clear();
        }
    }

    /// Says something above the spinners.
    pub(crate) fn say(&self, text: &str) {
        match &self.bars {
            Some(bars) => {
                // when the terminal is gone, no one can read a message
                let _unwritten = bars.println(one_line(text));
            }
            None if !self.out.is_json() => self.out.note(text),
            None => {}
        }
    }

    fn moved(&mut self, run: &RunView, last: &str) {
        let is_new = !self.shown.contains_key(&run.id);
        let bars = self.bars.as_ref();
        let shown = self.shown.entry(run.id.clone()).or_default();
        if !is_new && shown.last == last && bars.is_none() {
            return;
        }
        last.clone_into(&mut shown.last);
        let head = format!("{} {}", run.subject(), run.profile);
        let event: String = one_line(last).chars().take(EVENT_CHARS_MAX).collect();
        match bars {
            Some(bars) => {
                let whole = self.whole.as_ref();
                let bar = shown.bar.get_or_insert_with(|| spinner(bars, whole));
                bar.set_message(format!("{head}: {} {event}", run.elapsed(Timestamp::now())));
            }
            None if self.out.is_json() => self.emit("run_progress", last, run),
            // the step that started it has already reported that
            None if event.is_empty() => {}
            None => self.out.note(&format!("{head}: {event}")),
        }
    }

    fn ended(&mut self, run: &RunView) {
        let shown = self.shown.entry(run.id.clone()).or_default();
        shown.is_over = true;
        if let Some(bar) = shown.bar.take() {
            bar.finish_and_clear();
        }
        if self.out.is_json() {
            self.emit("run_ended", "", run);
        } else if self.tells_ends {
            self.say(&run.outcome());
        }
    }

    fn emit(&self, event: &'static str, last_event: &str, run: &RunView) {
        if self.stream == Stream::Events {
            let object = RunEvent {
                event,
                at: Timestamp::now(),
                last_event,
                run,
            };
            // a reader that went away is noticed by the answer itself
            let _unwritten = self.out.event(&object);
        }
    }
}

/// Adds a spinner below the others, and above the bar of the whole.
fn spinner(bars: &MultiProgress, whole: Option<&ProgressBar>) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    spinning(match whole {
        Some(whole) => bars.insert_before(whole, bar),
        None => bars.add(bar),
    })
}

/// Lets a bar spin before its message, on one line.
pub(crate) fn spinning(bar: ProgressBar) -> ProgressBar {
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(FRAME);
    bar
}
