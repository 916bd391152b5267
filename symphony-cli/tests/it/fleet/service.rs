//! A Temporal service in a network of its own, which asks all clients for a certificate of its authority: the development server has no
//! encryption, so a gate before it ends that.

use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::{Value, json};
use symphony_core::config::{TemporalAddress, TemporalSettings};
use symphony_core::id::RunId;
use symphony_temporal::{Control, DevServer, Edition, Standing};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::certificates::Authority;
use super::network::{Link, Namespace, SERVICE};
use super::placing::Placing;
use super::plan::ServiceFault;
use crate::support::until;

/// The gate's port.
const PORT: u16 = 7233;
/// The files of the server's state.
const STATE: [&str; 3] = ["temporal.db", "temporal.db-wal", "temporal.db-shm"];

/// A service, with its gate.
#[derive(Debug)]
pub(super) struct Service {
    folder: TempDir,
    namespace: Namespace,
    /// The way of its answers: the addresses that hosts have on their links to it, and the other end of its own link.
    route: [String; 2],
    server: Mutex<DevServer>,
}

impl Service {
    /// Starts it, and waits until it has its namespace.
    pub(super) fn start(edition: Edition) -> Box<dyn Placing> {
        let folder = tempfile::tempdir().unwrap();
        // what hosts send to the service comes by the test's network
        std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
        let namespace = Namespace::new();
        let [there, here] = namespace.connect(0, Link::Service);
        assert_eq!(here, SERVICE);
        let server = within(&namespace, || DevServer::start(edition, folder.path())).unwrap();
        let service = Self {
            route: ["10.79.0.0/16".to_owned(), there],
            folder,
            namespace,
            server: Mutex::new(server),
        };
        service.set_out();
        service.open_gate();
        service.until_it_answers();
        Box::new(service)
    }

    /// Sets the way of its answers, which the kernel forgets with the link.
    fn set_out(&self) {
        let [hosts, via] = &self.route;
        self.namespace.ip(&["route", "replace", hosts, "via", via]);
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Opens the gate, which ends with the test's process.
    fn open_gate(&self) {
        let authority = Authority::new();
        let write = |name: &str, text: String| std::fs::write(self.file(name), text).unwrap();
        let (leaf, key) = authority.sign(SERVICE);
        let (host, host_key) = authority.sign("host");
        write("authority.pem", authority.certificate().pem());
        write("host.pem", host.pem());
        write("host.key", host_key.serialize_pem());
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate().der().clone()).unwrap();
        let provider = Arc::new(default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![leaf.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let server = self.server().port();
        within(&self.namespace, || {
            let listener = std::net::TcpListener::bind((SERVICE, PORT)).unwrap();
            listener.set_nonblocking(true).unwrap();
            std::thread::spawn(move || let_in(listener, config, server));
        });
    }

    fn server(&self) -> MutexGuard<'_, DevServer> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it answers as it does to the control. It accepts connections before it has its namespace.
    fn until_it_answers(&self) {
        until("the service answers", || self.client()?.check().ok());
    }

    fn client(&self) -> Option<Control> {
        let settings = TemporalSettings {
            address: TemporalAddress::parse(&address()).unwrap(),
            namespace: "default".to_owned(),
            authority: Some(self.file("authority.pem")),
            certificate: Some((self.file("host.pem"), self.file("host.key"))),
            api_key: None,
        };
        Control::connect(&settings, "test").ok()
    }
}

impl Placing for Service {
    fn keys(&self) -> Value {
        json!({ "placement": "temporal", "temporal": {
            "address": address(),
            "authority": self.file("authority.pem"),
            "certificate": self.file("host.pem"),
            "key": self.file("host.key"),
        } })
    }

    fn suffer(&self, fault: &ServiceFault) {
        match fault {
            ServiceFault::Kill { away } | ServiceFault::Lose { away } => {
                self.server().kill();
                std::thread::sleep(*away);
                if matches!(fault, ServiceFault::Lose { .. }) {
                    for name in STATE {
                        // it may have none of the others
                        let _none = std::fs::remove_file(self.file(name));
                    }
                }
                within(&self.namespace, || self.server().begin()).unwrap();
            }
            ServiceFault::Cut { during } => {
                // At the service's end: at the other one the control would get an error at once, and not silence.
                self.namespace.ip(&["link", "set", "service", "down"]);
                std::thread::sleep(*during);
                self.namespace.ip(&["link", "set", "service", "up"]);
                self.set_out();
            }
        }
        self.until_it_answers();
    }

    fn left_of(&self, runs: &[String]) -> Vec<String> {
        let mut client = self.client().expect("the service answers");
        let mut standing_of = |run: &String| {
            let run = RunId::parse(run.clone()).unwrap();
            client.standing(&run).unwrap()
        };
        let standings: Vec<Standing> = runs.iter().map(&mut standing_of).collect();
        assert!(
            standings.contains(&Standing::Closed),
            "no worker got a run by the service"
        );
        let open = runs
            .iter()
            .zip(standings)
            .filter(|(_, standing)| *standing == Standing::Open);
        open.map(|(run, _)| format!("run {run} at the service"))
            .collect()
    }
}

fn address() -> String {
    format!("https://{SERVICE}:{PORT}")
}

/// Does something in a thread that sees the network of a namespace, as does all that it starts.
fn within<T: Send>(namespace: &Namespace, act: impl FnOnce() -> T + Send) -> T {
    let file = File::open(namespace.file()).unwrap();
    let enter = || {
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        act()
    };
    std::thread::scope(|scope| scope.spawn(enter).join().unwrap())
}

/// Lets those through to the server that have a certificate of the authority.
#[tokio::main(flavor = "current_thread")]
async fn let_in(listener: std::net::TcpListener, config: ServerConfig, server: u16) {
    let listener = TcpListener::from_std(listener).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    loop {
        let (client, _) = listener.accept().await.unwrap();
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // whoever has no certificate is turned away here, and all are while the server is dead
            let Ok(mut client) = acceptor.accept(client).await else {
                return;
            };
            if let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await {
                let _ended = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            }
        });
    }
}
