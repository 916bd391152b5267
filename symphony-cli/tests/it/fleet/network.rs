//! The network of a fleet: each host has a namespace with links to the database, to the hub and to a service that gives out runs, and each
//! can be down.
//!
//! The database and the hub have addresses of their own in the test's namespace, so that a host reaches each by its own link only. A
//! service has a namespace of its own, to which the test's passes on what hosts send.

use std::process::{Child, Command, Stdio};

use crate::support::programs::{program, run};

/// Where the database listens.
pub(super) const DATABASE: &str = "10.77.0.1";
/// Where the hub listens.
pub(super) const HUB: &str = "10.78.0.1";
/// Where a service that gives out runs listens: at the end of the link with the number 0.
pub(super) const SERVICE: &str = "10.79.0.2";

/// A link of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Link {
    Database,
    Hub,
    Service,
}

impl Link {
    pub(super) const ALL: [Self; 3] = [Self::Database, Self::Hub, Self::Service];

    /// Returns the second number of its addresses, and the name of a host's end.
    const fn parts(self) -> (u8, &'static str) {
        match self {
            Self::Database => (77, "database"),
            Self::Hub => (78, "hub"),
            Self::Service => (79, "service"),
        }
    }

    /// Returns the name of the test's end of a host's link.
    fn outer(self, number: u8) -> String {
        let (_, name) = self.parts();
        format!("{name}{number}")
    }
}

/// Gives the database and the hub their addresses.
pub(super) fn prepare() {
    for address in [DATABASE, HUB] {
        run(&mut program(
            "ip",
            &["address", "add", address, "dev", "lo"],
        ));
    }
}

/// A network of its own, which is there as long as the value.
#[derive(Debug)]
pub(super) struct Namespace {
    /// Reads from a pipe of this process: it ends with it, however that ends.
    keeper: Child,
}

impl Namespace {
    /// Makes it, without links.
    pub(super) fn new() -> Self {
        let keeper = program("unshare", &["--net", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let namespace = Self { keeper };
        namespace.wait_for_it();
        namespace.ip(&["link", "set", "lo", "up"]);
        namespace
    }

    /// The program has its namespace once it has become `cat`.
    fn wait_for_it(&self) {
        let name = format!("/proc/{}/comm", self.keeper.id());
        crate::support::until("a network namespace", || {
            (std::fs::read_to_string(&name).ok()? == "cat\n").then_some(())
        });
    }

    /// Returns the file that stands for it.
    pub(super) fn file(&self) -> String {
        format!("/proc/{}/ns/net", self.keeper.id())
    }

    /// Connects it with the test's, and returns the addresses of the two ends: there, and here.
    pub(super) fn connect(&self, number: u8, link: Link) -> [String; 2] {
        let (part, inner) = link.parts();
        let outer = link.outer(number);
        let keeper = self.keeper.id().to_string();
        let ends = [1, 2].map(|end| format!("10.{part}.{number}.{end}"));
        let ip = |arguments: &[&str]| run(&mut program("ip", arguments));
        ip(&[
            "link", "add", &outer, "type", "veth", "peer", "name", inner, "netns", &keeper,
        ]);
        let [there, here] = [0, 1].map(|end| format!("{}/30", ends[end]));
        ip(&["address", "add", &there, "dev", &outer]);
        ip(&["link", "set", &outer, "up"]);
        self.ip(&["address", "add", &here, "dev", inner]);
        self.ip(&["link", "set", inner, "up"]);
        ends
    }

    /// Runs `ip` in it.
    pub(super) fn ip(&self, arguments: &[&str]) {
        run(self.command("ip").args(arguments));
    }

    /// Prepares a program that sees this network and no other one.
    pub(super) fn command(&self, name: &str) -> Command {
        let namespace = format!("--net={}", self.file());
        program("nsenter", &[&namespace, "--", name])
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _gone = self.keeper.kill();
        let _gone = self.keeper.wait();
    }
}

/// The network of one host.
#[derive(Debug)]
pub(super) struct HostNetwork {
    number: u8,
    namespace: Namespace,
}

impl HostNetwork {
    /// Makes the network of a host, with all links up.
    pub(super) fn new(number: u8) -> Self {
        let namespace = Namespace::new();
        for (link, target) in Link::ALL.into_iter().zip([DATABASE, HUB, SERVICE]) {
            let [there, _here] = namespace.connect(number, link);
            namespace.ip(&["route", "add", target, "via", &there]);
        }
        Self { number, namespace }
    }

    /// Cuts a link, or connects it again. While it is cut, nothing arrives, as without the cable.
    pub(super) fn set(&self, link: Link, is_up: bool) {
        let state = if is_up { "up" } else { "down" };
        let outer = link.outer(self.number);
        run(&mut program("ip", &["link", "set", &outer, state]));
    }

    /// Prepares a program that sees this network and no other one.
    pub(super) fn command(&self, name: &str) -> Command {
        self.namespace.command(name)
    }
}
