//! What a turn used. The protocol has no settled form for it, so each agent has its own rule.

use serde_json::Value;
use symphony_core::unit::Tokens;

use crate::stream::event::{AgentEvent, MessageUsage, TokenCounts};
use crate::stream::format::AcpUsage;
use crate::stream::rpc::count_at;

#[derive(Debug, Clone)]
pub(super) struct UsageReader {
    rule: AcpUsage,
    turn: TokenCounts,
    process: TokenCounts,
    requests: u64,
    is_reported: bool,
}

impl UsageReader {
    pub(super) fn new(rule: AcpUsage) -> Self {
        Self {
            rule,
            turn: TokenCounts::default(),
            process: TokenCounts::default(),
            requests: 0,
            // The agents with a rule of their own always report; any other may not.
            is_reported: rule != AcpUsage::Process,
        }
    }

    /// Returns whether this agent reports what it uses.
    pub(super) fn is_reported(&self) -> bool {
        self.is_reported
    }

    /// Takes in a piece of text, which may have a request's counts.
    pub(super) fn request(&mut self, update: &Value) -> Option<AgentEvent> {
        let usage = update
            .pointer("/_meta/usage")
            .filter(|_| self.rule == AcpUsage::EachRequest)?;
        let tokens = inclusive(usage);
        self.turn = self.turn + tokens;
        self.requests += 1;
        Some(AgentEvent::MessageUsage(MessageUsage {
            message_id: format!("request {}", self.requests),
            subagent: false,
            tokens,
        }))
    }

    /// Takes in the end of a turn; returns what the turn used.
    pub(super) fn end_turn(&mut self, result: &Value) -> TokenCounts {
        let turn = std::mem::take(&mut self.turn);
        let usage = result.get("usage");
        match self.rule {
            AcpUsage::EachRequest => turn,
            AcpUsage::LastRequest => usage.map(exclusive).unwrap_or_default(),
            AcpUsage::Turn => {
                let count = |name: &str| {
                    Tokens::new(count_at(
                        result,
                        &format!("/_meta/quota/token_count/{name}"),
                    ))
                };
                TokenCounts {
                    input: count("input_tokens"),
                    output: count("output_tokens"),
                    ..TokenCounts::default()
                }
            }
            AcpUsage::Process => {
                let Some(usage) = usage else {
                    return TokenCounts::default();
                };
                self.is_reported = usage.get("outputTokens").is_some_and(Value::is_u64);
                let total = inclusive(usage);
                total.without(std::mem::replace(&mut self.process, total))
            }
        }
    }
}

/// Counts whose input includes what the cache had, and whose output includes thoughts.
fn inclusive(usage: &Value) -> TokenCounts {
    let counts = exclusive(usage);
    let cached = counts
        .cache_read
        .get()
        .saturating_add(counts.cache_creation.get());
    TokenCounts {
        input: Tokens::new(counts.input.get().saturating_sub(cached)),
        output: Tokens::new(count_at(usage, "/outputTokens")),
        ..counts
    }
}

fn exclusive(usage: &Value) -> TokenCounts {
    let count = |name: &str| Tokens::new(count_at(usage, name));
    TokenCounts {
        input: count("/inputTokens"),
        output: count("/outputTokens") + count("/thoughtTokens"),
        cache_read: count("/cachedReadTokens"),
        cache_creation: count("/cachedWriteTokens"),
    }
}
