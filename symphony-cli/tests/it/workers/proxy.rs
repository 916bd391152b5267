//! A way to the server that can fall silent: connections stay, and nothing comes back.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use symphony_core::config::{ServerAddress, ServerHost};

/// The way, on a port of its own.
pub(super) struct Proxy {
    address: String,
    is_silent: Arc<AtomicBool>,
    clients: Arc<Mutex<Vec<TcpStream>>>,
}

/// Both ends of a connection to the server.
type Ends = (Box<dyn Read + Send>, Box<dyn Write + Send>);

fn connect(server: &ServerAddress) -> Ends {
    match server.host() {
        ServerHost::Name(name) => {
            let stream = TcpStream::connect((name.as_str(), server.port())).unwrap();
            (Box::new(stream.try_clone().unwrap()), Box::new(stream))
        }
        ServerHost::Socket(folder) => {
            let path = folder.join(format!(".s.PGSQL.{}", server.port()));
            let stream = UnixStream::connect(path).unwrap();
            (Box::new(stream.try_clone().unwrap()), Box::new(stream))
        }
    }
}

impl Proxy {
    /// Opens a way to the server of an address.
    pub(super) fn before(address: &str) -> Self {
        let server = ServerAddress::parse(address).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (user, database, schema) = (server.user(), server.database(), server.schema());
        let proxy = Self {
            address: format!("postgres://{user}@127.0.0.1:{port}/{database}?schema={schema}"),
            is_silent: Arc::default(),
            clients: Arc::default(),
        };
        let (is_silent, clients) = (proxy.is_silent.clone(), proxy.clients.clone());
        // it ends with the test's process
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                clients.lock().unwrap().push(client.try_clone().unwrap());
                let (from_server, to_server) = connect(&server);
                let to_client = client.try_clone().unwrap();
                let (is_silent, never) = (is_silent.clone(), Arc::default());
                thread::spawn(move || carry(client, to_server, &never));
                thread::spawn(move || carry(from_server, to_client, &is_silent));
            }
        });
        proxy
    }

    /// Returns the address of the database by this way.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// From now on nothing comes back.
    pub(super) fn fall_silent(&self) {
        self.is_silent.store(true, Ordering::SeqCst);
    }

    /// From now on it does again, on new connections.
    pub(super) fn speak_again(&self) {
        self.is_silent.store(false, Ordering::SeqCst);
        for client in self.clients.lock().unwrap().drain(..) {
            // it may be closed already
            let _closed = client.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// Carries bytes from one end to the other, or drops them while it is silent.
fn carry(mut from: impl Read, mut to: impl Write, is_silent: &Arc<AtomicBool>) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if !is_silent.load(Ordering::SeqCst) && to.write_all(&buffer[..read]).is_err() {
            return;
        }
    }
}
