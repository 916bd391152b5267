//! The Temporal service that gives runs out to workers: its address, and what proves who asks.

use std::net::IpAddr;
use std::path::PathBuf;

/// Where a service is, and what proves who asks and who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporalSettings {
    /// Its address.
    pub address: TemporalAddress,
    /// The namespace in it.
    pub namespace: String,
    /// The file of the authority that signed its certificate; `None` for those that the system trusts.
    pub authority: Option<PathBuf>,
    /// The files of the certificate and the key of whoever asks.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The file of a key for its interface, such as one of Temporal Cloud.
    pub api_key: Option<PathBuf>,
}

/// The address of a service: `https://HOST:PORT`, or `http://HOST:PORT` on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporalAddress {
    text: String,
    is_encrypted: bool,
}

impl TemporalAddress {
    /// What an address looks like.
    pub(super) const EXPECTED: &'static str = "the address of a Temporal service (`https://temporal.example:7233`; `http://` only for one on this machine)";

    /// Parses an address. `http` is for this machine alone, since whoever overhears a worker could take its runs. `None` for what is not an address, or has
    /// a user, a password or a path in it.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let host = host_of(authority)?;
        let is_encrypted = match scheme {
            "https" => true,
            "http" if is_this_machine(host) => false,
            _ => return None,
        };
        Some(Self {
            text: format!("{scheme}://{authority}"),
            is_encrypted,
        })
    }

    /// Returns the address as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the connection is encrypted.
    pub const fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }
}

/// Returns the host of `host`, `host:port` or `[address]:port`.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, after) = rest.split_once(']')?;
            let port = after.strip_prefix(':');
            if !after.is_empty() && port.is_none() {
                return None;
            }
            address.parse::<IpAddr>().ok()?;
            (address, port)
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    let is_name = !host.is_empty()
        && !host.starts_with(['-', '.'])
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
    (is_port && is_name).then_some(host)
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_encrypted_unless_it_is_of_this_machine() {
        for (text, expected) in [
            ("https://temporal.example:7233", Some(true)),
            ("https://ns.acct.tmprl.cloud:7233/", Some(true)),
            ("https://temporal.example", Some(true)),
            ("https://10.0.0.7:7233", Some(true)),
            ("https://[fd00::7]:7233", Some(true)),
            ("http://localhost:7233", Some(false)),
            ("http://127.0.0.1:7233", Some(false)),
            ("http://[::1]:7233", Some(false)),
            ("http://temporal.example:7233", None),
            ("http://10.0.0.7:7233", None),
            ("http://localhost.example:7233", None),
            ("http://127.0.0.1.example:7233", None),
            ("temporal.example:7233", None),
            ("https://", None),
            ("https://:7233", None),
            ("https://temporal.example:", None),
            ("https://temporal.example:0", None),
            ("https://temporal.example:70000", None),
            ("https://temporal.example:7233:1", None),
            ("https://user:secret@temporal.example:7233", None),
            ("https://temporal.example:7233/path", None),
            ("https://temporal.example:7233?x", None),
            ("https://two words:7233", None),
            ("https://[::1", None),
            ("https://[::1]7233", None),
            ("https://[temporal]:7233", None),
            ("grpc://temporal.example:7233", None),
            ("", None),
        ] {
            let found = TemporalAddress::parse(text).map(|address| address.is_encrypted());
            assert_eq!(found, expected, "{text}");
        }
        let address = TemporalAddress::parse("https://temporal.example:7233/").unwrap();
        assert_eq!(address.as_str(), "https://temporal.example:7233");
    }
}
