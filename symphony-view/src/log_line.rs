//! A line of a run's log, taken apart: when, what kind of event, its text.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::id::RunId;

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogLine<'a> {
    /// The run that wrote it.
    pub run: &'a RunId,
    /// When; none for lines that do not say it.
    pub at: Option<Timestamp>,
    /// What kind of event: `text`, `tool_use` …
    pub kind: Option<&'a str>,
    /// The rest of the line; line feeds and tabs of the event's text are written `\n` and `\t`.
    pub text: &'a str,
}

/// The day that the times of a log are on: a line says the time of the day only.
#[derive(Debug, Clone)]
pub struct LogDay {
    /// The time of the line before, at first that of the run's start.
    last: Timestamp,
}

impl LogDay {
    /// Begins with the time of the run's start, or of any line before the first.
    pub const fn starting(at: Timestamp) -> Self {
        Self { last: at }
    }

    /// Begins such that the lines that `read` has passed since `start` end on the day of another time: that of the last line.
    ///
    /// The days between the run's start and the first of its last lines are in no line, only the midnights between these are.
    #[must_use]
    pub fn ending(start: Timestamp, read: &Self, end: Timestamp) -> Self {
        let apart = end.as_millisecond() - read.last.as_millisecond();
        let days = (apart + DAY_MS / 2).div_euclid(DAY_MS);
        let shifted = start
            .as_millisecond()
            .saturating_add(days.saturating_mul(DAY_MS));
        Self {
            last: Timestamp::from_millisecond(shifted).unwrap_or(start),
        }
    }

    /// Splits a line of the formatted log: time of the day, `[kind]`, text.
    pub fn parsed<'a>(&mut self, run: &'a RunId, line: &'a str) -> LogLine<'a> {
        self.split(run, line).unwrap_or(LogLine {
            run,
            at: None,
            kind: None,
            text: line,
        })
    }

    fn split<'a>(&mut self, run: &'a RunId, line: &'a str) -> Option<LogLine<'a>> {
        let (time, rest) = line.split_once(' ')?;
        let (kind, text) = rest.strip_prefix('[')?.split_once(']')?;
        self.last = on_day_of(self.last, time)?;
        Some(LogLine {
            run,
            at: Some(self.last),
            kind: Some(kind),
            text: text.trim_start(),
        })
    }
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Returns the time of day (`HH:MM:SS`) nearest to another time: at midnight the next day begins.
fn on_day_of(near: Timestamp, time: &str) -> Option<Timestamp> {
    let mut parts = time.split(':').map(|part| part.parse::<u32>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let of_day = i64::from((hours * 60 + minutes) * 60 + seconds) * 1000;
    let near = near.as_millisecond();
    let mut ms = near - near.rem_euclid(DAY_MS) + of_day;
    if ms + DAY_MS / 2 < near {
        ms += DAY_MS;
    }
    Timestamp::from_millisecond(ms).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_time_kind_and_text() {
        let run = RunId::parse("r-1").unwrap();
        let mut day = LogDay::starting("2026-01-31T23:59:58.5Z".parse().unwrap());
        let mut parts = |line| {
            let line = day.parsed(&run, line);
            let at = line.at.map(|at| at.to_string());
            (at, line.kind.map(str::to_owned), line.text.to_owned())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            parts("23:59:59 [tool_use] Bash {}"),
            (
                some("2026-01-31T23:59:59.000Z"),
                some("tool_use"),
                "Bash {}".to_owned()
            )
        );
        assert_eq!(
            parts("00:00:01 [text] [x] y"),
            (
                some("2026-02-01T00:00:01.000Z"),
                some("text"),
                "[x] y".to_owned()
            )
        );
        for plain in [
            "[omitted] 5 bytes",
            "",
            "25:00:00 [text] no such hour",
            "99999999999999999:0:0 [text] x",
            "1:2:3:4 [text] x",
        ] {
            assert_eq!(parts(plain), (None, None, plain.to_owned()));
        }
    }

    #[test]
    fn the_last_lines_of_a_run_of_days_are_on_the_day_on_which_it_ended() {
        let run = RunId::parse("r-1").unwrap();
        let start: Timestamp = "2026-01-01T10:00:00Z".parse().unwrap();
        let lines = [
            "20:00:00 [text] a",
            "04:00:00 [text] b",
            "04:30:00 [text] c",
        ];
        for (end, first, last) in [
            ("2026-01-02T04:30:00.9Z", "2026-01-01T20", "2026-01-02T04"),
            ("2026-01-05T04:31:00Z", "2026-01-04T20", "2026-01-05T04"),
        ] {
            let mut day = LogDay::starting(start);
            for line in lines {
                day.parsed(&run, line);
            }
            let mut day = LogDay::ending(start, &day, end.parse().unwrap());
            let times = lines.map(|line| day.parsed(&run, line).at.unwrap().to_string());
            assert!(
                times[0].starts_with(first) && times[2].starts_with(last),
                "{times:?}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_keeps_its_text(line in "\\PC*|[0-9]{1,20}:[0-9]{1,20}:[0-9]{1,20} \\[[a-z]*\\] .*") {
            let run = RunId::parse("r-1").unwrap();
            let mut day = LogDay::starting(Timestamp::UNIX_EPOCH);
            let parsed = day.parsed(&run, &line);
            proptest::prop_assert!(line.ends_with(parsed.text));
        }
    }
}
