//! Temporal's development server, for tests with the real service.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use symphony_core::config::{TemporalAddress, TemporalSettings};

/// Which server of several is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// One with standalone activities.
    Recent,
    /// One from before there were standalone activities.
    Older,
}

impl Edition {
    /// Returns its program, which a variable names.
    fn program(self) -> io::Result<OsString> {
        let variable = match self {
            Self::Recent => "SYMPHONY_TEST_TEMPORAL",
            Self::Older => "SYMPHONY_TEST_TEMPORAL_OLDER",
        };
        std::env::var_os(variable).ok_or_else(|| {
            io::Error::other(format!("{variable} does not name a program `temporal`"))
        })
    }
}

/// How long a server may take until it answers.
const STARTS_WITHIN: Duration = Duration::from_mins(1);
/// Time between two looks at its process.
const LOOK: Duration = Duration::from_secs(1);

/// A server on a port of its own, whose state is in a file: it can be killed and started again.
///
/// When it ends by itself it is started again, as by a service manager: it gives up when a busy machine takes too long to start one of its
/// parts, and may accept connections before that.
#[derive(Debug)]
pub struct DevServer(Arc<Process>);

/// The server's process, and what it is started with.
#[derive(Debug)]
struct Process {
    edition: Edition,
    folder: PathBuf,
    port: u16,
    /// `None` while the server is to be away.
    child: Mutex<Option<Child>>,
}

impl Process {
    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::disallowed_methods, reason = "tests start a real server")]
    fn spawn(&self) -> io::Result<Child> {
        let log = File::options()
            .append(true)
            .create(true)
            .open(self.folder.join("temporal.log"))?;
        Command::new(self.edition.program()?)
            .args(["server", "start-dev", "--headless", "--ip", "127.0.0.1"])
            .args(["--log-level", "warn", "--port", &self.port.to_string()])
            .arg("--db-filename")
            .arg(self.folder.join("temporal.db"))
            .env_clear()
            .env("HOME", &self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
    }

    /// Starts it again if it ended by itself; returns whether it had.
    fn begin_if_ended(&self) -> io::Result<bool> {
        let mut child = self.child();
        let Some(begun) = child.as_mut() else {
            return Ok(false);
        };
        if begun.try_wait()?.is_none() {
            return Ok(false);
        }
        *child = Some(self.spawn()?);
        Ok(true)
    }
}

impl DevServer {
    /// Starts a server that keeps its state in a folder.
    ///
    /// # Errors
    /// When the variable names no program, or the server does not answer.
    pub fn start(edition: Edition, folder: &Path) -> io::Result<Self> {
        let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = any.local_addr()?.port();
        drop(any);
        let mut server = Self(Arc::new(Process {
            edition,
            folder: folder.to_owned(),
            port,
            child: Mutex::new(None),
        }));
        server.keep_up();
        server.begin()?;
        Ok(server)
    }

    /// Starts the server again, with what it had.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn begin(&mut self) -> io::Result<()> {
        let child = self.0.spawn()?;
        *self.0.child() = Some(child);
        let begun = Instant::now();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.0.port));
        while TcpStream::connect(address).is_err() {
            if begun.elapsed() > STARTS_WITHIN {
                self.kill();
                return Err(io::Error::other("the development server does not answer"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Starts the server again whenever it has ended by itself, until the test is over. The thread sees the network that its creator sees,
    /// as does all that it starts.
    #[expect(clippy::print_stdout, reason = "a test that fails shows what happened")]
    fn keep_up(&self) {
        let process = Arc::downgrade(&self.0);
        std::thread::spawn(move || {
            while let Some(process) = process.upgrade() {
                match process.begin_if_ended() {
                    Ok(false) => {}
                    Ok(true) => {
                        println!("the service had ended by itself, and was started again");
                    }
                    Err(error) => println!("the service had ended by itself: {error}"),
                }
                drop(process);
                std::thread::sleep(LOOK);
            }
        });
    }

    /// Ends the server as `kill -9` does.
    pub fn kill(&mut self) {
        let begun = self.0.child().take();
        if let Some(mut child) = begun {
            let _gone = child.kill();
            let _gone = child.wait();
        }
    }

    /// Does with its own program what a person may do at any time, such as `workflow cancel`, and returns what it prints.
    ///
    /// # Errors
    /// When the program cannot be started.
    #[expect(clippy::disallowed_methods, reason = "tests use the real program")]
    pub fn by_hand(&self, arguments: &[&str]) -> io::Result<Output> {
        Command::new(self.0.edition.program()?)
            .args(arguments)
            .args(["--address", &format!("127.0.0.1:{}", self.0.port)])
            .env_clear()
            .env("HOME", &self.0.folder)
            .stdin(Stdio::null())
            .output()
    }

    /// Returns its port on this machine.
    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// Returns its address.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.0.port)
    }

    /// Returns what a client needs of it.
    pub fn settings(&self) -> TemporalSettings {
        TemporalSettings {
            address: TemporalAddress::parse(&self.address()).expect("a loopback address"),
            namespace: "default".to_owned(),
            authority: None,
            certificate: None,
            api_key: None,
        }
    }
}

impl Drop for DevServer {
    fn drop(&mut self) {
        self.kill();
    }
}
