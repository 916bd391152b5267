//! A server, runs and waiting.

/// Makes two tests of each function: with a server that has standalone activities, and with an older one.
macro_rules! on_both_editions {
    ($($test:ident)*) => {
        mod recent {
            $(#[test]
            fn $test() {
                super::$test(symphony_temporal::Edition::Recent);
            })*
        }

        mod older {
            $(#[test]
            fn $test() {
                super::$test(symphony_temporal::Edition::Older);
            })*
        }
    };
}
pub(crate) use on_both_editions;

use std::time::{Duration, Instant};

use symphony_core::id::RunId;
use symphony_core::placement::{Lease, Pool};
use symphony_temporal::{Control, DevServer, Edition, Offers, Times};
use tempfile::TempDir;

/// A server with its folder.
pub(crate) struct Service {
    pub(crate) server: DevServer,
    _folder: TempDir,
}

impl Service {
    pub(crate) fn start(edition: Edition) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            server: DevServer::start(edition, folder.path()).unwrap(),
            _folder: folder,
        }
    }

    /// Connects once the server has its namespace, which takes a moment after it accepts connections.
    pub(crate) fn control(&self) -> Control {
        let mut control = until("the server takes a control", || {
            Control::connect(&self.server.settings(), "control").ok()
        });
        until("the server has its namespace", || control.check().ok());
        control
    }

    pub(crate) fn worker(&self, host: &str, times: Times) -> Offers {
        Offers::open(self.server.settings(), pool(), host.to_owned(), times).unwrap()
    }
}

pub(crate) fn times() -> Times {
    Lease::default().into()
}

pub(crate) fn pool() -> Pool {
    Pool::parse("linux").unwrap()
}

pub(crate) fn run(number: u32) -> RunId {
    RunId::parse(format!("018f4b7a-4f00-7000-8000-{number:012}")).unwrap()
}

pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            begun.elapsed() < Duration::from_mins(1),
            "not within a minute: {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for the next run that is offered to a worker.
pub(crate) fn offered(worker: &Offers) -> RunId {
    until("a run is offered", || worker.next()).run
}
