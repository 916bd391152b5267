//! URLs of registries and model servers, read for the host that they name.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use symphony_proxy::{Host, Target};

/// The server that a URL names, and the URL without what may be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) target: Target,
    /// The URL without a user and a password.
    pub(crate) url: String,
}

impl Server {
    /// Reads an `http` or `https` URL; `None` for anything else.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let port = match scheme {
            "https" => 443,
            "http" => 80,
            _ => return None,
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        let target = Target::parse_or(host, port).ok()?;
        let url = format!("{scheme}://{host}{path}");
        Some(Self { target, url })
    }

    /// Returns the address if it is on this machine's loopback.
    pub(crate) fn loopback(&self) -> Option<SocketAddr> {
        let port = self.target.port;
        match &self.target.host {
            Host::Name(name) if name == "localhost" => {
                Some(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))
            }
            Host::Address(address) if address.is_loopback() => {
                Some(SocketAddr::new(*address, port))
            }
            _ => None,
        }
    }

    /// Returns the entry of the list of allowed hosts that opens it. An address has an entry too, and only a person may
    /// allow it.
    pub(crate) fn entry(&self) -> String {
        match (&self.target.host, self.target.port) {
            (Host::Name(name), 443) => name.clone(),
            _ => self.target.to_string(),
        }
    }

    /// Returns whether it is named by a name that the DNS resolves.
    pub(crate) fn is_named(&self) -> bool {
        matches!(&self.target.host, Host::Name(name) if name != "localhost" && !name.ends_with(".localhost"))
    }
}

/// Reads an entry of the list of allowed hosts that is an address on this machine's loopback.
pub(crate) fn loopback_entry(entry: &str) -> Option<SocketAddr> {
    let address: SocketAddr = entry.parse().ok()?;
    let is_loopback = match address.ip() {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address.is_loopback(),
    };
    is_loopback.then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_server_and_loses_its_password() {
        for (url, entry, clean) in [
            (
                "https://registry.npmjs.org/",
                "registry.npmjs.org",
                "https://registry.npmjs.org/",
            ),
            (
                " https://u:p@corp.example/simple\n",
                "corp.example",
                "https://corp.example/simple",
            ),
            (
                "https://u:p%40@corp.example:8443?x",
                "corp.example:8443",
                "https://corp.example:8443?x",
            ),
            (
                "http://corp.example",
                "corp.example:80",
                "http://corp.example",
            ),
            (
                "http://127.0.0.1:4873/",
                "127.0.0.1:4873",
                "http://127.0.0.1:4873/",
            ),
        ] {
            let server = Server::parse(url).unwrap();
            assert_eq!(
                (server.entry().as_str(), server.url.as_str()),
                (entry, clean)
            );
        }
        for url in [
            "",
            "direct",
            "off",
            "file:///x",
            "ssh://git@a/b",
            "https://",
            "https://a b/",
        ] {
            assert_eq!(Server::parse(url), None, "{url}");
        }
    }

    #[test]
    fn loopback_has_several_spellings() {
        for (url, expected) in [
            ("http://localhost:11434/v1", Some("127.0.0.1:11434")),
            ("http://127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("http://127.9.0.1:8080", Some("127.9.0.1:8080")),
            ("http://[::1]:8080", Some("[::1]:8080")),
            ("http://10.0.0.5:8080", None),
            ("https://api.example", None),
        ] {
            let found = Server::parse(url).unwrap().loopback();
            assert_eq!(found, expected.map(|text| text.parse().unwrap()), "{url}");
        }
        assert!(loopback_entry("127.0.0.1:5432").is_some());
        assert!(loopback_entry("10.0.0.5:5432").is_none());
        assert!(loopback_entry("example.com:5432").is_none());
    }
}
