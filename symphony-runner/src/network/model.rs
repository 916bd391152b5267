//! How a run in a sandbox reaches the API of its model, decided from the provider and the environment.
//!
//! Where the environment has a credential, it stays outside: an endpoint adds it, and the agent has a value that means
//! nothing. Where the CLI has a login of its own, or signs its requests itself, the agent needs what it logs in with, and
//! reaches the hosts of the API through the proxy.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;

use symphony_core::config::ProviderName;
use symphony_proxy::{Credential, Secret};

use super::error::NetworkError;
use super::own_models::{HomeFile, ModelServer, OwnModels, OwnWay};
use super::url::Server;
use crate::provider::api::text;
use crate::provider::{AgentCli, ApiKey, agent_cli, agent_clis};

/// The first port of endpoints in a sandbox.
const ENDPOINT_PORT: u16 = 3129;

/// What an agent has instead of a credential.
pub const STAND_IN: &str = "kept-outside-the-sandbox";

/// How a run reaches the APIs of its models.
#[derive(Debug, Default)]
pub(crate) struct ModelWay {
    /// The endpoints that add credentials.
    pub(crate) endpoints: Vec<EndpointPlan>,
    /// Servers on this machine that need no credential.
    pub(crate) relays: Vec<SocketAddr>,
    /// Entries for the list of allowed hosts.
    pub(crate) hosts: Vec<String>,
    /// Variables to set, and those to remove.
    pub(crate) variables: BTreeMap<String, Option<String>>,
    /// Arguments for the CLI, before those of the project.
    pub(crate) arguments: Vec<String>,
    /// Whether the CLI uses a login of its own.
    pub(crate) uses_login: bool,
    /// Files for the home of the sandbox: the CLI's own settings without their keys.
    pub(crate) files: Vec<HomeFile>,
    /// Providers of models that the settings name, and whose servers are not known.
    pub(crate) unknown: Vec<String>,
}

/// An endpoint that adds a credential.
#[derive(Clone)]
pub(crate) struct EndpointPlan {
    /// The port in the sandbox.
    pub(crate) port: u16,
    /// The server.
    pub(crate) base_url: String,
    /// The headers that are added.
    pub(crate) credentials: Vec<Credential>,
}

impl fmt::Debug for EndpointPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.port, self.base_url)?;
        self.credentials
            .iter()
            .try_for_each(|credential| write!(f, " {credential:?}"))
    }
}

/// Decides how a run reaches the API of its provider's model.
///
/// `models` are those of the CLI's own settings.
/// A command may call the CLI of any agent, so it gets an endpoint for each whose credential or base URL is set.
///
/// # Errors
/// When a credential or a base URL of the environment cannot be used.
pub(crate) fn model_way(
    provider: ProviderName,
    environment: &BTreeMap<OsString, OsString>,
    models: Option<OwnModels>,
) -> Result<ModelWay, NetworkError> {
    let mut way = ModelWay::default();
    let own = agent_cli(provider);
    // Some CLIs share their variables.
    for cli in agent_clis() {
        way.withhold(cli);
    }
    let calls_any = matches!(provider, ProviderName::Command | ProviderName::Acp);
    let mut led = Vec::new();
    for cli in agent_clis() {
        let is_set = base_url_of(cli, environment).is_some() || key_of(cli, environment).is_some();
        let variable = cli.api.base_url_variable;
        if own == Some(cli) || calls_any && is_set && !led.contains(&variable) {
            way.lead(cli, environment, own.is_some())?;
            led.push(variable);
        }
    }
    if let Some(models) = models {
        way.lead_own(models);
    }
    Ok(way)
}

/// Returns the CLI of a provider if it uses a login of its own, which a sandbox's empty home does not have.
pub(crate) fn cli_with_login(
    provider: ProviderName,
    environment: &BTreeMap<OsString, OsString>,
) -> Option<&'static AgentCli> {
    let way = model_way(provider, environment, None).ok()?;
    agent_cli(provider).filter(|_| way.uses_login)
}

/// Returns the base URL that a CLI takes from its environment.
fn base_url_of<'a>(
    cli: &AgentCli,
    environment: &'a BTreeMap<OsString, OsString>,
) -> Option<&'a str> {
    text(environment, cli.api.base_url_variable?)
}

/// Returns the credential that a CLI takes from its environment.
fn key_of<'a>(
    cli: &AgentCli,
    environment: &'a BTreeMap<OsString, OsString>,
) -> Option<(ApiKey, &'a str)> {
    let mut keys = cli.api.keys.iter();
    keys.find_map(|key| Some((*key, text(environment, key.variable)?)))
}

impl ModelWay {
    /// Removes all that would log a CLI in.
    fn withhold(&mut self, cli: &AgentCli) {
        let keys = cli.api.keys.iter().map(|key| key.variable);
        for variable in keys.chain(cli.api.headers_variable) {
            self.variables.insert(variable.to_owned(), None);
        }
    }

    fn lead(
        &mut self,
        cli: &AgentCli,
        environment: &BTreeMap<OsString, OsString>,
        has_login: bool,
    ) -> Result<(), NetworkError> {
        let api = &cli.api;
        for (name, value) in api.in_sandbox {
            self.set(name, value);
        }
        let variable = |name: &str| text(environment, name).map(str::to_owned);
        let clouds: Vec<_> = api
            .clouds
            .iter()
            .filter_map(|cloud| cloud.hosts(variable))
            .flatten()
            .collect();
        if !clouds.is_empty() {
            self.hosts.extend(clouds);
            return Ok(());
        }
        let base_url = base_url_of(cli, environment);
        let known = base_url.unwrap_or(api.base_url);
        if known.is_empty() {
            self.use_login(cli, has_login);
            return Ok(());
        }
        let server = Server::parse(known).ok_or(NetworkError::BaseUrl {
            variable: api.base_url_variable.unwrap_or("the base URL"),
        })?;
        let credentials = credentials(cli, environment)?;
        if !credentials.is_empty() {
            self.withhold(cli);
            self.add_endpoint(cli, environment, server, credentials);
            return Ok(());
        }
        match server.loopback() {
            Some(address) => self.relays.push(address),
            None if base_url.is_some() => self.hosts.push(server.entry()),
            None => {}
        }
        self.use_login(cli, has_login && server.loopback().is_none());
        Ok(())
    }

    fn use_login(&mut self, cli: &AgentCli, has_login: bool) {
        if has_login {
            let hosts = cli.api.login_hosts.iter();
            self.hosts.extend(hosts.map(|host| (*host).to_owned()));
            self.uses_login = true;
        }
    }

    fn add_endpoint(
        &mut self,
        cli: &AgentCli,
        environment: &BTreeMap<OsString, OsString>,
        server: Server,
        credentials: Vec<Credential>,
    ) {
        let port = self.port_for(&server);
        let inside = format!("http://127.0.0.1:{port}");
        let arguments = (cli.api.arguments)(&inside);
        let key = match key_of(cli, environment) {
            // the arguments name the first variable
            found if !arguments.is_empty() => {
                cli.api.keys.first().copied().or(found.map(|it| it.0))
            }
            found => found.map(|(key, _)| key).or(cli.api.keys.first().copied()),
        };
        if let Some(key) = key {
            self.set(key.variable, STAND_IN);
        }
        if let Some(variable) = cli.api.base_url_variable {
            self.set(variable, &inside);
        }
        self.arguments.extend(arguments);
        self.endpoints.push(EndpointPlan {
            port,
            base_url: server.url,
            credentials,
        });
    }

    /// Returns the port of an endpoint. A server on this machine keeps its own, so that whatever else names it still
    /// finds it.
    fn port_for(&self, server: &Server) -> u16 {
        let taken = |port: &u16| self.endpoints.iter().any(|other| other.port == *port);
        let own = server.loopback().map(|address| address.port());
        let free = || (ENDPOINT_PORT..u16::MAX).find(|port| !taken(port));
        own.filter(|port| !taken(port))
            .or_else(free)
            .unwrap_or(ENDPOINT_PORT)
    }

    /// Leads to the models of the CLI's own settings.
    fn lead_own(&mut self, mut models: OwnModels) {
        let OwnWay {
            servers,
            hosts,
            relays,
            unknown,
        } = models.way();
        for ModelServer {
            name,
            server,
            credentials,
        } in servers
        {
            let port = self.port_for(&server);
            models.redirect(&name, &format!("http://127.0.0.1:{port}"), STAND_IN);
            self.endpoints.push(EndpointPlan {
                port,
                base_url: server.url,
                credentials,
            });
        }
        self.hosts.extend(hosts);
        self.relays.extend(relays);
        self.unknown.extend(unknown);
        for name in models.removed() {
            self.variables.insert((*name).to_owned(), None);
        }
        self.files.extend(models.files());
    }

    fn set(&mut self, name: &str, value: &str) {
        self.variables
            .insert(name.to_owned(), Some(value.to_owned()));
    }
}

/// Returns the headers that log a CLI in: its key, and what the variable of further headers has.
fn credentials(
    cli: &AgentCli,
    environment: &BTreeMap<OsString, OsString>,
) -> Result<Vec<Credential>, NetworkError> {
    let mut credentials = Vec::new();
    if let Some((key, value)) = key_of(cli, environment) {
        credentials.push(credential(
            key.variable,
            key.header,
            &format!("{}{}", key.scheme, value.trim()),
        )?);
    }
    let Some(variable) = cli.api.headers_variable else {
        return Ok(credentials);
    };
    for line in text(environment, variable).unwrap_or_default().lines() {
        if let Some((name, value)) = line.split_once(':') {
            credentials.push(credential(variable, name.trim(), value.trim())?);
        }
    }
    Ok(credentials)
}

fn credential(
    variable: &'static str,
    header: &str,
    value: &str,
) -> Result<Credential, NetworkError> {
    Secret::new(value)
        .and_then(|secret| Credential::new(header, secret))
        .map_err(|source| NetworkError::Credential { variable, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables = &'static [(&'static str, &'static str)];

    fn way(provider: ProviderName, set: &[(&str, &str)]) -> ModelWay {
        let environment = set
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        model_way(provider, &environment, None).unwrap()
    }

    fn shown(way: &ModelWay) -> String {
        let endpoints: Vec<_> = way.endpoints.iter().map(|it| format!("{it:?}")).collect();
        let relays: Vec<_> = way.relays.iter().map(SocketAddr::to_string).collect();
        let login = if way.uses_login { "; login" } else { "" };
        format!(
            "[{}] relays [{}] hosts [{}]{login}",
            endpoints.join(", "),
            relays.join(", "),
            way.hosts.join(", ")
        )
    }

    #[test]
    fn a_credential_stays_outside_and_a_login_goes_in() {
        use ProviderName::{ClaudeCli, CodexCli, Command, Scripted};
        let claude_login = "api.anthropic.com, platform.claude.com, console.anthropic.com";
        let key = |header: &str| format!("Credential {{ name: \"{header}\", value: Secret(..) }}");
        let table: Vec<(ProviderName, Variables, String)> = vec![
            (Scripted, &[("ANTHROPIC_API_KEY", "k")], "[] relays [] hosts []".into()),
            (ClaudeCli, &[], format!("[] relays [] hosts [{claude_login}]; login")),
            (
                ClaudeCli,
                &[("ANTHROPIC_API_KEY", "k")],
                format!("[3129 -> https://api.anthropic.com {}] relays [] hosts []", key("x-api-key")),
            ),
            (
                ClaudeCli,
                &[
                    ("ANTHROPIC_AUTH_TOKEN", "k"),
                    ("ANTHROPIC_API_KEY", "other"),
                    ("ANTHROPIC_BASE_URL", "https://gate.example:8443/a"),
                    ("ANTHROPIC_CUSTOM_HEADERS", "X-Team: blue\nnothing"),
                ],
                format!(
                    "[3129 -> https://gate.example:8443/a {} {}] relays [] hosts []",
                    key("authorization"),
                    key("x-team")
                ),
            ),
            // a server on this machine: the same port
            (
                ClaudeCli,
                &[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:4000")],
                format!("[4000 -> http://127.0.0.1:4000 {}] relays [] hosts []", key("x-api-key")),
            ),
            (
                ClaudeCli,
                &[("ANTHROPIC_BASE_URL", "http://localhost:4000/v1")],
                "[] relays [127.0.0.1:4000] hosts []".into(),
            ),
            (
                ClaudeCli,
                &[("ANTHROPIC_BASE_URL", "https://gate.example")],
                format!("[] relays [] hosts [gate.example, {claude_login}]; login"),
            ),
            (
                ClaudeCli,
                &[
                    ("CLAUDE_CODE_USE_BEDROCK", "1"),
                    ("AWS_REGION", "eu-west-1"),
                    ("ANTHROPIC_API_KEY", "k"),
                ],
                "[] relays [] hosts [bedrock-runtime.eu-west-1.amazonaws.com, bedrock.eu-west-1.amazonaws.com, \
                 sts.eu-west-1.amazonaws.com, sts.amazonaws.com]"
                    .into(),
            ),
            (
                CodexCli,
                &[],
                "[] relays [] hosts [chatgpt.com, auth.openai.com, api.openai.com]; login".into(),
            ),
            (
                CodexCli,
                &[("OPENAI_API_KEY", "k")],
                format!("[3129 -> https://api.openai.com/v1 {}] relays [] hosts []", key("authorization")),
            ),
            // a command may call either, and has no login
            (Command, &[], "[] relays [] hosts []".into()),
            (
                Command,
                &[
                    ("ANTHROPIC_API_KEY", "k"),
                    ("OPENAI_API_KEY", "k"),
                    ("OPENAI_BASE_URL", "https://b.example/v1"),
                ],
                format!(
                    "[3129 -> https://api.anthropic.com {}, 3130 -> https://b.example/v1 {}] relays [] hosts []",
                    key("x-api-key"),
                    key("authorization")
                ),
            ),
        ];
        for (provider, set, expected) in table {
            assert_eq!(shown(&way(provider, set)), expected, "{provider:?} {set:?}");
        }
    }

    #[test]
    fn an_agent_gets_no_credential() {
        let set = [
            ("ANTHROPIC_API_KEY", "secret-a"),
            ("ANTHROPIC_AUTH_TOKEN", "secret-b"),
            ("ANTHROPIC_CUSTOM_HEADERS", "x-key: secret-c"),
            ("CODEX_API_KEY", "secret-d"),
            ("OPENAI_API_KEY", "secret-e"),
        ];
        for provider in ProviderName::ALL {
            let way = way(*provider, &set);
            for (name, _) in set {
                let inside = way.variables.get(name);
                assert!(
                    matches!(inside, Some(None)) || inside == Some(&Some(STAND_IN.to_owned())),
                    "{provider:?} {name}: {inside:?}"
                );
            }
            assert!(!format!("{way:?}").contains("secret-"), "{way:?}");
        }
    }

    #[test]
    fn codex_is_led_by_arguments_and_a_variable() {
        let way = way(ProviderName::CodexCli, &[("OPENAI_API_KEY", "k")]);
        let arguments = way.arguments.join(" ");
        assert!(
            arguments.contains("model_provider=\"symphony\""),
            "{arguments}"
        );
        assert!(
            arguments.contains("model_providers.symphony.base_url=\"http://127.0.0.1:3129\""),
            "{arguments}"
        );
        assert_eq!(
            way.variables.get("CODEX_API_KEY"),
            Some(&Some(STAND_IN.to_owned()))
        );
        assert_eq!(way.variables.get("OPENAI_API_KEY"), Some(&None));
    }

    #[test]
    fn what_cannot_be_used_is_an_error() {
        for set in [
            [
                ("ANTHROPIC_BASE_URL", "api.example"),
                ("ANTHROPIC_API_KEY", "k"),
            ],
            [("ANTHROPIC_BASE_URL", ""), ("ANTHROPIC_API_KEY", "k\u{e9}")],
        ] {
            let environment = set
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            let error = model_way(ProviderName::ClaudeCli, &environment, None).unwrap_err();
            assert!(!error.to_string().contains("api.example"), "{error}");
        }
    }
}
