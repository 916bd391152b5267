//! Tokens in the login file of an agent's CLI.

use serde_json::Value;

use super::redact::is_secret_name;

/// Shortest value that is one, in characters.
const TOKEN_CHARS_MIN: usize = 8;
/// From this length on, a value under a secret's name needs no digit to look like one.
const CHARS_OF_ANY_TOKEN: usize = 20;
/// How tokens begin whose kind is known, whatever their name is.
const KNOWN_STARTS: &[&str] = &[
    "sk-",
    "eyJ",
    "ghp_",
    "gho_",
    "github_pat_",
    "xoxb-",
    "xoxp-",
];
/// Most levels of a document that are searched: those of the CLIs have three.
const DEPTH_MAX: usize = 32;

/// Returns the tokens of a JSON document with their names in it. Account names, addresses, plans, scopes and times are
/// none: removing a word from every log because it is someone's plan makes the logs useless.
pub fn tokens_in(document: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect("token", document, 0, &mut found);
    found
}

fn collect(name: &str, value: &Value, depth: usize, found: &mut Vec<(String, String)>) {
    if depth > DEPTH_MAX {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                collect(name, value, depth + 1, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(name, item, depth + 1, found);
            }
        }
        Value::String(text) if is_token(name, text) => found.push((name.to_owned(), text.clone())),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_token(name: &str, value: &str) -> bool {
    let length = value.chars().count();
    let is_one_word = value
        .chars()
        .all(|c| c.is_ascii_graphic() && !matches!(c, '@' | '"' | '\'' | '\\'));
    if length < TOKEN_CHARS_MIN || !is_one_word || value.contains("://") {
        return false;
    }
    let is_known = KNOWN_STARTS.iter().any(|start| value.starts_with(start));
    let is_random = length >= CHARS_OF_ANY_TOKEN || value.contains(|c: char| c.is_ascii_digit());
    (is_known && length >= CHARS_OF_ANY_TOKEN) || (is_secret_name(name) && is_random)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_told_from_what_else_a_login_file_holds() {
        let claude = json!({
            "claudeAiOauth": {
                "accessToken": "sk-ant-oat01-AbCdEf", "refreshToken": "sk-ant-ort01-GhIjKl",
                "expiresAt": 1_790_000_000_000_u64, "scopes": ["user:inference", "user:profile"],
                "subscriptionType": "enterprise", "tokenType": "BearerToken1"
            },
            "organizationUuid": "01a20441-0ca1-7001-a594-74fc8b81b25d"
        });
        let codex = json!({
            "OPENAI_API_KEY": null,
            "auth_mode": "chatgpt-login",
            "tokens": {
                "id_token": "eyJhbGciOiJSUzI1NiJ9.e30.c2ln", "access_token": "AbCdEfGhIjKlMnOpQrStUv",
                "refresh_token": "rt_12345", "account_id": "org-0123456789"
            },
            "email": "somebody1@example.com", "password": "changeme", "token": "short1",
            "token_url": "https://auth.example.com/token1", "keys": ["abc defgh1"],
            "last_refresh": "2026-11-22T20:15:09Z", "note": ["eyJhbGciOiJIUzI1NiJ9.e30.c2ln"]
        });
        let names = |document: &Value| -> Vec<String> {
            tokens_in(document)
                .into_iter()
                .map(|(name, _)| name)
                .collect()
        };
        assert_eq!(names(&claude), ["accessToken", "refreshToken"]);
        assert_eq!(
            names(&codex),
            ["note", "access_token", "id_token", "refresh_token"]
        );
        assert_eq!(tokens_in(&json!("sk-ant-oat01-AbCdEfGhIj"))[0].0, "token");
    }
}
