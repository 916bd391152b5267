//! TLS to a server, through a program in front of the tests' server that speaks it with a certificate of its own authority.

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use symphony_core::config::{ServerAddress, ServerHost};
use symphony_store::{Store, StoreError};
use tokio::net::UnixStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::plain_client::PlainClient;
use crate::postgres::server::Server;
use crate::server::{address, schema};

/// An authority, and what a server shows that it signed.
struct Signed {
    authority: String,
    config: Arc<ServerConfig>,
    /// The certificate and its key, as files have them.
    pem: [String; 2],
}

fn signed(name: &str) -> Signed {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let root = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], secret)
        .unwrap();
    Signed {
        authority: root,
        config: Arc::new(config),
        pem: [leaf.pem(), key.serialize_pem()],
    }
}

/// Listens with TLS, and passes everything on to the tests' server; returns its port.
fn in_front(config: Arc<ServerConfig>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let behind = address("");
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let (config, behind) = (Arc::clone(&config), behind.clone());
            std::thread::spawn(move || pass_on(client, config, &behind));
        }
    });
    port
}

fn pass_on(mut client: TcpStream, config: Arc<ServerConfig>, behind: &ServerAddress) {
    // the client asks for TLS before it begins with it (PostgreSQL's manual, "SSL Session Encryption")
    let mut question = [0; 8];
    client.read_exact(&mut question).unwrap();
    client.write_all(b"S").unwrap();
    client.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = tokio::net::TcpStream::from_std(client).unwrap();
        let Ok(mut client) = TlsAcceptor::from(config).accept(client).await else {
            return; // it does not trust the certificate
        };
        let _closed = match behind.host() {
            ServerHost::Name(name) => {
                let place = (name.as_str(), behind.port());
                let mut server = tokio::net::TcpStream::connect(place).await.unwrap();
                tokio::io::copy_bidirectional(&mut client, &mut server).await
            }
            ServerHost::Socket(folder) => {
                let place = folder.join(format!(".s.PGSQL.{}", behind.port()));
                let mut server = UnixStream::connect(place).await.unwrap();
                tokio::io::copy_bidirectional(&mut client, &mut server).await
            }
        };
    });
}

fn encrypted(port: u16, root: &std::path::Path) -> ServerAddress {
    let plain = address("");
    ServerAddress::parse(&format!(
        "postgres://{}@127.0.0.1:{port}/{}?sslmode=verify-full&sslrootcert={}&schema={}",
        plain.user(),
        plain.database(),
        root.display(),
        schema()
    ))
    .unwrap()
}

fn reason(address: &ServerAddress) -> String {
    match Store::open_on(address) {
        Err(StoreError::Server { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_certificate_of_the_named_authority_and_for_the_host_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let right = signed("127.0.0.1");
    let root = folder.path().join("root.pem");
    std::fs::write(&root, &right.authority).unwrap();
    let port = in_front(right.config);
    let address = encrypted(port, &root);
    let mut store = Store::create_on(&address).unwrap();
    crate::support::add_project(&mut store);
    assert_eq!(store.projects().unwrap().len(), 1);

    let other = folder.path().join("other.pem");
    std::fs::write(&other, signed("127.0.0.1").authority).unwrap();
    let unknown = reason(&encrypted(port, &other));
    assert!(
        unknown.contains("invalid peer certificate") && unknown.contains("`sslrootcert=FILE`"),
        "{unknown}"
    );

    let elsewhere = signed("db.example");
    std::fs::write(&root, &elsewhere.authority).unwrap();
    let not_for = reason(&encrypted(in_front(elsewhere.config), &root));
    assert!(not_for.contains("not valid for name"), "{not_for}");

    std::fs::write(&root, "none").unwrap();
    let invalid = reason(&encrypted(port, &root));
    assert!(invalid.contains("has no certificate"), "{invalid}");
}

#[test]
fn a_server_without_tls_is_refused_where_tls_is_wanted() {
    // asked for TLS, it answers that it has none
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut question = [0; 8];
        client.read_exact(&mut question).unwrap();
        client.write_all(b"N").unwrap();
        client.read_to_end(&mut Vec::new()).unwrap_or_default()
    });
    let text = format!("postgres://me@127.0.0.1:{port}/d?sslmode=verify-full");
    let refused = reason(&ServerAddress::parse(&text).unwrap());
    assert!(refused.starts_with("the server offers no TLS"), "{refused}");
    assert_eq!(server.join().unwrap(), 0, "nothing is sent without TLS");
}

#[test]
fn a_server_of_its_own_checks_the_password_over_tls() {
    let Some(mut server) = Server::start("") else {
        return;
    };
    let maker = Store::connect(&server.address(), "made").unwrap();
    drop(maker);
    let role = "CREATE ROLE over_tls LOGIN SUPERUSER PASSWORD 'a pass'";
    let plain: tokio_postgres::Config = server.address().parse().unwrap();
    let client = PlainClient::in_schema(&plain, "made");
    client.batch_execute(role).unwrap();
    drop(client);
    server.stop();
    let right = signed("127.0.0.1");
    let [certificate, key] = &right.pem;
    let certificate = server.write("own.crt", certificate);
    let key = server.write("own.key", key);
    server.write(
        "pg_hba.conf",
        "local all all trust\nhostssl all over_tls 127.0.0.1/32 scram-sha-256\n",
    );
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    server.set(&format!(
        "-c listen_addresses=127.0.0.1 -p {port} -c ssl=on -c ssl_cert_file={} -c ssl_key_file={}",
        certificate.display(),
        key.display()
    ));
    server.begin();
    let folder = tempfile::tempdir().unwrap();
    let [root, passfile] = ["root.pem", "pass"].map(|name| folder.path().join(name));
    std::fs::write(&root, &right.authority).unwrap();
    let connect = |password: &str, more: &str| {
        std::fs::write(
            &passfile,
            format!("127.0.0.1:{port}:*:over_tls:{password}\n"),
        )
        .unwrap();
        std::fs::set_permissions(&passfile, Permissions::from_mode(0o600)).unwrap();
        let address = format!(
            "postgres://over_tls@127.0.0.1:{port}/postgres?schema=own&passfile={}{more}",
            passfile.display()
        );
        Store::create_on(&ServerAddress::parse(&address).unwrap())
    };
    let encrypted = format!("&sslmode=verify-full&sslrootcert={}", root.display());
    let store = connect("a pass", &encrypted).unwrap();
    assert!(store.server_facts().unwrap().unwrap().is_encrypted);
    let wrong = connect("another", &encrypted).unwrap_err().to_string();
    assert!(wrong.contains("password authentication failed"), "{wrong}");
    let plain = connect("a pass", "").unwrap_err().to_string();
    assert!(plain.contains("no pg_hba.conf entry"), "{plain}");
}
