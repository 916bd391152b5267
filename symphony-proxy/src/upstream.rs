//! The user's own proxy, through which every connection goes that its exceptions do not name.

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{ProxyError, UpstreamFault};
use crate::host::{Host, Target};
use crate::secret::Secret;

/// Where the port of a proxy is not given. Programs disagree (curl: 1080); this is plain `http`.
const DEFAULT_PORT: u16 = 80;

/// A proxy for HTTP in front of the internet, with its exceptions.
#[derive(Clone)]
pub struct Upstream {
    pub(crate) target: Target,
    pub(crate) authorization: Option<Secret>,
    exceptions: Exceptions,
}

impl Upstream {
    /// Reads the values of `HTTPS_PROXY` (`http://user:password@host:port`, or `host:port`) and of
    /// `NO_PROXY`, which may be empty.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Upstream`] with what is wrong, without the address, which may hold a password.
    pub fn parse(proxy: &str, no_proxy: &str) -> Result<Self, ProxyError> {
        let exceptions = Exceptions::parse(no_proxy);
        parse_proxy(proxy)
            .map(|(target, authorization)| Self {
                target,
                authorization,
                exceptions,
            })
            .map_err(|fault| ProxyError::Upstream { fault })
    }

    /// Says whether a target is reached without the proxy.
    pub fn is_exception(&self, target: &Target) -> bool {
        self.exceptions.has(target)
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("target", &self.target)
            .field("authorization", &self.authorization)
            .finish_non_exhaustive()
    }
}

fn parse_proxy(text: &str) -> Result<(Target, Option<Secret>), UpstreamFault> {
    let rest = match text.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
        Some((scheme, _)) => return Err(UpstreamFault::Scheme(scheme.to_owned())),
        None => text,
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    // the last `@`: a password may hold one, a host may not
    let (user, host) = match rest.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, rest),
    };
    if host.contains(['/', '?', '#']) {
        return Err(UpstreamFault::Rest);
    }
    let target = Target::parse_or(host, DEFAULT_PORT)?;
    let Some(user) = user else {
        return Ok((target, None));
    };
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let mut pair = unescape(name)?;
    pair.push(b':');
    pair.extend(unescape(password)?);
    let basic = format!("Basic {}", STANDARD.encode(pair));
    let secret = Secret::new(&basic).or(Err(UpstreamFault::Escape))?;
    Ok((target, Some(secret)))
}

/// Replaces percent escapes (RFC 3986, section 2.1).
fn unescape(text: &str) -> Result<Vec<u8>, UpstreamFault> {
    let mut bytes = text.bytes();
    let mut found = Vec::with_capacity(text.len());
    let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            found.push(byte);
            continue;
        }
        let value = digit(bytes.next())
            .zip(digit(bytes.next()))
            .and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        found.push(value.ok_or(UpstreamFault::Escape)?);
    }
    Ok(found)
}

/// `NO_PROXY` as curl reads it: names with all names below, addresses, networks, `*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Exceptions {
    is_all: bool,
    names: Vec<(String, Option<u16>)>,
    networks: Vec<(IpAddr, u32, Option<u16>)>,
}

impl Exceptions {
    /// Reads a list; entries that are not understood are left out, as every program does.
    fn parse(text: &str) -> Self {
        let mut exceptions = Self::default();
        for entry in text.split([',', ' ']).filter(|entry| !entry.is_empty()) {
            exceptions.add(entry);
        }
        exceptions
    }

    fn add(&mut self, entry: &str) {
        if entry == "*" {
            self.is_all = true;
            return;
        }
        if let Some((address, bits)) = entry.split_once('/') {
            let bits = bits.parse().ok();
            let network = address.parse::<IpAddr>().ok().zip(bits);
            self.networks
                .extend(network.map(|(address, bits)| (address, bits, None)));
            return;
        }
        if let Ok(address) = entry.parse::<IpAddr>() {
            self.networks.push((address, u32::MAX, None));
            return;
        }
        let entry = entry.strip_prefix('*').unwrap_or(entry);
        let entry = entry.strip_prefix('.').unwrap_or(entry);
        let (host, port) = match Target::parse(entry) {
            Ok(target) => (Some(target.host), Some(target.port)),
            Err(_) => (Host::parse(entry).ok(), None),
        };
        match host {
            Some(Host::Name(name)) => self.names.push((name, port)),
            Some(Host::Address(address)) => self.networks.push((address, u32::MAX, port)),
            None => {}
        }
    }

    fn has(&self, target: &Target) -> bool {
        let is_port = |port: &Option<u16>| port.is_none_or(|port| port == target.port);
        self.is_all
            || match &target.host {
                Host::Name(name) => self.names.iter().any(|(known, port)| {
                    let before = name.strip_suffix(known.as_str());
                    is_port(port) && before.is_some_and(|it| it.is_empty() || it.ends_with('.'))
                }),
                Host::Address(address) => self
                    .networks
                    .iter()
                    .any(|(network, bits, port)| is_port(port) && is_in(*address, *network, *bits)),
            }
    }
}

fn is_in(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let same = match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
        _ => return false,
    };
    address == network || same >= bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HostFault;

    #[test]
    fn proxies_are_read() {
        let table = [
            ("http://proxy.example:3128", "proxy.example:3128", None),
            ("proxy.example:3128", "proxy.example:3128", None),
            ("HTTP://10.0.0.1/", "10.0.0.1:80", None),
            (
                "http://u:p%40s%3A@proxy.example:1",
                "proxy.example:1",
                Some("dTpwQHM6"),
            ),
            (
                "http://u:a@b@proxy.example:1",
                "proxy.example:1",
                Some("dTphQGI="),
            ),
        ];
        for (text, target, basic) in table {
            let upstream = Upstream::parse(text, "").unwrap();
            assert_eq!(upstream.target.to_string(), target, "{text}");
            let needle = upstream.authorization.as_ref().map(Secret::needle);
            assert_eq!(needle, basic.map(str::as_bytes), "{text}");
            assert!(!format!("{upstream:?}").contains("dTp"));
        }
        let faults = [
            (
                "socks5://a.example:1",
                UpstreamFault::Scheme("socks5".to_owned()),
            ),
            (
                "https://a.example:1",
                UpstreamFault::Scheme("https".to_owned()),
            ),
            ("http://a.example:1/x", UpstreamFault::Rest),
            ("http://u:%zz@a.example:1", UpstreamFault::Escape),
            ("http://", UpstreamFault::Host(HostFault::Empty)),
        ];
        for (text, expected) in faults {
            let error = Upstream::parse(text, "").unwrap_err();
            assert!(!format!("{error:?}{error}").contains("%zz"));
            assert!(
                matches!(error, ProxyError::Upstream { fault } if fault == expected),
                "{text}"
            );
        }
    }

    #[test]
    fn exceptions_are_suffixes_and_networks() {
        let list = "a.example,.b.example *.c.example, d.example:8080,10.0.0.0/8,::1,[fd00::1]:1,9.9.9.9/99";
        let upstream = Upstream::parse("p.example:1", list).unwrap();
        let table = [
            ("a.example:1", true),
            ("x.a.example:1", true),
            ("xa.example:1", false),
            ("b.example:1", true),
            ("x.c.example:1", true),
            ("d.example:8080", true),
            ("d.example:443", false),
            ("10.9.9.9:1", true),
            ("11.0.0.1:1", false),
            ("[::1]:5", true),
            ("[fd00::1]:1", true),
            ("[fd00::1]:2", false),
            ("9.9.9.9:1", true),
            ("9.9.9.8:1", false),
        ];
        for (target, expected) in table {
            let target = Target::parse(target).unwrap();
            assert_eq!(upstream.is_exception(&target), expected, "{target}");
        }
        let all = Upstream::parse("p.example:1", "*").unwrap();
        assert!(all.is_exception(&Target::parse("a.example:1").unwrap()));
    }
}
