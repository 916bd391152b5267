//! Adds up what a run used, from results if there are any, else from messages.

use std::collections::VecDeque;

use symphony_core::metering::BELIEVED_MAX;
use symphony_core::run::Usage;
use symphony_core::unit::{Tokens, UsdMicros};

use super::event::{MessageUsage, RunResult, TokenCounts};
use super::format::StreamFormat;
use super::text::digest;

/// Most messages that are open at once: the main loop's and those of parallel subagents, whose lines mix.
const OPEN_MESSAGES_MAX: usize = 64;

/// Most that is believed of a cost: a million dollars.
const BELIEVED_COST_MAX: UsdMicros = UsdMicros::new(1_000_000_000_000);

/// The sum so far.
///
/// A result replaces the counts of the messages before it, since it is exact (it includes subagents and all output).
#[derive(Debug, Clone, Default)]
pub(crate) struct UsageMeter {
    finished: TokenCounts,
    finished_turns: u64,
    cost: Option<UsdMicros>,
    session_cost: UsdMicros,
    /// The counts of the messages since the last result.
    told: TokenCounts,
    told_turns: u64,
    /// What earlier runs used in the same session, for formats that count it again.
    before: TokenCounts,
    /// The messages whose counts may be reported again.
    open: VecDeque<OpenMessage>,
}

#[derive(Debug, Clone)]
struct OpenMessage {
    id_digest: u64,
    tokens: TokenCounts,
}

impl UsageMeter {
    /// Begins in a session in which earlier runs used something.
    pub(crate) fn resume(&mut self, used: &Usage) {
        self.before = TokenCounts {
            input: used.input_tokens,
            output: used.output_tokens,
            cache_read: used.cache_read_tokens,
            cache_creation: used.cache_creation_tokens,
        };
        self.session_cost = used.cost.unwrap_or_default();
    }

    /// Processes the usage of a message. The lines of one message repeat it: each id counts once, with its highest
    /// counts.
    pub(crate) fn message(&mut self, usage: &MessageUsage) {
        let id_digest = digest(usage.message_id.as_bytes());
        let known = self
            .open
            .iter_mut()
            .rev()
            .find(|open| open.id_digest == id_digest);
        if let Some(open) = known {
            let tokens = highest(open.tokens, usage.tokens);
            self.told = self.told + tokens.without(open.tokens);
            open.tokens = tokens;
            return;
        }
        if self.open.len() >= OPEN_MESSAGES_MAX {
            self.open.pop_front();
        }
        self.told = self.told + usage.tokens;
        self.told_turns += u64::from(!usage.subagent);
        self.open.push_back(OpenMessage {
            id_digest,
            tokens: usage.tokens,
        });
    }

    /// Processes a result.
    pub(crate) fn result(&mut self, result: &RunResult, format: StreamFormat) {
        if format == StreamFormat::Codex {
            // Codex reports the whole thread's usage each time.
            let own = result.tokens.without(self.before);
            self.finished = highest(self.finished, own);
        } else {
            self.finished = self.finished + result.tokens;
        }
        self.finished_turns = self.finished_turns.saturating_add(result.turns);
        let told = result.cost.or_else(|| {
            // Without a cost of its own, the only measure is the session's cost, which grows.
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
        self.told = TokenCounts::default();
        self.told_turns = 0;
    }

    /// Returns the sum.
    pub(crate) fn usage(&self) -> Usage {
        let tokens = self.finished + self.told;
        let believed = |count: Tokens| count.min(BELIEVED_MAX);
        Usage {
            input_tokens: believed(tokens.input),
            output_tokens: believed(tokens.output),
            cache_read_tokens: believed(tokens.cache_read),
            cache_creation_tokens: believed(tokens.cache_creation),
            cost: self.cost.map(|cost| cost.min(BELIEVED_COST_MAX)),
            turns: self
                .finished_turns
                .saturating_add(self.told_turns)
                .min(BELIEVED_MAX.get()),
        }
    }
}

fn highest(left: TokenCounts, right: TokenCounts) -> TokenCounts {
    each(left, right, Ord::max)
}

fn each(
    left: TokenCounts,
    right: TokenCounts,
    join: impl Fn(Tokens, Tokens) -> Tokens,
) -> TokenCounts {
    TokenCounts {
        input: join(left.input, right.input),
        output: join(left.output, right.output),
        cache_read: join(left.cache_read, right.cache_read),
        cache_creation: join(left.cache_creation, right.cache_creation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(id: usize, output: u64) -> MessageUsage {
        MessageUsage {
            message_id: format!("message {id}"),
            subagent: id.is_multiple_of(4),
            tokens: TokenCounts {
                input: Tokens::new(10),
                output: Tokens::new(output),
                ..TokenCounts::default()
            },
        }
    }

    fn counts(input: u64, output: u64) -> TokenCounts {
        TokenCounts {
            input: Tokens::new(input),
            output: Tokens::new(output),
            ..TokenCounts::default()
        }
    }

    #[test]
    fn what_a_session_used_before_does_not_count_again() {
        let used = Usage {
            input_tokens: Tokens::new(300),
            output_tokens: Tokens::new(40),
            cost: Some(UsdMicros::new(500)),
            ..Usage::default()
        };
        let result = |tokens, session_cost| RunResult {
            tokens,
            session_cost,
            turns: 1,
            ..RunResult::default()
        };
        // Codex counts for the whole thread
        let mut meter = UsageMeter::default();
        meter.resume(&used);
        meter.result(&result(counts(400, 60), None), StreamFormat::Codex);
        let usage = meter.usage();
        assert_eq!(
            (usage.input_tokens.get(), usage.output_tokens.get()),
            (100, 20)
        );
        meter.result(&result(counts(550, 70), None), StreamFormat::Codex);
        assert_eq!(meter.usage().input_tokens.get(), 250);
        // a stream that reports less than was used before
        meter.resume(&used);
        meter.result(&result(counts(1, 1), None), StreamFormat::Codex);
        assert_eq!(meter.usage().input_tokens.get(), 250);
        // Claude counts since its last result, and only its cost may be the whole session's
        let mut meter = UsageMeter::default();
        meter.resume(&used);
        let cost = Some(UsdMicros::new(650));
        meter.result(&result(counts(100, 20), cost), StreamFormat::Claude);
        let usage = meter.usage();
        assert_eq!(usage.input_tokens.get(), 100);
        assert_eq!(usage.cost, Some(UsdMicros::new(150)));
    }

    #[test]
    fn whatever_is_reported_can_be_added_up_over_many_runs() {
        for format in [
            StreamFormat::Claude,
            StreamFormat::Codex,
            StreamFormat::AppServer,
        ] {
            let mut meter = UsageMeter::default();
            let most = Tokens::new(u64::MAX);
            let result = RunResult {
                tokens: TokenCounts {
                    input: most,
                    output: most,
                    cache_read: most,
                    cache_creation: most,
                },
                cost: Some(UsdMicros::new(u64::MAX)),
                turns: u64::MAX,
                ..RunResult::default()
            };
            meter.result(&result, format);
            meter.result(&result, format);
            let usage = meter.usage();
            let tokens = usage.input_tokens
                + usage.output_tokens
                + usage.cache_read_tokens
                + usage.cache_creation_tokens;
            let runs = 1_000_000;
            assert!(
                tokens
                    .get()
                    .checked_mul(runs)
                    .is_some_and(|sum| i64::try_from(sum).is_ok())
            );
            assert!(usage.cost.unwrap().get().checked_mul(runs).is_some());
            assert!(usage.turns <= BELIEVED_MAX.get());
        }
    }

    #[test]
    fn many_messages_count_once_each_at_their_highest() {
        let mut meter = UsageMeter::default();
        let messages = 3 * OPEN_MESSAGES_MAX;
        for id in 0..messages {
            for output in [1, 7, 5] {
                meter.message(&told(id, output));
            }
            // one of those that are still open
            meter.message(&told(id.saturating_sub(OPEN_MESSAGES_MAX - 1), 6));
        }
        let count = messages as u64;
        let usage = meter.usage();
        assert_eq!(
            (
                usage.input_tokens.get(),
                usage.output_tokens.get(),
                usage.turns
            ),
            (10 * count, 7 * count, count * 3 / 4)
        );
        let result = RunResult {
            turns: 2,
            tokens: told(0, 9).tokens,
            ..RunResult::default()
        };
        meter.result(&result, StreamFormat::Claude);
        meter.message(&told(1, 1));
        let usage = meter.usage();
        assert_eq!(
            (
                usage.input_tokens.get(),
                usage.output_tokens.get(),
                usage.turns
            ),
            (20, 10, 3)
        );
    }
}
