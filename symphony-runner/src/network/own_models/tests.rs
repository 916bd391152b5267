//! How settings and logins are led into a sandbox, and that no key goes with them.

use super::*;

fn models(settings: Value, login: Value) -> OwnModels {
    let cli = agent_cli(ProviderName::Opencode).unwrap();
    let own = cli.own_settings.as_ref().unwrap();
    OwnModels {
        cli,
        own,
        settings,
        login,
    }
}

fn shown(way: &OwnWay) -> String {
    let servers = way.servers.iter().map(|it| {
        let credentials: Vec<_> = it.credentials.iter().map(|it| format!("{it:?}")).collect();
        let names = credentials.iter().filter_map(|text| text.split('"').nth(1));
        let names: Vec<_> = names.collect();
        format!("{} {} ({})", it.name, it.server.url, names.join(", "))
    });
    let servers: Vec<_> = servers.collect();
    format!(
        "{servers:?} {:?} {:?} {:?}",
        way.hosts, way.relays, way.unknown
    )
}

#[test]
fn each_provider_is_reached_with_its_key_outside_where_that_can_be() {
    let key = json!({ "type": "api", "key": "k" });
    let oauth = json!({ "type": "oauth", "refresh": "r", "access": "a", "expires": 1 });
    let local = json!({ "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": "http://127.0.0.1:11434/v1" } });
    for (settings, login, expected) in [
        (json!({}), json!({}), r"[] [] [] []"),
        (
            json!({}),
            json!({ "anthropic": key, "openrouter": key }),
            r#"["anthropic https://api.anthropic.com/v1 (x-api-key)", "openrouter https://openrouter.ai/api/v1 (authorization)"] [] [] []"#,
        ),
        (
            json!({}),
            json!({ "anthropic": oauth }),
            r#"[] ["api.anthropic.com", "console.anthropic.com"] [] []"#,
        ),
        (
            json!({ "enabled_providers": ["google"] }),
            json!({ "anthropic": key, "google": key }),
            r#"["google https://generativelanguage.googleapis.com/v1beta (x-goog-api-key)"] [] [] []"#,
        ),
        (
            json!({ "disabled_providers": ["anthropic"] }),
            json!({ "anthropic": key }),
            r"[] [] [] []",
        ),
        // a server on this machine, without a key
        (
            json!({ "provider": { "ollama": local } }),
            json!({}),
            r#"["ollama http://127.0.0.1:11434/v1 ()"] [] [] []"#,
        ),
        (
            json!({ "provider": { "gate": { "npm": "@ai-sdk/anthropic", "options": {
                "baseURL": "https://gate.example/v1", "apiKey": "k", "headers": { "X-Team": "blue" },
            } } } }),
            json!({}),
            r#"["gate https://gate.example/v1 (x-api-key, x-team)"] [] [] []"#,
        ),
        // in plain text to another machine
        (
            json!({ "provider": { "lan": { "options": { "baseURL": "http://10.0.0.5:8000/v1", "apiKey": "k" } } } }),
            json!({}),
            r#"[] ["10.0.0.5:8000"] [] []"#,
        ),
        (
            json!({}),
            json!({ "togetherai": key }),
            r#"[] [] [] ["togetherai"]"#,
        ),
        (
            json!({ "provider": { "anthropic": { "models": {} } } }),
            json!({}),
            r"[] [] [] []",
        ),
        (
            json!({}),
            json!({ "opencode": key }),
            r#"[] ["opencode.ai"] [] []"#,
        ),
    ] {
        let way = models(settings.clone(), login.clone()).way();
        assert_eq!(shown(&way), expected, "{settings} {login}");
    }
}

#[test]
fn a_redirected_provider_has_no_key_in_any_file() {
    let mut models = models(
        json!({ "model": "a/b", "provider": { "a": { "npm": "n", "options": {
            "apiKey": "secret", "headers": { "x": "secret" }, "timeout": 5,
        } } } }),
        json!({ "a": { "type": "api", "key": "secret" }, "b": { "type": "oauth" } }),
    );
    models.redirect("a", "http://127.0.0.1:3129", "nothing");
    models.redirect("new", "http://127.0.0.1:3130", "nothing");
    let files = models.files();
    let text = |index: usize| files[index].text.clone();
    assert!(!text(0).contains("secret") && !text(1).contains("secret"));
    let settings: Value = serde_json::from_str(&text(0)).unwrap();
    assert_eq!(
        settings["provider"]["a"]["options"],
        json!({ "baseURL": "http://127.0.0.1:3129", "apiKey": "nothing", "timeout": 5 })
    );
    assert_eq!(
        settings["provider"]["new"]["options"]["baseURL"],
        "http://127.0.0.1:3130"
    );
    assert_eq!(files[1].path, Path::new(".local/share/opencode/auth.json"));
    assert_eq!(text(1), r#"{"b":{"type":"oauth"}}"#);
}

#[test]
fn keys_of_variables_are_those_of_a_login() {
    let mut login = json!({ "openai": { "type": "oauth" } });
    let settings = json!({ "provider": { "xai": { "options": { "apiKey": "own" } } } });
    add_keys(&settings, &mut login, |name| {
        let set = [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "XAI_API_KEY",
            "OPENCODE_API_KEY",
        ];
        set.contains(&name).then(|| "k".to_owned())
    });
    assert_eq!(
        login,
        json!({ "openai": { "type": "oauth" }, "anthropic": { "type": "api", "key": "k" } })
    );
}

#[test]
fn addresses_in_settings_are_opened() {
    let cli = agent_cli(ProviderName::Qwen).unwrap();
    let own = cli.own_settings.as_ref().unwrap();
    let whole = json!({ "env": { "KEY": "secret" }, "modelProviders": { "openai": [
        { "id": "m", "envKey": "KEY", "baseUrl": "https://models.example/v1" },
        { "id": "n", "baseUrl": "http://localhost:8000/v1" },
    ] } });
    let models = OwnModels {
        cli,
        own,
        settings: own.joined([whole]),
        login: json!({}),
    };
    let way = models.way();
    assert_eq!(shown(&way), r#"[] ["models.example"] [127.0.0.1:8000] []"#);
    assert!(!models.files()[0].text.contains("secret"));
}

#[test]
fn settings_are_read_with_comments_and_references() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/opencode");
    std::fs::create_dir_all(&folder).unwrap();
    let text = r#"{ // mine
        "provider": { "a": { "options": { "apiKey": "{env:A_KEY}", "baseURL": "{file:url}" } }, },
    }"#;
    std::fs::write(folder.join("opencode.json"), text).unwrap();
    std::fs::write(folder.join("url"), "https://a.example/v1\n").unwrap();
    let environment = [("HOME", home.path().as_os_str()), ("A_KEY", "k".as_ref())]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
    let models = read_own(ProviderName::Opencode, &environment).unwrap();
    assert_eq!(
        shown(&models.way()),
        r#"["a https://a.example/v1 (authorization)"] [] [] []"#
    );
    assert!(read_own(ProviderName::ClaudeCli, &environment).is_none());
}
