//! Tokens and limits of rates, in whatever payload the app-server reports them (section 13.5).

use std::collections::BTreeMap;

use serde_json::Value;

use super::event::Usage;

/// Most conversations that are counted apart: the session's own, and those of its agents' helpers.
const THREADS_MAX: usize = 256;
/// Deepest nesting that is searched for limits of rates.
const DEPTH_MAX: u32 = 6;
/// Where absolute totals of a conversation are. Differences, such as `last`, are not looked at: they would be counted twice.
const TOTALS: [&str; 10] = [
    "/tokenUsage/total",
    "/token_usage/total",
    "/info/total_token_usage",
    "/info/totalTokenUsage",
    "/msg/info/total_token_usage",
    "/msg/payload/info/total_token_usage",
    "/payload/info/total_token_usage",
    "/total_token_usage",
    "/totalTokenUsage",
    "/msg/total_token_usage",
];

/// What a session has used.
#[derive(Debug, Default)]
pub(super) struct Meter {
    threads: BTreeMap<String, Usage>,
    rate_limits: Option<Value>,
}

impl Meter {
    /// Reads the parameters of a message. `thread` is the session's own conversation, which a payload may leave out.
    pub(super) fn read(&mut self, params: &Value, thread: &str) {
        if let Some(limits) = limits_in(params, 0) {
            self.rate_limits = Some(limits.clone());
        }
        let Some(found) = TOTALS
            .iter()
            .find_map(|path| usage_of(params.pointer(path)?))
        else {
            return;
        };
        let thread = ["/threadId", "/thread_id", "/conversationId"]
            .iter()
            .find_map(|path| params.pointer(path)?.as_str())
            .unwrap_or(thread);
        if !self.threads.contains_key(thread) && self.threads.len() >= THREADS_MAX {
            return;
        }
        let total = self.threads.entry(thread.to_owned()).or_default();
        // Totals only grow: an older report that comes late takes nothing back.
        total.input_tokens = total.input_tokens.max(found.input_tokens);
        total.output_tokens = total.output_tokens.max(found.output_tokens);
        total.total_tokens = total.total_tokens.max(found.total_tokens);
    }

    /// Returns what all conversations have used together; `None` while nothing was reported.
    pub(super) fn usage(&self) -> Option<Usage> {
        if self.threads.is_empty() {
            return None;
        }
        let mut sum = Usage::default();
        for usage in self.threads.values() {
            sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
            sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
            sum.total_tokens = sum.total_tokens.saturating_add(usage.total_tokens);
        }
        Some(sum)
    }

    /// Returns the newest limits of rates.
    pub(super) fn rate_limits(&self) -> Option<&Value> {
        self.rate_limits.as_ref()
    }
}

/// Reads counts by the names that versions of Codex use; `None` if there is none.
fn usage_of(value: &Value) -> Option<Usage> {
    let count = |names: &[&str]| {
        let mut names = names.iter();
        names.find_map(|name| value.get(name)?.as_u64())
    };
    let input = count(&["inputTokens", "input_tokens", "prompt_tokens"]);
    let output = count(&["outputTokens", "output_tokens", "completion_tokens"]);
    let total = count(&["totalTokens", "total_tokens", "total"]);
    input.or(output).or(total)?;
    let (input, output) = (input.unwrap_or_default(), output.unwrap_or_default());
    Some(Usage {
        input_tokens: input,
        output_tokens: output,
        total_tokens: total.unwrap_or_else(|| input.saturating_add(output)),
    })
}

/// Finds limits of rates below a member of that name.
fn limits_in(value: &Value, depth: u32) -> Option<&Value> {
    let members = value.as_object()?;
    for name in ["rateLimits", "rate_limits"] {
        if let Some(limits) = members.get(name).filter(|limits| limits.is_object()) {
            return Some(limits);
        }
    }
    if depth >= DEPTH_MAX {
        return None;
    }
    members
        .values()
        .find_map(|value| limits_in(value, depth + 1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn used(input: u64, output: u64, total: u64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            total_tokens: total,
        }
    }

    #[test]
    fn totals_are_found_in_every_shape() {
        let counts =
            json!({"inputTokens": 7, "outputTokens": 2, "totalTokens": 9, "cachedInputTokens": 5});
        let snake = json!({"input_tokens": 7, "output_tokens": 2, "total_tokens": 9});
        for params in [
            json!({"threadId": "t", "tokenUsage": {"total": counts, "last": {"inputTokens": 99}}}),
            json!({"info": {"total_token_usage": snake}}),
            json!({"msg": {"type": "token_count", "info": {"total_token_usage": snake, "last_token_usage": {"input_tokens": 99}}}}),
            json!({"msg": {"payload": {"info": {"total_token_usage": snake}}}}),
            json!({"total_token_usage": {"prompt_tokens": 7, "completion_tokens": 2}}),
        ] {
            let mut meter = Meter::default();
            meter.read(&params, "t");
            assert_eq!(meter.usage(), Some(used(7, 2, 9)), "{params}");
        }
    }

    #[test]
    fn totals_are_not_added_twice_and_differences_not_at_all() {
        let mut meter = Meter::default();
        let total = |thread: &str, count: u64| json!({"threadId": thread, "tokenUsage": {"total": {"inputTokens": count, "outputTokens": 1}}});
        for count in [10, 30, 30, 20] {
            meter.read(&total("t", count), "t");
        }
        assert_eq!(meter.usage(), Some(used(30, 1, 31)));
        meter.read(&total("helper", 5), "t");
        assert_eq!(meter.usage(), Some(used(35, 2, 37)));
        for params in [
            json!({"last_token_usage": {"input_tokens": 99}}),
            json!({"usage": {"input_tokens": 99}}),
            json!({"tokenUsage": {"total": {"inputTokens": "99"}}}),
            json!([1]),
            Value::Null,
        ] {
            meter.read(&params, "t");
        }
        assert_eq!(meter.usage(), Some(used(35, 2, 37)));
    }

    #[test]
    fn conversations_without_end_cost_no_memory_without_end() {
        let mut meter = Meter::default();
        for number in 0..2000 {
            let params = json!({"threadId": number.to_string(), "tokenUsage": {"total": {"inputTokens": u64::MAX}}});
            meter.read(&params, "t");
        }
        assert_eq!(meter.threads.len(), THREADS_MAX);
        assert_eq!(meter.usage().unwrap().input_tokens, u64::MAX);
    }

    #[test]
    fn the_newest_limits_are_kept_wherever_they_are() {
        let mut meter = Meter::default();
        assert_eq!(meter.rate_limits(), None);
        for params in [
            json!({"rateLimits": {"primary": {"usedPercent": 1}}}),
            json!({"msg": {"info": null, "rate_limits": {"primary": {"used_percent": 2}}}}),
        ] {
            meter.read(&params, "t");
        }
        meter.read(&json!({"rateLimits": null}), "t");
        assert_eq!(
            meter.rate_limits(),
            Some(&json!({"primary": {"used_percent": 2}}))
        );
    }
}
