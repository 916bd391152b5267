//! The question to a person at the terminal: how to go on with a phase that failed. Other phases go on meanwhile.

use std::io::{BufRead as _, IsTerminal as _};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use symphony_core::id::PlanPhaseId;
use symphony_core::plan::state::Choice;
use symphony_store::PlanRecord;

use crate::progress::Progress;

/// What each choice means, in their order.
const MEANINGS: [&str; 4] = [
    "one more attempt",
    "go on without it",
    "give it up, and everything behind it",
    "give the plan up",
];

/// The dialog while a plan runs.
#[derive(Debug)]
pub(super) struct Dialog {
    lines: Receiver<String>,
    asked: Option<PlanPhaseId>,
}

/// Says whether there is somebody to be asked.
pub(super) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

impl Dialog {
    /// Begins to listen to the keyboard.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn listen() -> std::io::Result<Self> {
        let (sender, lines) = channel();
        thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || {
                for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Self { lines, asked: None })
    }

    /// Asks about the first of the phases that await a decision, unless it was asked about already.
    pub(super) fn ask(
        &mut self,
        progress: &Progress,
        record: &PlanRecord,
        waiting: &[PlanPhaseId],
    ) {
        let Some(first) = waiting.first() else {
            self.asked = None;
            return;
        };
        if self.asked.as_ref() == Some(first) {
            return;
        }
        // what was typed before the question is no answer to it
        while self.lines.try_recv().is_ok() {}
        for line in question(record, first) {
            progress.say(&line);
        }
        self.asked = Some(first.clone());
    }

    /// Returns the answer to the open question, once there is one.
    pub(super) fn answer(&mut self, progress: &Progress) -> Option<(PlanPhaseId, Choice)> {
        let asked = self.asked.clone()?;
        match self.lines.try_recv() {
            Ok(line) => {
                let choice = read(&line);
                if choice.is_none() {
                    progress.say(&format!(
                        "`{}` is none of the choices: type 1, 2, 3 or 4.",
                        line.trim()
                    ));
                    return None;
                }
                self.asked = None;
                choice.map(|choice| (asked, choice))
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }
}

/// The question, line by line.
fn question(record: &PlanRecord, phase: &PlanPhaseId) -> Vec<String> {
    let title = record
        .document
        .phases
        .iter()
        .find(|found| found.id == phase.as_str())
        .map_or(phase.as_str(), |found| found.title.as_str());
    let progress = record.state.phases.get(phase);
    let retries = progress.map_or(0, |progress| progress.retry_count);
    let mut lines = vec![format!("Phase {title} failed after {retries} retries")];
    if let Some(failure) = progress.and_then(|progress| progress.failure.as_ref()) {
        let error = failure.error.lines().map(|line| format!("  {line}"));
        lines.extend(error.take(ERROR_LINES_MAX));
        lines.push(format!("  class: {}", failure.class));
    }
    for (number, (choice, meaning)) in (1..).zip(Choice::ALL.iter().zip(MEANINGS)) {
        lines.push(format!("  {number} {choice}: {meaning}"));
    }
    lines.push("Type 1, 2, 3 or 4; the other phases go on.".to_owned());
    lines
}

/// Lines of an error that the question shows: `plan status` has all of it.
const ERROR_LINES_MAX: usize = 10;

fn read(line: &str) -> Option<Choice> {
    let text = line.trim();
    let by_number = text.parse::<usize>().ok().and_then(|number| {
        let at = number.checked_sub(1)?;
        Choice::ALL.get(at).copied()
    });
    by_number.or_else(|| Choice::parse(text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_number_or_a_name() {
        for (line, choice) in [
            ("1\n", Some(Choice::RetryOnceMore)),
            (" 2 ", Some(Choice::SkipPhase)),
            ("abort_branch", Some(Choice::AbortBranch)),
            ("4", Some(Choice::AbortAll)),
            ("0", None),
            ("5", None),
            ("", None),
            ("yes", None),
        ] {
            assert_eq!(read(line), choice, "{line:?}");
        }
    }
}
