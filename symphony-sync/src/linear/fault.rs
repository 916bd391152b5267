//! What Linear's refusals mean: a list of errors, usually with status 200 or 400.

use serde::Deserialize;
use symphony_core::Timestamp;
use symphony_tracker::fault::Fault;

use super::Asked;
use crate::http::answer::{Answer, shortened};
use crate::http::client::Client;
use crate::http::rate::{UNNAMED_WAIT_MS, bounded, retry_after};
use crate::token::Token;

/// The quotas that answers report, each with what remains and when it comes back.
const QUOTAS: [(&str, &str); 3] = [
    (
        "x-ratelimit-requests-remaining",
        "x-ratelimit-requests-reset",
    ),
    (
        "x-ratelimit-complexity-remaining",
        "x-ratelimit-complexity-reset",
    ),
    (
        "x-ratelimit-endpoint-requests-remaining",
        "x-ratelimit-endpoint-requests-reset",
    ),
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Refusal {
    errors: Vec<WireError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireError {
    message: String,
    extensions: Extensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Extensions {
    code: Option<String>,
    user_presentable_message: Option<String>,
}

/// Refuses an answer that is not one. Also notices when a quota was used up by this answer.
pub(super) fn checked(answer: &Answer, asked: &Asked, client: &Client) -> Result<(), Fault> {
    let now = Timestamp::now();
    if let Some(fault) = refusal(answer, asked, client.token(), now) {
        if let Fault::RateLimited { until: Some(until) } = &fault {
            client.pause_until(*until);
        }
        return Err(fault);
    }
    if let Some(until) = exhausted(answer, now) {
        client.pause_until(until);
    }
    Ok(())
}

/// Returns when the last of the empty quotas comes back. The times are in milliseconds.
fn exhausted(answer: &Answer, now: Timestamp) -> Option<Timestamp> {
    let empty = QUOTAS
        .iter()
        .filter(|(remaining, _)| answer.number(remaining).is_some_and(|left| left <= 0));
    let resets = empty.filter_map(|(_, reset)| answer.number(reset));
    let latest = Timestamp::from_millisecond(resets.max()?).ok()?;
    Some(bounded(latest, now))
}

fn refusal(answer: &Answer, asked: &Asked, token: &Token, now: Timestamp) -> Option<Fault> {
    let read = serde_json::from_slice::<Refusal>(&answer.body);
    let errors = read.map(|refusal| refusal.errors).unwrap_or_default();
    if answer.status == 200 && errors.is_empty() {
        return None;
    }
    let detail = || {
        if errors.is_empty() {
            answer.beginning(token)
        } else {
            shortened(&words(&errors), token)
        }
    };
    let has_code = |code: &str| {
        errors
            .iter()
            .any(|error| error.extensions.code.as_deref() == Some(code))
    };
    if answer.status == 429 || has_code("RATELIMITED") {
        let until = retry_after(answer, now)
            .or_else(|| exhausted(answer, now))
            .unwrap_or_else(|| now.saturating_add_ms(UNNAMED_WAIT_MS));
        return Some(Fault::RateLimited { until: Some(until) });
    }
    if answer.status == 401 || has_code("AUTHENTICATION_ERROR") {
        return Some(Fault::Unauthorised { detail: detail() });
    }
    if answer.status == 403 || has_code("FORBIDDEN") {
        return Some(Fault::Forbidden {
            action: asked.action.to_owned(),
            detail: detail(),
        });
    }
    let is_missing = |error: &WireError| error.message.starts_with("Entity not found");
    if answer.status == 404 || errors.iter().any(is_missing) {
        return Some(Fault::NotFound {
            what: asked.what.clone(),
        });
    }
    if has_code("GRAPHQL_VALIDATION_FAILED") || has_code("GRAPHQL_PARSE_FAILED") {
        return Some(Fault::Unreadable {
            detail: format!("the API does not know a query of Symphony: {}", detail()),
        });
    }
    Some(match answer.status {
        status @ 500.. => Fault::Failed {
            status,
            detail: detail(),
        },
        408 => Fault::Unreachable { detail: detail() },
        status if has_code("INTERNAL_SERVER_ERROR") => Fault::Failed {
            status,
            detail: detail(),
        },
        400..=499 => Fault::Refused { detail: detail() },
        _ if !errors.is_empty() => Fault::Refused { detail: detail() },
        status => Fault::Unreadable {
            detail: format!("status {status} for {}", asked.what),
        },
    })
}

/// Returns Linear's messages; those that it wrote for people where it has one.
fn words(errors: &[WireError]) -> String {
    let words = errors.iter().map(|error| {
        let own = error.extensions.user_presentable_message.as_deref();
        match own.filter(|own| !own.is_empty() && *own != error.message) {
            Some(own) => format!("{}: {own}", error.message),
            None => error.message.clone(),
        }
    });
    words.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::*;

    const NOW_MS: i64 = 1_800_000_000_000;

    fn fault(status: u16, headers: &[(&'static str, &str)], body: &str) -> Option<Fault> {
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
            what: "issue 7".to_owned(),
        };
        let token = Token::first_line("lin_api_0123456789").unwrap();
        refusal(
            &answer,
            &asked,
            &token,
            Timestamp::from_millisecond(NOW_MS).unwrap(),
        )
    }

    fn error(code: &str, message: &str) -> String {
        serde_json::json!({ "errors": [{ "message": message, "extensions": { "code": code } }] })
            .to_string()
    }

    fn limited(ms: i64) -> Fault {
        let until = Timestamp::from_millisecond(NOW_MS + ms).ok();
        Fault::RateLimited { until }
    }

    #[test]
    fn limits_say_until_when() {
        let reset = (NOW_MS + 90_000).to_string();
        let later = (NOW_MS + 120_000).to_string();
        let body = error("RATELIMITED", "Rate limit exceeded");
        let both = [
            ("x-ratelimit-requests-remaining", "0"),
            ("x-ratelimit-requests-reset", &*reset),
            ("x-ratelimit-complexity-remaining", "0"),
            ("x-ratelimit-complexity-reset", &*later),
        ];
        assert_eq!(fault(400, &both, &body), Some(limited(120_000)));
        assert_eq!(fault(400, &both[..2], &body), Some(limited(90_000)));
        assert_eq!(fault(400, &[], &body), Some(limited(60_000)));
        assert_eq!(
            fault(429, &[("retry-after", "5")], ""),
            Some(limited(5_000))
        );
        assert_eq!(fault(200, &both, r#"{"data": {}}"#), None);
    }

    #[test]
    fn each_code_says_what_the_caller_can_do() {
        let text = |detail: &str| detail.to_owned();
        let table = [
            (
                fault(
                    400,
                    &[],
                    &error("AUTHENTICATION_ERROR", "no lin_api_0123456789"),
                ),
                Fault::Unauthorised {
                    detail: text("no [token]"),
                },
            ),
            (
                fault(401, &[], ""),
                Fault::Unauthorised { detail: text("") },
            ),
            (
                fault(200, &[], &error("FORBIDDEN", "read only")),
                Fault::Forbidden {
                    action: text("write comments"),
                    detail: text("read only"),
                },
            ),
            (
                fault(200, &[], &error("INPUT_ERROR", "Entity not found: Issue")),
                Fault::NotFound {
                    what: text("issue 7"),
                },
            ),
            (
                fault(400, &[], &error("INVALID_INPUT", "title is too long")),
                Fault::Refused {
                    detail: text("title is too long"),
                },
            ),
            (
                fault(400, &[], &error("GRAPHQL_VALIDATION_FAILED", "no field x")),
                Fault::Unreadable {
                    detail: text("the API does not know a query of Symphony: no field x"),
                },
            ),
            (
                fault(200, &[], &error("INTERNAL_SERVER_ERROR", "oops")),
                Fault::Failed {
                    status: 200,
                    detail: text("oops"),
                },
            ),
            (
                fault(503, &[], "<html>busy"),
                Fault::Failed {
                    status: 503,
                    detail: text("<html>busy"),
                },
            ),
        ];
        for (found, expected) in table {
            assert_eq!(found, Some(expected));
        }
    }
}
