//! The names that a server is known by. A page of another site can make its own name lead to this machine (DNS rebinding), but the
//! browser then sends that name.

/// How a browser reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Without encryption: on this machine only.
    Http,
    /// With TLS, here or at a reverse proxy.
    Https,
}

impl Scheme {
    /// Returns its name in a URL.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// The values of `Host` that are answered, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    scheme: Scheme,
    names: Vec<String>,
}

impl Hosts {
    /// Returns the names of this machine for a port, and the further ones under which a proxy or other machines reach it, written
    /// as browsers send them: with the port unless it is the scheme's own.
    pub fn new(scheme: Scheme, port: Option<u16>, further: &[String]) -> Self {
        let own = ["localhost", "127.0.0.1", "[::1]"].into_iter();
        let own = own.map(|name| match port {
            Some(port) if port != scheme.port() => format!("{name}:{port}"),
            _ => name.to_owned(),
        });
        let further = further.iter().map(|name| name.to_ascii_lowercase());
        Self {
            scheme,
            names: own.chain(further).collect(),
        }
    }

    /// Returns whether a request for this host is answered.
    pub fn allows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.names.contains(&host)
    }

    /// Returns the scheme.
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }
}

impl Scheme {
    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_are_answered() {
        let further = ["Symphony.example.org".to_owned()];
        let hosts = Hosts::new(Scheme::Http, Some(7667), &further);
        for (host, expected) in [
            ("localhost:7667", true),
            ("LOCALHOST:7667", true),
            ("127.0.0.1:7667", true),
            ("[::1]:7667", true),
            ("symphony.example.org", true),
            ("localhost", false),
            ("localhost:7668", false),
            ("0.0.0.0:7667", false),
            ("127.0.0.2:7667", false),
            ("evil.example:7667", false),
            ("localhost:7667.evil.example", false),
            ("localhost.:7667", false),
            ("symphony.example.org:7667", false),
            ("", false),
        ] {
            assert_eq!(hosts.allows(host), expected, "{host}");
        }
        assert!(Hosts::new(Scheme::Http, Some(80), &[]).allows("localhost"));
        assert!(Hosts::new(Scheme::Https, None, &[]).allows("localhost"));
    }
}
