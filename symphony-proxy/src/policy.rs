//! The allow-list, and the decision whether a connection is made.
//!
//! Pure: what a name resolves to is a parameter. [`Allowed::admit`] comes before resolution, so
//! that a name that is not listed is never asked for, and [`Allowed::decide`] after it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::address::{Range, closed_range};
use crate::host::{Host, HostFault, Target};

/// Ports that an entry without a port opens.
pub const DEFAULT_PORTS: [u16; 2] = [443, 80];

/// The hosts, ports and addresses that a run may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Ports by name.
    names: BTreeMap<String, BTreeSet<u16>>,
    /// Ports by the parent of a wildcard: `npmjs.org` for `*.npmjs.org`.
    parents: BTreeMap<String, BTreeSet<u16>>,
    /// Single addresses, also closed ones.
    addresses: BTreeSet<SocketAddr>,
}

/// An entry of the configuration that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the entry `{entry}` is not a host: {fault}")]
pub struct EntryError {
    /// The entry as it was written.
    pub entry: String,
    /// What is wrong with it.
    pub fault: EntryFault,
}

/// Says what is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryFault {
    /// The host or the port.
    #[error(transparent)]
    Host(#[from] HostFault),
    /// `*` alone or `*.org`: that is nearly everything.
    #[error("its wildcard is too wide; expected at least two labels after `*.`")]
    WideWildcard,
    /// A `*` that is not the whole first label.
    #[error("a wildcard is the whole first label (`*.example.com`)")]
    WildcardPlace,
    /// An address opens one port.
    #[error("an address needs a port (`10.0.0.5:8080`, `[fd00::5]:8080`)")]
    AddressWithoutPort,
    /// An IPv6 address without brackets.
    #[error("an IPv6 address is written in brackets (`[fd00::5]:8080`)")]
    BareIpv6,
    /// `localhost` in a sandbox is the sandbox.
    #[error(
        "`localhost` is the sandbox itself; expected the address of the host's service with its port"
    )]
    LocalName,
    /// An address that no service has, or that means another one.
    #[error("a service cannot have an address of the kind `{0}`")]
    NoService(Range),
}

/// What happens to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Connect to the first of these that answers, and to no other address. Never empty.
    Connect(Vec<SocketAddr>),
    /// Do not connect.
    Refuse(Refusal),
}

/// Why a connection was refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Refusal {
    /// No entry names the host.
    HostNotListed,
    /// The host is listed for other ports.
    PortNotListed {
        /// The ports that are listed.
        listed: Vec<u16>,
    },
    /// The address is not on the public internet and has no entry of its own.
    ClosedAddress {
        /// The first such address.
        address: IpAddr,
        /// What kind of address it is.
        range: Range,
    },
    /// The name has no address.
    NoAddress,
    /// The address belongs to the machine that the proxy runs on.
    OwnAddress {
        /// The address.
        address: IpAddr,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostNotListed => f.write_str("the host is not on the list of allowed hosts"),
            Self::PortNotListed { listed } => {
                let ports: Vec<String> = listed.iter().map(u16::to_string).collect();
                write!(f, "the host is allowed on port {} only", ports.join(", "))
            }
            Self::ClosedAddress { address, range } => write!(
                f,
                "the host's address {address} is a {range} address, which needs an entry of its own"
            ),
            Self::NoAddress => f.write_str("the host has no address"),
            Self::OwnAddress { address } => write!(
                f,
                "the host's address {address} belongs to this machine and needs an entry of its own"
            ),
        }
    }
}

impl Allowed {
    /// Reads entries: `name`, `*.name`, either with `:port`, `IPv4:port`, `[IPv6]:port`.
    ///
    /// A wildcard covers all names below, and not the name itself. Without a port,
    /// [`DEFAULT_PORTS`] are open.
    ///
    /// # Errors
    ///
    /// Every entry that is not understood.
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, Vec<EntryError>> {
        let mut allowed = Self::default();
        let mut faults = Vec::new();
        for entry in entries {
            if let Err(fault) = allowed.add(entry) {
                let entry = entry.to_owned();
                faults.push(EntryError { entry, fault });
            }
        }
        if faults.is_empty() {
            Ok(allowed)
        } else {
            Err(faults)
        }
    }

    /// Opens the address of a model server on this machine, which the caller took from its own
    /// configuration.
    #[must_use]
    pub fn with_model_server(mut self, address: SocketAddr) -> Self {
        self.addresses.insert(address);
        self
    }

    fn add(&mut self, entry: &str) -> Result<(), EntryFault> {
        if entry.matches(':').count() > 1 && !entry.contains(['[', '/', '@']) {
            return Err(EntryFault::BareIpv6);
        }
        if let Some(parent) = entry.strip_prefix("*.") {
            let (name, ports) = name_and_ports(parent)?;
            if !name.contains('.') {
                return Err(EntryFault::WideWildcard);
            }
            self.parents.entry(name).or_default().extend(ports);
            return Ok(());
        }
        if entry == "*" || entry.starts_with("*:") {
            return Err(EntryFault::WideWildcard);
        }
        if entry.contains('*') {
            return Err(EntryFault::WildcardPlace);
        }
        if let Ok(Target {
            host: Host::Address(address),
            port,
        }) = Target::parse(entry)
        {
            self.addresses
                .insert(SocketAddr::new(service(address)?, port));
            return Ok(());
        }
        let (name, ports) = name_and_ports(entry)?;
        self.names.entry(name).or_default().extend(ports);
        Ok(())
    }

    /// Checks a target before its name is resolved.
    ///
    /// # Errors
    ///
    /// The reason why no answer of the DNS could open it.
    pub fn admit(&self, target: &Target) -> Result<(), Refusal> {
        let name = match &target.host {
            Host::Address(address) => return self.admit_address(*address, target.port),
            Host::Name(name) => name,
        };
        let ports = self.ports(name);
        if ports.contains(&target.port) {
            return Ok(());
        }
        if ports.is_empty() {
            return Err(Refusal::HostNotListed);
        }
        let listed = ports.into_iter().collect();
        Err(Refusal::PortNotListed { listed })
    }

    /// Decides which of the addresses that a target resolved to may be connected to.
    ///
    /// For a target that is an address itself, `addresses` is not used.
    pub fn decide(&self, target: &Target, addresses: &[IpAddr]) -> Decision {
        if let Err(refusal) = self.admit(target) {
            return Decision::Refuse(refusal);
        }
        if let Host::Address(address) = target.host {
            return Decision::Connect(vec![SocketAddr::new(address, target.port)]);
        }
        let mut open = Vec::new();
        let mut closed = None;
        for address in addresses {
            let place = SocketAddr::new(*address, target.port);
            match closed_range(*address) {
                Some(range) if !self.is_explicit(place) => {
                    let address = *address;
                    closed.get_or_insert(Refusal::ClosedAddress { address, range });
                }
                _ if open.contains(&place) => {}
                _ => open.push(place),
            }
        }
        if open.is_empty() {
            return Decision::Refuse(closed.unwrap_or(Refusal::NoAddress));
        }
        Decision::Connect(open)
    }

    /// Says whether an address has an entry of its own.
    pub fn is_explicit(&self, place: SocketAddr) -> bool {
        self.addresses.contains(&place)
    }

    fn admit_address(&self, address: IpAddr, port: u16) -> Result<(), Refusal> {
        if self.is_explicit(SocketAddr::new(address, port)) {
            return Ok(());
        }
        match closed_range(address) {
            Some(range) => Err(Refusal::ClosedAddress { address, range }),
            None => Err(Refusal::HostNotListed),
        }
    }

    /// Returns the ports that all entries for a name open.
    fn ports(&self, name: &str) -> BTreeSet<u16> {
        let mut ports = self.names.get(name).cloned().unwrap_or_default();
        let mut rest = name;
        while let Some((_, parent)) = rest.split_once('.') {
            ports.extend(self.parents.get(parent).into_iter().flatten());
            rest = parent;
        }
        ports
    }
}

/// Reads a name with the ports that it opens.
fn name_and_ports(text: &str) -> Result<(String, Vec<u16>), EntryFault> {
    let (target, ports) = match Target::parse(text) {
        Ok(target) => {
            let ports = vec![target.port];
            (target.host, ports)
        }
        Err(HostFault::NoPort) => (Host::parse(text)?, DEFAULT_PORTS.to_vec()),
        Err(fault) => return Err(fault.into()),
    };
    match target {
        Host::Address(_) => Err(EntryFault::AddressWithoutPort),
        Host::Name(name) if name == "localhost" || name.ends_with(".localhost") => {
            Err(EntryFault::LocalName)
        }
        Host::Name(name) => Ok((name, ports)),
    }
}

/// Refuses addresses that reach another service than they say.
fn service(address: IpAddr) -> Result<IpAddr, EntryFault> {
    match closed_range(address) {
        Some(range @ (Range::Unspecified | Range::Multicast | Range::EmbeddedIpv4)) => {
            Err(EntryFault::NoService(range))
        }
        _ => Ok(address),
    }
}

#[cfg(test)]
mod tests;
