//! What a run may reach, and how: the configuration, the provider's API and the project's registries, joined.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::net::SocketAddr;

use symphony_core::config::{ProviderName, SandboxNetwork, SandboxSettings};
use symphony_proxy::{Allowed, Upstream};

use super::error::NetworkError;
use super::model::{EndpointPlan, ModelWay, model_way};
use super::own_models::{HomeFile, OwnModels};
use super::upstream::upstream;
use super::url::loopback_entry;

/// The port of the proxy in a sandbox, if nothing else has it.
const PROXY_PORT: u16 = 3128;

/// What is reached without the proxy: the sandbox itself.
const NO_PROXY: &str = "127.0.0.1,localhost,::1";

/// The variables that name a proxy for programs. Not all of them read the same case.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];
/// The variables that name what is reached without it.
const NO_PROXY_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// The user's own, which cannot be reached from a sandbox.
const REMOVED_VARIABLES: [&str; 4] = ["ALL_PROXY", "all_proxy", "FTP_PROXY", "ftp_proxy"];

/// What the network of a run is decided from.
#[derive(Debug)]
pub(crate) struct NetworkRequest<'a> {
    /// The section `sandbox` of the configuration.
    pub(crate) settings: &'a SandboxSettings,
    /// Whose model the run uses; `None` for commands of the project, which use none.
    pub(crate) provider: Option<ProviderName>,
    /// The run's whole environment.
    pub(crate) environment: &'a BTreeMap<OsString, OsString>,
    /// The hosts of the registries that the project's tools use.
    pub(crate) registries: &'a BTreeSet<String>,
    /// The models of the CLI's own settings.
    pub(crate) models: Option<OwnModels>,
}

/// What a run may reach, and how.
#[derive(Debug, Default)]
pub struct NetworkPlan {
    /// The entries of the list of allowed hosts.
    pub(crate) entries: BTreeSet<String>,
    /// The same, as the proxy reads them.
    pub(crate) allowed: Allowed,
    /// The port of the proxy in the sandbox.
    pub(crate) proxy_port: u16,
    /// Ports of the machine's loopback that are the same ports in the sandbox.
    pub(crate) relays: BTreeSet<SocketAddr>,
    /// The user's own proxy, which everything goes through.
    pub(crate) upstream: Option<Upstream>,
    /// The endpoints that add credentials.
    pub(crate) endpoints: Vec<EndpointPlan>,
    /// Variables to set, and those to remove.
    pub variables: BTreeMap<String, Option<String>>,
    /// Arguments for the provider's CLI, before those of the project.
    pub arguments: Vec<String>,
    /// Files for the home of the sandbox.
    pub(crate) files: Vec<HomeFile>,
}

impl NetworkPlan {
    /// Decides what a run may reach.
    ///
    /// # Errors
    /// When an entry of the configuration, a base URL or a credential cannot be used.
    pub(crate) fn new(request: &NetworkRequest<'_>) -> Result<Self, NetworkError> {
        let way = match request.provider {
            Some(provider) => model_way(provider, request.environment, request.models.clone())?,
            // a command of the project needs no model, so it gets nothing that opens one
            None => model_way(ProviderName::Scripted, request.environment, None)?,
        };
        let ModelWay {
            endpoints,
            relays,
            hosts,
            variables,
            arguments,
            uses_login: _,
            files,
            unknown: _,
        } = way;
        let mut entries: BTreeSet<String> = hosts.into_iter().collect();
        let mut relays: BTreeSet<SocketAddr> = relays.into_iter().collect();
        if request.settings.network == SandboxNetwork::Allowlist {
            entries.extend(request.settings.hosts.iter().cloned());
            entries.extend(request.registries.iter().cloned());
        }
        // Entries of a person alone: a file of the repository names registries, and must not open this machine.
        let listed = request.settings.hosts.iter();
        let listed = listed.filter(|entry| entries.contains(*entry));
        relays.extend(listed.filter_map(|entry| loopback_entry(entry)));
        // one socket a port: an endpoint comes first, then the address of version 4
        let mut taken: BTreeSet<u16> = endpoints.iter().map(|it| it.port).collect();
        relays.retain(|relay| taken.insert(relay.port()));
        let allowed =
            Allowed::parse(entries.iter().map(String::as_str)).map_err(NetworkError::Hosts)?;
        let proxy_port = (PROXY_PORT..u16::MAX)
            .find(|port| !taken.contains(port))
            .unwrap_or(PROXY_PORT);
        let mut all = proxy_variables(proxy_port);
        all.extend(variables);
        Ok(Self {
            entries,
            allowed,
            proxy_port,
            relays,
            upstream: upstream(request.environment)?,
            endpoints,
            variables: all,
            arguments,
            files,
        })
    }

    /// Changes an environment into that of a program in the sandbox.
    pub fn apply(&self, environment: &mut BTreeMap<OsString, OsString>) {
        for (name, value) in &self.variables {
            match value {
                Some(value) => environment.insert(name.into(), value.into()),
                None => environment.remove(std::ffi::OsStr::new(name)),
            };
        }
    }
}

/// Every provider gets them: some wait seconds for an answer of the DNS before they try anything else.
fn proxy_variables(port: u16) -> BTreeMap<String, Option<String>> {
    let proxy = format!("http://127.0.0.1:{port}");
    let set = |names: &'static [&'static str], value: Option<String>| {
        names
            .iter()
            .map(move |name| ((*name).to_owned(), value.clone()))
    };
    set(&PROXY_VARIABLES, Some(proxy))
        .chain(set(&NO_PROXY_VARIABLES, Some(NO_PROXY.to_owned())))
        .chain(set(&REMOVED_VARIABLES, None))
        // Node.js reads the variables above only with this one
        .chain(set(&["NODE_USE_ENV_PROXY"], Some("1".to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use symphony_proxy::Target;

    use super::*;

    fn plan(
        settings: &SandboxSettings,
        provider: Option<ProviderName>,
        set: &[(&str, &str)],
    ) -> Result<NetworkPlan, NetworkError> {
        let environment = set
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        NetworkPlan::new(&NetworkRequest {
            settings,
            provider,
            environment: &environment,
            registries: &["index.crates.io".to_owned()].into(),
            models: None,
        })
    }

    fn settings(network: SandboxNetwork, hosts: &[&str]) -> SandboxSettings {
        SandboxSettings {
            network,
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..SandboxSettings::default()
        }
    }

    #[test]
    fn a_run_reaches_what_is_configured_its_model_and_its_registries() {
        use ProviderName::{ClaudeCli, Scripted};
        use SandboxNetwork::{Allowlist, None as Nothing};
        let login = "api.anthropic.com console.anthropic.com";
        let table = [
            (
                Allowlist,
                Some(Scripted),
                &[][..],
                "index.crates.io".to_owned(),
                "",
            ),
            (
                Allowlist,
                Some(ClaudeCli),
                &["*.example.com", "10.0.0.5:443"],
                format!("*.example.com 10.0.0.5:443 {login} index.crates.io platform.claude.com"),
                "",
            ),
            (
                Allowlist,
                None,
                &["127.0.0.1:5432", "[::1]:7000"],
                "127.0.0.1:5432 [::1]:7000 index.crates.io".to_owned(),
                "127.0.0.1:5432 [::1]:7000",
            ),
            // only the model
            (
                Nothing,
                Some(ClaudeCli),
                &["127.0.0.1:5432", "example.com"],
                format!("{login} platform.claude.com"),
                "",
            ),
            (Nothing, None, &["example.com"], String::new(), ""),
        ];
        for (network, provider, hosts, entries, relays) in table {
            let plan = plan(&settings(network, hosts), provider, &[]).unwrap();
            let found: Vec<_> = plan.entries.iter().map(String::as_str).collect();
            assert_eq!(found.join(" "), entries, "{network:?} {provider:?}");
            let found: Vec<_> = plan.relays.iter().map(SocketAddr::to_string).collect();
            assert_eq!(found.join(" "), relays, "{network:?} {provider:?}");
        }
    }

    #[test]
    fn a_registry_on_this_machine_opens_nothing() {
        let settings = settings(SandboxNetwork::Allowlist, &[]);
        let plan = NetworkPlan::new(&NetworkRequest {
            settings: &settings,
            provider: None,
            environment: &BTreeMap::new(),
            registries: &["127.0.0.1:5432".to_owned()].into(),
            models: None,
        })
        .unwrap();
        assert!(plan.relays.is_empty());
    }

    #[test]
    fn ports_do_not_collide() {
        let settings = settings(
            SandboxNetwork::Allowlist,
            &["127.0.0.1:3128", "[::1]:3128", "127.0.0.1:3129"],
        );
        let set = [
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:3129"),
        ];
        let plan = plan(&settings, Some(ProviderName::ClaudeCli), &set).unwrap();
        assert_eq!(plan.proxy_port, 3130);
        let relays: Vec<_> = plan.relays.iter().map(SocketAddr::port).collect();
        let endpoints: Vec<_> = plan.endpoints.iter().map(|it| it.port).collect();
        assert_eq!((relays, endpoints), (vec![3128], vec![3129]));
    }

    #[test]
    fn the_environment_names_the_proxy_and_no_other() {
        let settings = settings(SandboxNetwork::Allowlist, &[]);
        let plan = plan(&settings, Some(ProviderName::CodexCli), &[]).unwrap();
        let mut environment: BTreeMap<OsString, OsString> = [
            ("ALL_PROXY", "socks5://corp:1"),
            ("https_proxy", "http://u:p@corp:1"),
            ("no_proxy", "corp"),
            ("ANTHROPIC_API_KEY", "k"),
            ("PATH", "/bin"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        plan.apply(&mut environment);
        let shown: Vec<_> = environment
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(
            shown,
            [
                "HTTPS_PROXY=http://127.0.0.1:3128",
                "HTTP_PROXY=http://127.0.0.1:3128",
                "NODE_USE_ENV_PROXY=1",
                "NO_PROXY=127.0.0.1,localhost,::1",
                "PATH=/bin",
                "http_proxy=http://127.0.0.1:3128",
                "https_proxy=http://127.0.0.1:3128",
                "no_proxy=127.0.0.1,localhost,::1",
            ]
        );
    }

    #[test]
    fn entries_that_are_no_hosts_are_all_named() {
        let settings = settings(
            SandboxNetwork::Allowlist,
            &["*.com", "localhost:80", "example.com"],
        );
        let error = plan(&settings, None, &[]).unwrap_err().to_string();
        assert!(
            error.contains("`*.com`") && error.contains("`localhost:80`"),
            "{error}"
        );
        assert!(!error.contains("example.com"), "{error}");
    }

    #[test]
    fn what_is_listed_is_what_the_proxy_allows() {
        let settings = settings(SandboxNetwork::Allowlist, &["example.com:8443"]);
        let plan = plan(&settings, None, &[]).unwrap();
        let admits = |text| plan.allowed.admit(&Target::parse(text).unwrap()).is_ok();
        assert!(admits("example.com:8443") && admits("index.crates.io:443"));
        assert!(!admits("example.com:443") && !admits("api.anthropic.com:443"));
    }
}
