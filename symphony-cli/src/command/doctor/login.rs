//! Whether the agents' CLI is logged in, as far as that can be known without a request that costs money: whether
//! credentials are there. No value and no file is looked into.

use std::ffi::OsString;
use std::path::Path;

use symphony_core::config::{ProjectConfig, ProviderName};
use symphony_core::wording::none_is;
use symphony_runner::installation::Installation;
use symphony_runner::provider::{AgentCli, agent_cli};

use super::check::{CheckView, Health};
use crate::model_access::servers_of_models;

const CHECK: &str = "login";

/// Looks for the credentials of the provider that a project uses; nothing for providers without a login of their own.
pub(super) fn check_login(
    installation: &Installation,
    config: &ProjectConfig,
    provider: ProviderName,
) -> Option<CheckView> {
    let cli = agent_cli(provider)?;
    let own = &config.providers.settings(provider).env;
    let variable = |name: &str| -> Option<OsString> {
        let configured = own.get(name).or_else(|| config.env.get(name));
        let configured = configured.map(OsString::from);
        configured.or_else(|| installation.variable(name).map(OsString::from))
    };
    let has_file = |path: &Path| path.metadata().is_ok_and(|meta| meta.len() > 0);
    let found = view(cli, &variable, &has_file);
    if found.status == Health::Warning && cli.has_login_in_settings() {
        let servers = servers_of_models(installation, config, provider);
        if !servers.is_empty() {
            let (title, servers) = (cli.title, servers.join(", "));
            return Some(CheckView::ok(
                CHECK,
                format!(
                    "{title}: its settings name {servers}; the first run shows whether its key is accepted"
                ),
            ));
        }
    }
    Some(found)
}

fn view(
    cli: &AgentCli,
    variable: &dyn Fn(&str) -> Option<OsString>,
    has_file: &dyn Fn(&Path) -> bool,
) -> CheckView {
    let (name, credentials) = (cli.title, &cli.credentials);
    let unproven = "the first run shows whether it is accepted";
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let mut variables = credentials.variables.iter();
    if let Some(found) = variables.find(|name| is_set(name)) {
        return CheckView::ok(CHECK, format!("{name}: {found} is set; {unproven}"));
    }
    let place = match credentials.path(variable) {
        Some(file) if has_file(&file) => {
            let file = file.display();
            return CheckView::ok(CHECK, format!("{name}: {file} exists; {unproven}"));
        }
        Some(file) => format!("{} does not exist", file.display()),
        None => "HOME is not set".to_owned(),
    };
    let unset = none_is(credentials.variables);
    CheckView::warning(
        CHECK,
        format!("{name} seems not to be logged in: {place}, and {unset} set"),
        credentials.fix,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_agree_with_what_was_looked_for() {
        let codex = agent_cli(ProviderName::CodexCli).unwrap();
        let detail = |set: bool| {
            let variable = |name: &str| (set && name == "OPENAI_API_KEY").then(|| "x".into());
            view(codex, &variable, &|_| false).detail
        };
        assert_eq!(
            detail(true),
            "Codex: OPENAI_API_KEY is set; the first run shows whether it is accepted"
        );
        assert_eq!(
            detail(false),
            "Codex seems not to be logged in: HOME is not set, and neither CODEX_API_KEY nor OPENAI_API_KEY is set"
        );
    }

    /// Variables with their values, the file that is there, and what is expected.
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, Health, &'a str);

    #[test]
    fn credentials_are_looked_for_and_never_looked_into() {
        let table: &[Case<'_>] = &[
            (
                &[("ANTHROPIC_API_KEY", "secret")],
                "",
                Health::Ok,
                "Claude Code: ANTHROPIC_API_KEY is set;",
            ),
            (
                &[("HOME", "/h")],
                "/h/.claude/.credentials.json",
                Health::Ok,
                "Claude Code: /h/.claude/.credentials.json exists;",
            ),
            (
                &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")],
                "/c/.credentials.json",
                Health::Ok,
                "Claude Code: /c/.credentials.json exists;",
            ),
            (
                &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")],
                "/h/.claude/.credentials.json",
                Health::Warning,
                "Claude Code seems not to be logged in: /c/.credentials.json does not exist, and none of",
            ),
            (
                &[],
                "",
                Health::Warning,
                "Claude Code seems not to be logged in: HOME is not set, and none of",
            ),
        ];
        let claude = agent_cli(ProviderName::ClaudeCli).unwrap();
        for (variables, file, status, begins) in table {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let found = view(claude, &variable, &|path| path == Path::new(file));
            assert_eq!(found.status, *status, "{found:?}");
            assert!(found.detail.starts_with(begins), "{found:?}");
            assert!(!format!("{found:?}").contains("secret"), "{found:?}");
        }
    }
}
