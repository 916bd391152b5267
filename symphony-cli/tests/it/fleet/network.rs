//! The network of a fleet: each host has a namespace with two links, one to the database and one to the hub, and each can be down.
//!
//! The database and the hub have addresses of their own in the test's namespace, so that a host reaches each by its own link only.

use std::process::{Child, Command, Stdio};

use crate::support::programs::{program, run};

/// Where the database listens.
pub(super) const DATABASE: &str = "10.77.0.1";
/// Where the hub listens.
pub(super) const HUB: &str = "10.78.0.1";

/// A link of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Link {
    Database,
    Hub,
}

impl Link {
    pub(super) const ALL: [Self; 2] = [Self::Database, Self::Hub];

    /// Returns the second number of its addresses, and the name of a host's end.
    const fn parts(self) -> (u8, &'static str) {
        match self {
            Self::Database => (77, "database"),
            Self::Hub => (78, "hub"),
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

/// The network of one host, which is there as long as the value.
#[derive(Debug)]
pub(super) struct HostNetwork {
    number: u8,
    /// Reads from a pipe of this process: it ends with it, however that ends.
    keeper: Child,
}

impl HostNetwork {
    /// Makes the network of a host, with both links up.
    pub(super) fn new(number: u8) -> Self {
        let keeper = program("unshare", &["--net", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let network = Self { number, keeper };
        network.wait_for_namespace();
        for link in Link::ALL {
            network.connect(link);
        }
        network
    }

    /// The program has its namespace once it has become `cat`.
    fn wait_for_namespace(&self) {
        let name = format!("/proc/{}/comm", self.keeper.id());
        crate::support::until("a network namespace", || {
            (std::fs::read_to_string(&name).ok()? == "cat\n").then_some(())
        });
    }

    fn connect(&self, link: Link) {
        let (part, inner) = link.parts();
        let (outer, number) = (link.outer(self.number), self.number);
        let keeper = self.keeper.id().to_string();
        let (here, there) = (
            format!("10.{part}.{number}.1"),
            format!("10.{part}.{number}.2"),
        );
        let ip = |arguments: &[&str]| run(&mut program("ip", arguments));
        ip(&[
            "link", "add", &outer, "type", "veth", "peer", "name", inner, "netns", &keeper,
        ]);
        ip(&["address", "add", &format!("{here}/30"), "dev", &outer]);
        ip(&["link", "set", &outer, "up"]);
        let inside = |arguments: &[&str]| run(self.command("ip").args(arguments));
        inside(&["address", "add", &format!("{there}/30"), "dev", inner]);
        inside(&["link", "set", "lo", "up"]);
        inside(&["link", "set", inner, "up"]);
        let target = match link {
            Link::Database => DATABASE,
            Link::Hub => HUB,
        };
        inside(&["route", "add", target, "via", &here]);
    }

    /// Cuts a link, or connects it again. While it is cut, nothing arrives, as without the cable.
    pub(super) fn set(&self, link: Link, is_up: bool) {
        let state = if is_up { "up" } else { "down" };
        let outer = link.outer(self.number);
        run(&mut program("ip", &["link", "set", &outer, state]));
    }

    /// Prepares a program that sees this network and no other one.
    pub(super) fn command(&self, name: &str) -> Command {
        let namespace = format!("--net=/proc/{}/ns/net", self.keeper.id());
        program("nsenter", &[&namespace, "--", name])
    }
}

impl Drop for HostNetwork {
    fn drop(&mut self) {
        let _gone = self.keeper.kill();
        let _gone = self.keeper.wait();
    }
}
