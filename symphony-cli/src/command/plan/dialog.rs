//! The question to a person at the terminal: how to go on with a phase that failed. Other phases go on meanwhile.

use std::io::IsTerminal as _;

use symphony_core::id::PlanPhaseId;
use symphony_core::plan::state::Choice;
use symphony_store::PlanRecord;

use super::keyboard::{Heard, Keyboard};
use crate::output::Output;
use crate::progress::Progress;

/// What each choice means, in their order.
const MEANINGS: [&str; 4] = [
    "one more attempt",
    "continue without it",
    "abort it and everything that depends on it",
    "abort the plan",
];

/// The dialog while a plan runs. From its first question on, keys are taken one by one.
#[derive(Debug, Default)]
pub(super) struct Dialog {
    keyboard: Option<Keyboard>,
    asked: Option<PlanPhaseId>,
    corrected: bool,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing yet.
    Nothing,
    /// How to go on with a phase.
    Choice(PlanPhaseId, Choice),
    /// That no one will answer here: the input has ended.
    End,
}

/// Says whether there is someone to be asked, and to be shown the question.
pub(super) fn is_possible(out: Output) -> bool {
    out.is_watched() && std::io::stdin().is_terminal()
}

impl Dialog {
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
        if let Some(keyboard) = &self.keyboard {
            keyboard.forget();
        } else {
            self.keyboard = Keyboard::take();
        }
        for line in question(record, first) {
            progress.say(&line);
        }
        self.asked = Some(first.clone());
        self.corrected = false;
    }

    /// Listens for the answer to the open question.
    pub(super) fn answer(&mut self, progress: &Progress) -> Said {
        // a job that has come to the front again can be answered
        if self.asked.is_some() && self.keyboard.is_none() {
            self.keyboard = Keyboard::take();
        }
        let Some(keyboard) = &self.keyboard else {
            return Said::Nothing;
        };
        let keys = match keyboard.listen() {
            Heard::Keys(keys) => keys,
            Heard::End if self.asked.is_some() => return Said::End,
            Heard::End => return Said::Nothing,
        };
        let Some(asked) = &self.asked else {
            return Said::Nothing;
        };
        if let Some(choice) = keys.iter().find_map(|key| read(*key)) {
            let asked = asked.clone();
            self.asked = None;
            return Said::Choice(asked, choice);
        }
        if !self.corrected && keys.iter().any(u8::is_ascii_graphic) {
            self.corrected = true;
            progress.say("Press 1, 2, 3 or 4.");
        }
        Said::Nothing
    }
}

/// The title of a phase.
pub(super) fn title<'a>(record: &'a PlanRecord, phase: &'a PlanPhaseId) -> &'a str {
    let mut phases = record.document.phases.iter();
    let found = phases.find(|found| found.id == phase.as_str());
    found.map_or(phase.as_str(), |found| &found.title)
}

/// The question, line by line.
fn question(record: &PlanRecord, phase: &PlanPhaseId) -> Vec<String> {
    let title = title(record, phase);
    let progress = record.state.phases.get(phase);
    let attempts = progress.map_or(0, |progress| progress.attempts);
    let mut lines = vec![format!(
        "Phase {phase} ({title}) failed on attempt {attempts}"
    )];
    if let Some(failure) = progress.and_then(|progress| progress.failure.as_ref()) {
        let error = failure.error.lines().map(|line| format!("  {line}"));
        lines.extend(error.take(ERROR_LINES_MAX));
        let class = failure.class.words();
        lines.extend(class.map(|words| format!("  class: {words}")));
    }
    for (number, (choice, meaning)) in (1..).zip(Choice::ALL.iter().zip(MEANINGS)) {
        lines.push(format!("  {number} {choice}: {meaning}"));
    }
    lines.push("Press 1, 2, 3 or 4; the other phases continue.".to_owned());
    lines
}

/// Lines of an error that the question shows: `plan status` has all of it.
const ERROR_LINES_MAX: usize = 10;

/// Reads a key: the number of a choice.
fn read(key: u8) -> Option<Choice> {
    let at = key.checked_sub(b'1')?;
    Choice::ALL.get(usize::from(at)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_the_number_of_a_choice() {
        for (key, choice) in [
            (b'1', Some(Choice::RetryOnceMore)),
            (b'2', Some(Choice::SkipPhase)),
            (b'3', Some(Choice::AbortBranch)),
            (b'4', Some(Choice::AbortAll)),
            (b'0', None),
            (b'5', None),
            (b'\n', None),
            (b'y', None),
            (0, None),
            (255, None),
        ] {
            assert_eq!(read(key), choice, "{key}");
        }
    }
}
