//! Adds up what a run used, from results where there are any, else from messages.

use std::collections::VecDeque;

use symphony_core::run::Usage;
use symphony_core::unit::{Tokens, UsdMicros};

use super::event::{MessageUsage, RunResult, TokenCounts};
use super::parse::StreamFormat;

/// How many messages are open at once at most: the main loop's and those of parallel subagents, whose lines mix.
const OPEN_MESSAGES_MAX: usize = 64;

/// The sum so far.
///
/// A result replaces what the messages before it told, since it counts them truly (subagents and all outputs included).
#[derive(Debug, Clone, Default)]
pub(crate) struct UsageMeter {
    finished: TokenCounts,
    finished_turns: u64,
    cost: Option<UsdMicros>,
    session_cost: UsdMicros,
    open: VecDeque<MessageUsage>,
    closed: TokenCounts,
    closed_turns: u64,
}

impl UsageMeter {
    /// Takes in what a message told. The lines of one message repeat its usage: each id counts once, at its highest.
    pub(crate) fn message(&mut self, usage: &MessageUsage) {
        let known = self
            .open
            .iter_mut()
            .rev()
            .find(|open| open.message_id == usage.message_id);
        if let Some(open) = known {
            open.tokens = highest(open.tokens, usage.tokens);
            return;
        }
        if self.open.len() >= OPEN_MESSAGES_MAX
            && let Some(oldest) = self.open.pop_front()
        {
            self.closed = self.closed + oldest.tokens;
            self.closed_turns += u64::from(!oldest.subagent);
        }
        self.open.push_back(usage.clone());
    }

    /// Takes in a result.
    pub(crate) fn result(&mut self, result: &RunResult, format: StreamFormat) {
        if format == StreamFormat::Codex {
            // Codex tells the whole thread's usage each time.
            self.finished = highest(self.finished, result.tokens);
        } else {
            self.finished = self.finished + result.tokens;
        }
        self.finished_turns = self.finished_turns.saturating_add(result.turns);
        let told = result.cost.or_else(|| {
            // Without a difference of its own the session's cost is the only measure; it grows.
            result
                .session_cost
                .map(|total| UsdMicros::new(total.get().saturating_sub(self.session_cost.get())))
        });
        if let Some(told) = told {
            self.cost = Some(self.cost.unwrap_or_default() + told);
        }
        self.session_cost = self
            .session_cost
            .max(result.session_cost.unwrap_or_default());
        self.open.clear();
        self.closed = TokenCounts::default();
        self.closed_turns = 0;
    }

    /// Returns the sum.
    pub(crate) fn usage(&self) -> Usage {
        let (tokens, turns) = self.open.iter().fold(
            (
                self.finished + self.closed,
                self.finished_turns.saturating_add(self.closed_turns),
            ),
            |(tokens, turns), open| (tokens + open.tokens, turns + u64::from(!open.subagent)),
        );
        Usage {
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cache_read_tokens: tokens.cache_read,
            cache_creation_tokens: tokens.cache_creation,
            cost: self.cost,
            turns,
        }
    }
}

fn highest(left: TokenCounts, right: TokenCounts) -> TokenCounts {
    let max = |a: Tokens, b: Tokens| a.max(b);
    TokenCounts {
        input: max(left.input, right.input),
        output: max(left.output, right.output),
        cache_read: max(left.cache_read, right.cache_read),
        cache_creation: max(left.cache_creation, right.cache_creation),
    }
}
