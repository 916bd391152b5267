//! Detects an agent that repeats itself: the same tool with the same arguments, again and again.

use std::num::NonZeroU32;

use super::event::AgentEvent;

/// How many equal calls in a row make a loop, unless configured (`loop_repeats`).
pub const LOOP_REPEATS_DEFAULT: NonZeroU32 = NonZeroU32::new(12).expect("12 is not zero");

/// Counts equal calls in a row.
#[derive(Debug, Clone)]
pub struct LoopDetector {
    repeats_max: NonZeroU32,
    last: Option<(String, u64)>,
    repeats: u32,
}

/// A loop that was detected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopFound {
    /// The tool.
    pub tool: String,
    /// How often in a row it was called with the same arguments.
    pub repeats: u32,
}

impl LoopDetector {
    /// Creates a detector that reports when a call is made `repeats_max` times in a row.
    pub fn new(repeats_max: NonZeroU32) -> Self {
        Self {
            repeats_max,
            last: None,
            repeats: 0,
        }
    }

    /// Processes an event; returns a loop once it is reached. Events other than tool calls change nothing.
    pub fn observe(&mut self, event: &AgentEvent) -> Option<LoopFound> {
        let AgentEvent::ToolUse(call) = event else {
            return None;
        };
        let same = self
            .last
            .as_ref()
            .is_some_and(|(name, digest)| *digest == call.input_digest && *name == call.name);
        if same {
            self.repeats = self.repeats.saturating_add(1);
        } else {
            self.last = Some((call.name.clone(), call.input_digest));
            self.repeats = 1;
        }
        (self.repeats >= self.repeats_max.get()).then(|| LoopFound {
            tool: call.name.clone(),
            repeats: self.repeats,
        })
    }
}

impl Default for LoopDetector {
    fn default() -> Self {
        Self::new(LOOP_REPEATS_DEFAULT)
    }
}
