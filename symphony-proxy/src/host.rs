//! Hosts and targets as they are written in a request or in the configuration, read strictly.
//!
//! Every reader on the way to a server must see the same host. So a spelling that some libraries
//! take for an address and others for a name is refused instead of guessed.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Longest name, in bytes without the trailing dot (RFC 1035, section 3.1).
pub const NAME_BYTES_MAX: usize = 253;
/// Longest label of a name, in bytes (RFC 1035, section 2.3.4).
pub const LABEL_BYTES_MAX: usize = 63;

/// A name or an address. Names are in lower case and have no trailing dot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A DNS name, for which addresses have to be found.
    Name(String),
    /// An address in its usual form.
    Address(IpAddr),
}

/// Says why a text is not a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostFault {
    /// Nothing is there.
    #[error("it is empty")]
    Empty,
    /// A name that is not ASCII looks like other names; its `xn--` form is unambiguous.
    #[error("it has characters outside of ASCII; expected its `xn--` form")]
    NotAscii,
    /// `user@host`: the part that looks like the host may not be the host.
    #[error("it has a user before the host (`@`)")]
    User,
    /// A scheme or a path.
    #[error("it is a URL; expected a host alone")]
    Url,
    /// `127.1`, `0x7f.1`, `2130706433`: libraries disagree on what these are.
    #[error("it is an address in an unusual form; expected four decimal numbers")]
    OddAddress,
    /// Brackets without an IPv6 address, or an address with a zone.
    #[error("it is not an IPv6 address in brackets")]
    Ipv6,
    /// A character that no host name has.
    #[error("it has the character {0:?}, which no host name has")]
    Character(char),
    /// An empty label, one that is too long, or one with a hyphen at an end.
    #[error(
        "a part of the name is empty, longer than {LABEL_BYTES_MAX} bytes, or has a hyphen at an end"
    )]
    Label,
    /// More than [`NAME_BYTES_MAX`] bytes.
    #[error("it is longer than {NAME_BYTES_MAX} bytes")]
    Long,
    /// No port after the host.
    #[error("it has no port")]
    NoPort,
    /// A port that is not a number from 1 to 65535.
    #[error("its port is not a number from 1 to 65535")]
    Port,
}

impl Host {
    /// Reads a host; an IPv6 address is in brackets (RFC 3986, section 3.2.2).
    ///
    /// # Errors
    ///
    /// The first [`HostFault`] that is found.
    pub fn parse(text: &str) -> Result<Self, HostFault> {
        if text.is_empty() {
            return Err(HostFault::Empty);
        }
        if !text.is_ascii() {
            return Err(HostFault::NotAscii);
        }
        if text.contains('@') {
            return Err(HostFault::User);
        }
        if text.contains('/') {
            return Err(HostFault::Url);
        }
        if let Some(rest) = text.strip_prefix('[') {
            let inner = rest.strip_suffix(']').ok_or(HostFault::Ipv6)?;
            let address: Ipv6Addr = inner.parse().or(Err(HostFault::Ipv6))?;
            return Ok(Self::Address(IpAddr::V6(address)));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(IpAddr::V4(address)));
        }
        name(text).map(Self::Name)
    }
}

/// Reads a DNS name: letters, digits, hyphens, and underscores, which some registries use.
fn name(text: &str) -> Result<String, HostFault> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some(other) = text.chars().find(|c| !is_part(*c)) {
        return Err(HostFault::Character(other));
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(HostFault::Long);
    }
    for label in text.split('.') {
        let is_length_fine = (1..=LABEL_BYTES_MAX).contains(&label.len());
        if !is_length_fine || label.starts_with('-') || label.ends_with('-') {
            return Err(HostFault::Label);
        }
    }
    if ends_in_a_number(text) {
        return Err(HostFault::OddAddress);
    }
    Ok(text.to_ascii_lowercase())
}

/// Says whether URL parsers take a name for an IPv4 address: its last label is a number, also a
/// hexadecimal one (URL Standard of the WHATWG, "ends in a number checker").
fn ends_in_a_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    last.bytes().all(|byte| byte.is_ascii_digit())
        || hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// Where a request wants to go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The host.
    pub host: Host,
    /// The TCP port, never 0.
    pub port: u16,
}

impl Target {
    /// Reads `host:port`, as `CONNECT` has it (RFC 9112, section 3.2.3).
    ///
    /// # Errors
    ///
    /// The first [`HostFault`] that is found.
    pub fn parse(text: &str) -> Result<Self, HostFault> {
        let (host, port) = split_port(text)?;
        let port = port.ok_or(HostFault::NoPort)?;
        Ok(Self { host, port })
    }

    /// Reads `host` or `host:port`.
    ///
    /// # Errors
    ///
    /// The first [`HostFault`] that is found.
    pub fn parse_or(text: &str, default_port: u16) -> Result<Self, HostFault> {
        let (host, port) = split_port(text)?;
        let port = port.unwrap_or(default_port);
        Ok(Self { host, port })
    }

    /// The name that a TLS certificate has to be for: the host without brackets.
    pub(crate) fn tls_name(&self) -> String {
        match &self.host {
            Host::Name(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Splits `host:port`; no port gives `None`.
fn split_port(text: &str) -> Result<(Host, Option<u16>), HostFault> {
    if text.contains('@') {
        return Err(HostFault::User);
    }
    if text.contains('/') {
        return Err(HostFault::Url);
    }
    // brackets hold colons of their own
    let end = text.rfind(']').map_or(0, |at| at + 1);
    let (_, rest) = text.split_at(end);
    let Some(colon) = rest.find(':') else {
        return Ok((Host::parse(text)?, None));
    };
    let (host, port) = text.split_at(end + colon);
    let host = Host::parse(host)?;
    Ok((host, Some(port_number(port.trim_start_matches(':'), port)?)))
}

/// Reads a port: decimal digits alone, since `u16::from_str` also takes `+80`.
fn port_number(digits: &str, with_colon: &str) -> Result<u16, HostFault> {
    let is_plain = with_colon.len() == digits.len() + 1
        && (1..=5).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = if is_plain { digits.parse().ok() } else { None };
    port.filter(|port| *port != 0).ok_or(HostFault::Port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_one_spelling() {
        let name = |text: &str| Ok(Host::Name(text.to_owned()));
        let address = |text: &str| Ok(Host::Address(text.parse().unwrap()));
        let long_label = "a".repeat(64);
        let long_name = "a.".repeat(127) + "aa";
        let table = [
            ("api.anthropic.com", name("api.anthropic.com")),
            ("API.Anthropic.COM.", name("api.anthropic.com")),
            ("xn--bcher-kva.example", name("xn--bcher-kva.example")),
            ("under_score.example", name("under_score.example")),
            ("3com.example", name("3com.example")),
            ("0xyz", name("0xyz")),
            ("1.2.3.4", address("1.2.3.4")),
            ("[2001:DB8::1]", address("2001:db8::1")),
            ("[::ffff:127.0.0.1]", address("::ffff:127.0.0.1")),
            ("", Err(HostFault::Empty)),
            ("bücher.example", Err(HostFault::NotAscii)),
            ("раypal.com", Err(HostFault::NotAscii)),
            ("a@b.example", Err(HostFault::User)),
            ("https://a.example", Err(HostFault::Url)),
            ("a.example/x", Err(HostFault::Url)),
            ("0x7f.1", Err(HostFault::OddAddress)),
            ("2130706433", Err(HostFault::OddAddress)),
            ("127.1", Err(HostFault::OddAddress)),
            ("0177.0.0.1", Err(HostFault::OddAddress)),
            ("127.0.0.1.", Err(HostFault::OddAddress)),
            ("0x7f000001", Err(HostFault::OddAddress)),
            ("a.0X7F", Err(HostFault::OddAddress)),
            ("a.0x", Err(HostFault::OddAddress)),
            ("1.2.3.256", Err(HostFault::OddAddress)),
            ("[fe80::1%eth0]", Err(HostFault::Ipv6)),
            ("[1.2.3.4]", Err(HostFault::Ipv6)),
            ("[::1", Err(HostFault::Ipv6)),
            ("::1", Err(HostFault::Character(':'))),
            ("a b", Err(HostFault::Character(' '))),
            ("a%2e.example", Err(HostFault::Character('%'))),
            ("a\0.example", Err(HostFault::Character('\0'))),
            ("*.a.example", Err(HostFault::Character('*'))),
            ("a..example", Err(HostFault::Label)),
            ("a.example..", Err(HostFault::Label)),
            (".", Err(HostFault::Label)),
            (".a.example", Err(HostFault::Label)),
            ("-a.example", Err(HostFault::Label)),
            (&long_label, Err(HostFault::Label)),
            (&long_name, Err(HostFault::Long)),
        ];
        for (text, expected) in table {
            assert_eq!(Host::parse(text), expected, "{text:?}");
        }
    }

    #[test]
    fn targets_have_a_port() {
        let table = [
            ("a.example:443", Ok("a.example:443")),
            ("A.example.:80", Ok("a.example:80")),
            ("[::1]:8080", Ok("[::1]:8080")),
            ("1.2.3.4:1", Ok("1.2.3.4:1")),
            ("a.example", Err(HostFault::NoPort)),
            ("[::1]", Err(HostFault::NoPort)),
            ("a.example:", Err(HostFault::Port)),
            ("a.example:0", Err(HostFault::Port)),
            ("a.example:+80", Err(HostFault::Port)),
            ("a.example:65536", Err(HostFault::Port)),
            ("a.example::80", Err(HostFault::Port)),
            ("a.example:80:80", Err(HostFault::Port)),
            ("a.example:443 HTTP", Err(HostFault::Port)),
            ("a.example:443 HTTP/1.1", Err(HostFault::Url)),
            ("a.example@evil.com:443", Err(HostFault::User)),
            ("a.example:x@evil.com:443", Err(HostFault::User)),
            ("::1:443", Err(HostFault::Empty)),
            ("[::1]x:443", Err(HostFault::Ipv6)),
            ("", Err(HostFault::Empty)),
        ];
        for (text, expected) in table {
            let found = Target::parse(text).map(|target| target.to_string());
            assert_eq!(found, expected.map(str::to_owned), "{text:?}");
        }
    }
}
