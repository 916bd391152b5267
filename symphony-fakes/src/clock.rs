//! The time of a fake: a counter.

use symphony_core::Timestamp;

/// Where the time of a fake begins: 2026-01-01T00:00:00Z, in milliseconds.
const BEGINNING_MS: i64 = 1_767_225_600_000;

/// A clock that moves when something happens, or when a test sets it.
#[derive(Debug, Clone)]
pub struct Clock {
    now_ms: i64,
    step_ms: i64,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            now_ms: BEGINNING_MS,
            step_ms: 1000,
        }
    }
}

impl Clock {
    /// Returns the time, and moves on by one step.
    pub fn tick(&mut self) -> Timestamp {
        self.now_ms += self.step_ms;
        self.now()
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.now_ms).expect("tests stay within the years 0000 to 9999")
    }

    /// Sets how far each event moves the clock; with 0 everything happens at the same time.
    pub const fn set_step_ms(&mut self, step_ms: i64) {
        self.step_ms = step_ms;
    }

    /// Moves on.
    pub const fn advance_ms(&mut self, ms: i64) {
        self.now_ms += ms;
    }

    /// Sets the time, for example to the real one.
    pub fn set(&mut self, now: Timestamp) {
        self.now_ms = now.as_millisecond();
    }
}
