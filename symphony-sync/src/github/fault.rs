//! What GitHub's refusals mean.

use serde::Deserialize;
use symphony_core::Timestamp;
use symphony_tracker::fault::Fault;

use super::Asked;
use crate::http::answer::{Answer, shortened};
use crate::http::client::Client;
use crate::http::rate::{UNNAMED_WAIT_MS, bounded, retry_after};
use crate::token::Token;

/// Returns the answer if it is one, and otherwise what is wrong. Also notices when the last request of the hour was used.
pub(super) fn checked(answer: Answer, asked: &Asked, client: &Client) -> Result<Answer, Fault> {
    let now = Timestamp::now();
    if matches!(answer.status, 200..=299 | 304) {
        if let Some(until) = exhausted(&answer, now) {
            client.pause_until(until);
        }
        return Ok(answer);
    }
    let fault = refusal(&answer, asked, client.token(), now);
    if let Fault::RateLimited { until: Some(until) } = &fault {
        client.pause_until(*until);
    }
    Err(fault)
}

/// Returns when the quota comes back, if nothing is left of it.
fn exhausted(answer: &Answer, now: Timestamp) -> Option<Timestamp> {
    if answer.number("x-ratelimit-remaining")? > 0 {
        return None;
    }
    let reset = Timestamp::from_second(answer.number("x-ratelimit-reset")?).ok()?;
    // the reset's second is not over when it begins
    Some(bounded(reset.saturating_add_ms(1000), now))
}

fn refusal(answer: &Answer, asked: &Asked, token: &Token, now: Timestamp) -> Fault {
    let detail = || words(answer, token);
    match answer.status {
        401 => Fault::Unauthorised { detail: detail() },
        403 | 429 => match limit(answer, now) {
            Some(until) => Fault::RateLimited { until: Some(until) },
            None => Fault::Forbidden {
                action: asked.action.to_owned(),
                detail: shortened(&format!("{}{}", detail(), wanted(answer)), token),
            },
        },
        // an issue that was transferred answers a change with 301: it is not in this repository any more
        301 | 302 | 404 | 410 => Fault::NotFound {
            what: asked.what.clone(),
        },
        408 => Fault::Unreachable { detail: detail() },
        status @ 500.. => Fault::Failed {
            status,
            detail: detail(),
        },
        status if status < 400 => Fault::Unreadable {
            detail: format!("status {status} for {}", asked.what),
        },
        _ => Fault::Refused { detail: detail() },
    }
}

/// Returns until when to wait if this refusal is a limit: primary (nothing is left), or secondary (too fast).
fn limit(answer: &Answer, now: Timestamp) -> Option<Timestamp> {
    if let Some(until) = retry_after(answer, now) {
        return Some(until);
    }
    if let Some(until) = exhausted(answer, now) {
        return Some(until);
    }
    let message = message(answer).to_lowercase();
    let is_limit = answer.status == 429
        || message.contains("rate limit")
        || message.contains("abuse detection");
    is_limit.then(|| now.saturating_add_ms(UNNAMED_WAIT_MS))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Refusal {
    message: String,
    errors: Vec<serde_json::Value>,
}

fn message(answer: &Answer) -> String {
    serde_json::from_slice::<Refusal>(&answer.body).map_or_else(
        |_not_json| String::from_utf8_lossy(&answer.body).into_owned(),
        |refusal| refusal.message,
    )
}

/// Returns GitHub's message with the reasons that it lists, or the beginning of whatever came.
pub(super) fn words(answer: &Answer, token: &Token) -> String {
    let Ok(refusal) = serde_json::from_slice::<Refusal>(&answer.body) else {
        return answer.beginning(token);
    };
    let mut words = refusal.message;
    for error in &refusal.errors {
        words.push_str("; ");
        match error.get("message").or(Some(error)) {
            Some(serde_json::Value::String(text)) => words.push_str(text),
            _ => words.push_str(&error.to_string()),
        }
    }
    shortened(&words, token)
}

/// Returns what GitHub says the token would need, for its two kinds of tokens.
fn wanted(answer: &Answer) -> String {
    let scopes = answer.header("x-accepted-oauth-scopes").unwrap_or_default();
    let permissions = answer
        .header("x-accepted-github-permissions")
        .unwrap_or_default();
    match (scopes.trim(), permissions.trim()) {
        ("", "") => String::new(),
        ("", permissions) => format!("; it needs the permission {permissions}"),
        (scopes, _) => format!("; it needs one of the scopes {scopes}"),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn fault(status: u16, headers: &[(&'static str, &str)], body: &str) -> Fault {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).unwrap();
            map.insert(HeaderName::from_static(name), value);
        }
        let answer = Answer {
            status,
            headers: map,
            body: body.as_bytes().to_vec(),
            was_moved: false,
        };
        let asked = Asked {
            action: "write comments",
            what: "issue 1 of a/b".to_owned(),
        };
        let token = Token::first_line("ghp_0123456789").unwrap();
        refusal(
            &answer,
            &asked,
            &token,
            Timestamp::from_second(NOW).unwrap(),
        )
    }

    fn limited(seconds: i64) -> Fault {
        Fault::RateLimited {
            until: Some(Timestamp::from_second(NOW + seconds).unwrap()),
        }
    }

    #[test]
    fn limits_are_told_from_prohibitions() {
        let reset = (NOW + 600).to_string();
        let used_up = [
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", &*reset),
        ];
        let far = [
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "9999999999"),
        ];
        let left = [
            ("x-ratelimit-remaining", "10"),
            ("x-ratelimit-reset", &*reset),
        ];
        let secondary = r#"{"message": "You have exceeded a secondary rate limit."}"#;
        let table = [
            (fault(403, &used_up, "{}"), limited(601)),
            (fault(403, &far, "{}"), limited(7200)),
            (fault(429, &[("retry-after", "30")], "{}"), limited(30)),
            (fault(403, &[("retry-after", "30")], secondary), limited(30)),
            (fault(403, &left, secondary), limited(60)),
            (fault(429, &left, "{}"), limited(60)),
        ];
        for (found, expected) in table {
            assert_eq!(found, expected);
        }
        let forbidden = Fault::Forbidden {
            action: "write comments".to_owned(),
            detail: "Resource not accessible; it needs one of the scopes repo".to_owned(),
        };
        assert_eq!(
            fault(
                403,
                &[("x-accepted-oauth-scopes", "repo"), left[0], left[1]],
                r#"{"message": "Resource not accessible"}"#
            ),
            forbidden
        );
    }

    #[test]
    fn each_status_says_what_the_caller_can_do() {
        let what = "issue 1 of a/b".to_owned();
        let table = [
            (
                fault(401, &[], r#"{"message": "Bad credentials ghp_0123456789"}"#),
                Fault::Unauthorised {
                    detail: "Bad credentials [token]".to_owned(),
                },
            ),
            (
                fault(404, &[], "{}"),
                Fault::NotFound { what: what.clone() },
            ),
            (
                fault(410, &[], "{}"),
                Fault::NotFound { what: what.clone() },
            ),
            (fault(301, &[], "{}"), Fault::NotFound { what }),
            (
                fault(502, &[], "<html>\n<h1>Bad gateway</h1>"),
                Fault::Failed {
                    status: 502,
                    detail: "<html> <h1>Bad gateway</h1>".to_owned(),
                },
            ),
            (
                fault(
                    422,
                    &[],
                    r#"{"message": "Validation Failed", "errors": [{"message": "title is too long"}, "x", {"code": "missing"}]}"#,
                ),
                Fault::Refused {
                    detail: r#"Validation Failed; title is too long; x; {"code":"missing"}"#
                        .to_owned(),
                },
            ),
        ];
        for (found, expected) in table {
            assert_eq!(found, expected);
        }
    }
}
