//! The sockets of a run's network, served while it runs.

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use symphony_core::metering::Metered;
use symphony_core::run_network::{RefusedHost, RunNetworkUse};
use symphony_core::unit::Tokens;
use symphony_mcp::bind_private;
use symphony_proxy::{Endpoint, Limits, ModelTraffic, Proxy, Report, Tls, Upstream};
use symphony_sandbox::{HOSTS, RESOLVER};
use symphony_workspace::write_private;
use tokio::net::UnixListener;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::error::NetworkError;
use super::model::EndpointPlan;
use super::plan::NetworkPlan;
use super::relay::relay;

/// The folder of all networks, in the folder of the run.
const FOLDER: &str = "network";
/// The name of the proxy's socket.
const PROXY_SOCKET: &str = "proxy.sock";

/// The network of a run. Its sockets are served until it is dropped.
#[derive(Debug)]
pub struct RunNetwork {
    ways: Ways,
    entries: BTreeSet<String>,
    proxy: Proxy,
    endpoints: Vec<Endpoint>,
    folder: PathBuf,
    /// Aborted when it is dropped, with all connections that are open then.
    _serving: JoinSet<()>,
}

/// What a sandbox needs for the network of its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ways {
    /// The sockets: the path outside, and the name in the sandbox's folder of sockets.
    pub sockets: Vec<(PathBuf, String)>,
    /// Ports of the sandbox's loopback, and the names of the sockets that they lead to.
    pub forwards: Vec<(u16, String)>,
    /// The file that `/etc/resolv.conf` is.
    pub resolver: PathBuf,
    /// The file that `/etc/hosts` is.
    pub hosts: PathBuf,
}

impl RunNetwork {
    /// Binds the sockets in a folder of the run's own one, `run`, and serves them, in the runtime of the caller.
    ///
    /// # Errors
    /// When a socket or a file cannot be made, or a provider's URL cannot be used.
    pub fn start(plan: &NetworkPlan, run: &Path) -> Result<Self, NetworkError> {
        // of its own, since commands of the same run may have another network
        let folder = &run.join(FOLDER).join(Uuid::now_v7().simple().to_string());
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|source| NetworkError::io("make the folder", folder, source))?;
        let upstream = plan.upstream.as_ref();
        let mut ways = Ways {
            sockets: Vec::new(),
            forwards: Vec::new(),
            resolver: folder.join("resolv.conf"),
            hosts: folder.join("hosts"),
        };
        for (path, text) in [(&ways.resolver, RESOLVER), (&ways.hosts, HOSTS)] {
            write_private(path, text).map_err(|source| NetworkError::io("write", path, source))?;
        }
        let mut serving = JoinSet::new();
        let limits = Limits::default();
        let proxy = Proxy::new(plan.allowed.clone(), upstream.cloned(), limits);
        let listener = ways.bind(folder, PROXY_SOCKET.to_owned(), plan.proxy_port)?;
        let served = proxy.clone();
        serving.spawn(async move {
            report(served.serve(&listener, std::future::pending()).await);
        });
        let mut endpoints = Vec::new();
        for endpoint in &plan.endpoints {
            let name = format!("endpoint-{}.sock", endpoint.port);
            let listener = ways.bind(folder, name, endpoint.port)?;
            let endpoint = make_endpoint(endpoint, upstream, limits)?;
            endpoints.push(endpoint.clone());
            serving.spawn(async move {
                report(endpoint.serve(&listener, std::future::pending()).await);
            });
        }
        for address in &plan.relays {
            let name = format!("relay-{}.sock", address.port());
            let listener = ways.bind(folder, name, address.port())?;
            serving.spawn(relay(listener, *address));
        }
        Ok(Self {
            ways,
            entries: plan.entries.clone(),
            proxy,
            endpoints,
            folder: folder.clone(),
            _serving: serving,
        })
    }

    /// Returns what the sandbox needs.
    pub fn ways(&self) -> &Ways {
        &self.ways
    }

    /// Returns what was carried and refused so far.
    pub fn used(&self) -> RunNetworkUse {
        let endpoints: Vec<_> = self.endpoints.iter().map(Endpoint::report).collect();
        used(&self.entries, &self.proxy.report(), &endpoints)
    }

    /// Returns what the models were asked so far; `None` where no endpoint leads to one.
    pub fn model_traffic(&self) -> Option<Vec<ModelTraffic>> {
        let traffic = self.endpoints.iter().map(Endpoint::model_traffic);
        (!self.endpoints.is_empty()).then(|| traffic.collect())
    }
}

impl Drop for RunNetwork {
    fn drop(&mut self) {
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(folder = %self.folder.display(), %error, "the sockets of a run stay");
            }
            _ => {}
        }
        if let Some(all) = self.folder.parent() {
            // the last one removes it
            let _in_use = std::fs::remove_dir(all);
        }
    }
}

impl Ways {
    fn bind(
        &mut self,
        folder: &Path,
        name: String,
        port: u16,
    ) -> Result<UnixListener, NetworkError> {
        let path = folder.join(&name);
        let listener = bind_private(&path)
            .map_err(|source| NetworkError::io("make the socket", &path, source))?;
        self.sockets.push((path, name.clone()));
        self.forwards.push((port, name));
        Ok(listener)
    }
}

/// Certificates are loaded only for a server that needs them: a machine may have none.
fn make_endpoint(
    plan: &EndpointPlan,
    upstream: Option<&Upstream>,
    limits: Limits,
) -> Result<Endpoint, NetworkError> {
    let tls = if plan.base_url.starts_with("https:") {
        Tls::system()
    } else {
        Tls::with_roots([])
    };
    tls.and_then(|tls| {
        Endpoint::new(
            &plan.base_url,
            plan.credentials.clone(),
            tls,
            upstream.cloned(),
            limits,
        )
    })
    .map_err(NetworkError::Endpoint)
}

/// Joins what the endpoints of a run counted.
pub(crate) fn metered(traffic: &[ModelTraffic]) -> Metered {
    let sum = |count: fn(&ModelTraffic) -> u64| -> u64 {
        traffic.iter().map(count).fold(0, u64::saturating_add)
    };
    let tokens = |count| Tokens::new(sum(count));
    Metered {
        input_tokens: tokens(|it| it.tokens.input),
        output_tokens: tokens(|it| it.tokens.output),
        cache_read_tokens: tokens(|it| it.tokens.cache_read),
        cache_creation_tokens: tokens(|it| it.tokens.cache_creation),
        requests: sum(|it| it.requests),
        uncounted: sum(|it| it.uncounted),
        failed: sum(|it| it.failed),
    }
    .bounded()
}

/// A listener that ends leaves the agent without a way out, which the agent reports in its own words.
fn report(ended: Result<(), symphony_proxy::ProxyError>) {
    if let Err(error) = ended {
        tracing::warn!(%error, "the network of the run ended");
    }
}

/// Joins what the proxy and the endpoints counted.
fn used(entries: &BTreeSet<String>, proxy: &Report, endpoints: &[Report]) -> RunNetworkUse {
    let sum = |count: fn(&Report) -> u64| -> u64 {
        count(proxy) + endpoints.iter().map(count).sum::<u64>()
    };
    let refused = proxy.refused.iter().map(|host| RefusedHost {
        host: host.host.clone(),
        port: host.port,
        count: host.count,
        why: host.why.to_string(),
        entry: host.entry.clone(),
    });
    RunNetworkUse {
        allowed: entries.iter().cloned().collect(),
        refused: refused.collect(),
        refused_others: proxy.refused_others,
        malformed: sum(|report| report.malformed),
        turned_away: sum(|report| report.turned_away),
        connections: sum(|report| report.tunnels),
        bytes_in: sum(|report| report.bytes_in),
        bytes_out: sum(|report| report.bytes_out),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;

    use symphony_core::config::{ProviderName, SandboxSettings};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, UnixStream};

    use super::super::plan::NetworkRequest;
    use super::*;

    /// A server that answers each request with all that it got.
    async fn mirror() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = vec![0; 4096];
                let count = stream.read(&mut head).await.unwrap_or(0);
                head.truncate(count);
                let text = format!(
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {count}\r\n\r\n"
                );
                let answer = [text.as_bytes(), &head].concat();
                drop(stream.write_all(&answer).await);
            }
        });
        port
    }

    async fn ask(ways: &Ways, name: &str, request: &str) -> String {
        let (socket, _) = ways.sockets.iter().find(|(_, it)| it == name).unwrap();
        let mut stream = UnixStream::connect(socket).await.unwrap();
        let request = format!("{request}\r\nHost: a.example\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn the_ways_lead_where_the_plan_says_and_the_rest_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (model, service) = (mirror().await, mirror().await);
        let settings = SandboxSettings {
            hosts: vec![format!("127.0.0.1:{service}")],
            ..SandboxSettings::default()
        };
        let environment: BTreeMap<OsString, OsString> = [
            ("ANTHROPIC_API_KEY", "secret-key".to_owned()),
            (
                "ANTHROPIC_BASE_URL",
                format!("http://127.0.0.1:{model}/api"),
            ),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let plan = NetworkPlan::new(&NetworkRequest {
            settings: &settings,
            provider: Some(ProviderName::ClaudeCli),
            environment: &environment,
            registries: &BTreeSet::new(),
            models: None,
        })
        .unwrap();
        let network = RunNetwork::start(&plan, folder.path()).unwrap();
        let ways = network.ways();
        let ports: Vec<_> = ways.forwards.iter().map(|(port, _)| *port).collect();
        assert_eq!(ports, [3128, model, service]);

        // the server has the key, and the agent does not see it
        let answer = ask(
            ways,
            &format!("endpoint-{model}.sock"),
            "GET /v1/messages HTTP/1.1",
        )
        .await;
        assert!(answer.contains("GET /api/v1/messages HTTP/1.1"), "{answer}");
        assert!(answer.contains("x-api-key: **********"), "{answer}");
        let answer = ask(ways, &format!("relay-{service}.sock"), "GET /x HTTP/1.1").await;
        assert!(answer.contains("GET /x HTTP/1.1"), "{answer}");
        let refused = ask(
            ways,
            "proxy.sock",
            &format!("CONNECT 127.0.0.1:{model} HTTP/1.1"),
        )
        .await;
        assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
        let refused = ask(ways, "proxy.sock", "CONNECT example.com:443 HTTP/1.1").await;
        assert!(
            refused.contains("add `example.com` to the key `sandbox.hosts`"),
            "{refused}"
        );

        let used = network.used();
        assert_eq!(used.allowed, [format!("127.0.0.1:{service}")]);
        assert_eq!(
            used.missing_entries(),
            [format!("127.0.0.1:{model}").as_str(), "example.com"]
        );
        assert_eq!(used.connections, 1);
        let (proxy, _) = ways.sockets.first().unwrap().clone();
        drop(network);
        tokio::task::yield_now().await;
        assert!(UnixStream::connect(proxy).await.is_err());
        assert!(!folder.path().join(FOLDER).exists());
    }

    #[tokio::test]
    async fn a_key_is_not_sent_in_plain_text_to_another_machine() {
        let folder = tempfile::tempdir().unwrap();
        let environment = [
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_BASE_URL", "http://gate.example"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let plan = NetworkPlan::new(&NetworkRequest {
            settings: &SandboxSettings::default(),
            provider: Some(ProviderName::ClaudeCli),
            environment: &environment,
            registries: &BTreeSet::new(),
            models: None,
        })
        .unwrap();
        let error = RunNetwork::start(&plan, folder.path()).unwrap_err();
        assert!(matches!(error, NetworkError::Endpoint(_)), "{error}");
    }
}
