//! A proxy between the store and its server, which breaks a connection at a commit.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// What happens to the next commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// It does not reach the server.
    Before,
    /// The server stores it, and its answer is lost.
    After,
    /// It reaches the server only after the client has lost its connection, and has asked with another one.
    Late,
}

/// How long a late commit is held back, less than the server lets a transaction idle.
const LATE: Duration = Duration::from_millis(700);

/// Where the server of the tests is.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    host: String,
    port: u16,
    rest: String,
}

impl Address {
    /// Reads `key=value` pairs.
    pub(crate) fn parse(text: &str) -> Self {
        let (mut host, mut port, mut rest) = ("127.0.0.1".to_owned(), 5432, Vec::new());
        for pair in text.split_whitespace() {
            match pair.split_once('=').unwrap() {
                ("host", value) => value.clone_into(&mut host),
                ("port", value) => port = value.parse().unwrap(),
                _ => rest.push(pair),
            }
        }
        let rest = rest.join(" ");
        Self { host, port, rest }
    }

    fn connect(&self) -> Option<Wire> {
        Some(if self.host.starts_with('/') {
            Wire::Unix(UnixStream::connect(format!("{}/.s.PGSQL.{}", self.host, self.port)).ok()?)
        } else {
            Wire::Tcp(TcpStream::connect((self.host.as_str(), self.port)).ok()?)
        })
    }
}

/// A stream of either kind.
#[derive(Debug)]
enum Wire {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Wire {
    fn again(&self) -> Self {
        match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone().unwrap()),
            Self::Unix(stream) => Self::Unix(stream.try_clone().unwrap()),
        }
    }

    fn end(&self) {
        let _ended = match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buffer),
            Self::Unix(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct State {
    cuts: std::sync::Mutex<Receiver<Cut>>,
    is_open: AtomicBool,
    made: AtomicUsize,
    /// Whether the next answer of the server is lost.
    is_answer_lost: AtomicBool,
    /// Whether nothing more is let in after a cut.
    closes: AtomicBool,
}

/// A proxy, for as long as the test runs.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    rest: String,
    next: Sender<Cut>,
    state: Arc<State>,
}

impl Proxy {
    /// Opens a proxy to a server.
    pub(crate) fn open(server: &Address) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (next, cuts) = channel();
        let state = Arc::new(State {
            cuts: cuts.into(),
            is_open: true.into(),
            made: 0.into(),
            is_answer_lost: false.into(),
            closes: false.into(),
        });
        let rest = server.rest.clone();
        let (shared, server) = (Arc::clone(&state), server.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if !shared.is_open.load(Ordering::SeqCst) {
                    continue;
                }
                if let Some(upstream) = server.connect() {
                    serve(&client, &upstream, &shared);
                }
            }
        });
        Self {
            port,
            rest,
            next,
            state,
        }
    }

    /// Returns the address by which the store reaches the server through it.
    pub(crate) fn address(&self) -> String {
        format!("host=127.0.0.1 port={} {}", self.port, self.rest)
    }

    /// Breaks the connection at the next commit.
    pub(crate) fn cut(&self, cut: Cut) {
        self.next.send(cut).unwrap();
    }

    /// Breaks it, and lets no one in afterwards until [`Proxy::let_in`].
    pub(crate) fn cut_and_close(&self, cut: Cut) {
        self.state.closes.store(true, Ordering::SeqCst);
        self.cut(cut);
    }

    /// Lets connections in again.
    pub(crate) fn let_in(&self) {
        self.state.closes.store(false, Ordering::SeqCst);
        self.state.is_open.store(true, Ordering::SeqCst);
    }

    /// Returns how many connections were broken.
    pub(crate) fn made(&self) -> usize {
        self.state.made.load(Ordering::SeqCst)
    }
}

fn serve(client: &TcpStream, upstream: &Wire, state: &Arc<State>) {
    let client = Wire::Tcp(client.try_clone().unwrap());
    let (mut down, mut from_server) = (client.again(), upstream.again());
    let answers = Arc::clone(state);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 65536];
        while let Ok(read @ 1..) = from_server.read(&mut buffer) {
            if answers.is_answer_lost.swap(false, Ordering::SeqCst) {
                break;
            }
            if down.write_all(buffer.get(..read).unwrap()).is_err() {
                break;
            }
        }
        down.end();
        from_server.end();
    });
    let (mut client, mut upstream, state) = (client, upstream.again(), Arc::clone(state));
    std::thread::spawn(move || {
        while let Some(message) = next_message(&mut client) {
            let is_commit = message.starts_with(b"Q") && message.ends_with(b"COMMIT\0");
            let cut = is_commit
                .then(|| state.cuts.lock().unwrap().try_recv().ok())
                .flatten();
            if let Some(cut) = cut {
                state.made.fetch_add(1, Ordering::SeqCst);
                if state.closes.load(Ordering::SeqCst) {
                    state.is_open.store(false, Ordering::SeqCst);
                }
                match cut {
                    Cut::Before => break,
                    Cut::After => state.is_answer_lost.store(true, Ordering::SeqCst),
                    Cut::Late => {
                        client.end();
                        std::thread::sleep(LATE);
                    }
                }
            }
            if upstream.write_all(&message).is_err() {
                break;
            }
            if cut == Some(Cut::After) {
                // the other thread ends both when the answer is there
                return;
            }
        }
        client.end();
        upstream.end();
    });
}

/// Reads one message: its type, its length, the rest. The first one of a connection has no type; its length begins with a zero.
fn next_message(client: &mut Wire) -> Option<Vec<u8>> {
    let mut message = vec![0; 1];
    client.read_exact(&mut message).ok()?;
    let header = if message[0] == 0 { 3 } else { 4 };
    let start = message.len();
    message.resize(start + header, 0);
    client.read_exact(message.get_mut(start..)?).ok()?;
    let at = message.len() - 4;
    let length = u32::from_be_bytes(message.get(at..)?.try_into().ok()?);
    let start = message.len();
    message.resize(start + usize::try_from(length).ok()?.checked_sub(4)?, 0);
    client.read_exact(message.get_mut(start..)?).ok()?;
    Some(message)
}
