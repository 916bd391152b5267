//! What happens to a login and its copy. Pure.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::provider::ModelApi;

/// Longest token that comes back, in bytes; they are a few kilobytes.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Nothing.
    Nothing,
    /// The user's file gets this document.
    WriteBack(Value),
    /// The copy gets the user's document.
    HandIn(Value),
    /// The copy is of another account or another form, and stays where it is.
    Refuse,
}

/// Decides it from the document that both had last, and those that are there now; `None` is a file that is gone or is no
/// document.
///
/// Where both changed, the user's stays: a person who logs in again decides.
pub(super) fn decide(
    api: &ModelApi,
    known: &Value,
    outside: Option<&Value>,
    inside: Option<&Value>,
) -> Step {
    // the user logged out, which must not be undone
    let Some(outside) = outside else {
        return Step::Nothing;
    };
    let is_changed = inside.is_some_and(|inside| inside != known);
    match (outside == known, is_changed) {
        // an agent does not change its account half-way
        (false, false) if is_same_account(api, known, outside) => Step::HandIn(outside.clone()),
        (true, false) | (false, _) => Step::Nothing,
        (true, true) => match inside.and_then(|inside| merged(api, known, inside)) {
            Some(document) if document == *known => Step::Nothing,
            Some(document) => Step::WriteBack(document),
            None => Step::Refuse,
        },
    }
}

fn is_same_account(api: &ModelApi, known: &Value, other: &Value) -> bool {
    let mut places = api.account.iter();
    places.all(|place| known.pointer(place) == other.pointer(place))
        && api.tokens.iter().all(|place| {
            let account = |document: &Value| account_of(api, document.pointer(place));
            account(known) == account(other)
        })
}

/// Returns the known document with the tokens of another one of the same account and form.
fn merged(api: &ModelApi, known: &Value, other: &Value) -> Option<Value> {
    if !is_same_account(api, known, other) {
        return None;
    }
    let mut document = known.clone();
    for place in api.tokens {
        match (document.pointer_mut(place), other.pointer(place)) {
            (Some(old @ Value::String(_)), Some(Value::String(new))) => {
                let is_fine = (1..=TOKEN_BYTES_MAX).contains(&new.len())
                    && new.bytes().all(|byte| (b'!'..=b'~').contains(&byte));
                if !is_fine {
                    return None;
                }
                *old = Value::String(new.clone());
            }
            (Some(old @ Value::Number(_)), Some(new @ Value::Number(_))) => *old = new.clone(),
            (None | Some(Value::Null), _) => {}
            _ => return None,
        }
    }
    Some(document)
}

/// Returns the account that a token names in itself (a JSON Web Token, RFC 7519). Its signature is the server's to check.
fn account_of(api: &ModelApi, token: Option<&Value>) -> Option<Value> {
    let claim = api.account_claim?;
    let payload = token?.as_str()?.split('.').nth(1)?;
    let payload = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    claims.pointer(claim).cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use symphony_core::config::ProviderName;

    use super::*;
    use crate::provider::agent_cli;

    fn api(name: ProviderName) -> &'static ModelApi {
        &agent_cli(name).unwrap().api
    }

    fn claude(token: &str, kind: &str) -> Value {
        json!({ "claudeAiOauth": {
            "accessToken": token, "refreshToken": format!("r-{token}"), "expiresAt": 5,
            "subscriptionType": kind, "scopes": ["a"],
        }})
    }

    fn jwt(account: &str, number: u32) -> String {
        let claims = json!({ "https://api.openai.com/auth": { "chatgpt_account_id": account }, "iat": number });
        format!("h.{}.s", URL_SAFE_NO_PAD.encode(claims.to_string()))
    }

    fn codex(account: &str, in_token: &str, number: u32) -> Value {
        json!({
            "OPENAI_API_KEY": null,
            "tokens": {
                "access_token": jwt(in_token, number), "id_token": jwt(in_token, number),
                "refresh_token": format!("r{number}"), "account_id": account,
            },
            "last_refresh": format!("2026-01-0{number}"),
        })
    }

    #[test]
    fn a_refreshed_login_comes_back_for_the_same_account_alone() {
        let api = api(ProviderName::ClaudeCli);
        let (old, new) = (claude("old", "max"), claude("new", "max"));
        let mut more = new.clone();
        more["hooks"] = json!("run this");
        more["claudeAiOauth"]["scopes"] = json!(["everything"]);
        let mut empty = new.clone();
        empty["claudeAiOauth"]["accessToken"] = json!("");
        let mut other_form = new.clone();
        other_form["claudeAiOauth"]["expiresAt"] = json!("soon");
        let table = [
            ("nothing changed", Some(&old), Some(&old), Step::Nothing),
            (
                "refreshed inside",
                Some(&old),
                Some(&new),
                Step::WriteBack(new.clone()),
            ),
            (
                "only tokens come back",
                Some(&old),
                Some(&more),
                Step::WriteBack(new.clone()),
            ),
            (
                "refreshed outside",
                Some(&new),
                Some(&old),
                Step::HandIn(new.clone()),
            ),
            (
                "refreshed outside, copy gone",
                Some(&new),
                None,
                Step::HandIn(new.clone()),
            ),
            (
                "refreshed on both sides",
                Some(&claude("third", "max")),
                Some(&new),
                Step::Nothing,
            ),
            ("the user logged out", None, Some(&new), Step::Nothing),
            (
                "the user changed the account",
                Some(&claude("x", "pro")),
                Some(&old),
                Step::Nothing,
            ),
            (
                "another account inside",
                Some(&old),
                Some(&claude("x", "pro")),
                Step::Refuse,
            ),
            ("no token", Some(&old), Some(&empty), Step::Refuse),
            ("another form", Some(&old), Some(&other_form), Step::Refuse),
            (
                "no login at all",
                Some(&old),
                Some(&json!([])),
                Step::Refuse,
            ),
            ("copy gone", Some(&old), None, Step::Nothing),
        ];
        for (case, outside, inside, expected) in table {
            assert_eq!(decide(api, &old, outside, inside), expected, "{case}");
        }
    }

    #[test]
    fn a_token_that_names_its_account_must_name_the_same() {
        let api = api(ProviderName::CodexCli);
        let old = codex("a", "a", 1);
        for (inside, expected) in [
            (codex("a", "a", 2), Step::WriteBack(codex("a", "a", 2))),
            (codex("b", "b", 2), Step::Refuse),
            // the account of the document is the agent's to write, that of the token is not
            (codex("a", "b", 2), Step::Refuse),
        ] {
            assert_eq!(decide(api, &old, Some(&old), Some(&inside)), expected);
        }
        let mut plain = codex("a", "a", 2);
        plain["tokens"]["access_token"] = json!("plain");
        assert_eq!(decide(api, &old, Some(&old), Some(&plain)), Step::Refuse);
    }
}
