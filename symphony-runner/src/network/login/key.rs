//! A key that a CLI keeps in the file of its login.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use serde_json::Value;
use symphony_core::config::ProviderName;
use symphony_workspace::read_text;

use crate::provider::api::text;
use crate::provider::{AgentCli, ModelApi, agent_cli};

/// Returns the key in a provider's login, with the variable that does the same, where the CLI would use it: the
/// environment has no key, and the login has no tokens.
pub(crate) fn kept_key(
    provider: ProviderName,
    environment: &BTreeMap<OsString, OsString>,
) -> Option<(&'static str, String)> {
    let cli: &AgentCli = agent_cli(provider)?;
    let mut keys = cli.api.keys.iter();
    if keys.any(|key| text(environment, key.variable).is_some()) {
        return None;
    }
    let variable = |name: &str| environment.get(OsStr::new(name)).cloned();
    let login = read_text(&cli.credentials.path(variable)?).ok()?;
    let key = key_in(&cli.api, &serde_json::from_str(&login).ok()?)?;
    Some((cli.api.keys.first()?.variable, key))
}

/// Returns the key in the document of a login without tokens.
fn key_in(api: &ModelApi, login: &Value) -> Option<String> {
    let text = |place: &&str| login.pointer(place).and_then(Value::as_str);
    let key = api.key_in_login.as_ref().and_then(text)?.trim();
    // the time of a refresh is no token
    let has_tokens = login.get("tokens").is_some_and(|tokens| !tokens.is_null());
    (!key.is_empty() && !has_tokens).then(|| key.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_counts_where_nothing_is_before_it() {
        let tokens = json!({ "access_token": "a", "refresh_token": "r" });
        for (login, set, expected) in [
            (json!({ "OPENAI_API_KEY": "sk-1" }), None, Some("sk-1")),
            (
                json!({ "auth_mode": "apikey", "OPENAI_API_KEY": " sk-1\n", "tokens": null }),
                None,
                Some("sk-1"),
            ),
            (
                json!({ "OPENAI_API_KEY": "sk-1", "tokens": tokens }),
                None,
                None,
            ),
            (
                json!({ "OPENAI_API_KEY": null, "tokens": tokens }),
                None,
                None,
            ),
            (json!({ "OPENAI_API_KEY": "" }), None, None),
            (
                json!({ "OPENAI_API_KEY": "sk-1" }),
                Some("OPENAI_API_KEY"),
                None,
            ),
            (json!([]), None, None),
        ] {
            let home = tempfile::tempdir().unwrap();
            std::fs::create_dir(home.path().join(".codex")).unwrap();
            std::fs::write(home.path().join(".codex/auth.json"), login.to_string()).unwrap();
            let mut environment = BTreeMap::from([("HOME".into(), home.path().into())]);
            environment.extend(set.map(|name| (name.into(), "other".into())));
            let found = kept_key(ProviderName::CodexCli, &environment);
            let expected = expected.map(|key| ("CODEX_API_KEY", key.to_owned()));
            assert_eq!(found, expected, "{login}");
            assert_eq!(kept_key(ProviderName::ClaudeCli, &environment), None);
        }
    }
}
