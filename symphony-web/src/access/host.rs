//! The names that a server is known by. A page of another site can make its own name lead to this machine (DNS rebinding), but the
//! browser then sends that name.
//!
//! Browsers send the cookies of a host to every port of it, so a server that an agent starts on `localhost` would get the sessions of
//! `localhost`. Pages are therefore served under a name that no other server on this machine has (`Hosts::own_name`), and sessions are
//! good only there.

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

/// What a name of the server is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Browsers sign in under it.
    Page,
    /// Every program on this machine may listen under it: it is good for tokens, which no browser adds by itself.
    Machine,
}

/// The values of `Host` that are answered, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    scheme: Scheme,
    pages: Vec<String>,
    machine: Vec<String>,
}

impl Hosts {
    /// Returns the names for browsers, written as they send them, and those of this machine for a port.
    pub fn new(scheme: Scheme, port: Option<u16>, pages: &[String]) -> Self {
        let machine = ["localhost", "127.0.0.1", "[::1]"].into_iter();
        Self {
            scheme,
            pages: pages.iter().map(|name| name.to_ascii_lowercase()).collect(),
            machine: machine.map(|name| scheme.host(name, port)).collect(),
        }
    }

    /// Returns the name that browsers take to this machine by themselves, and that pages cannot guess.
    pub fn own_name(label: &str) -> String {
        format!("symphony-{label}.localhost")
    }

    /// Returns what a request for this host may do; none where it is not answered.
    pub fn find(&self, host: &str) -> Option<Named> {
        let host = host.to_ascii_lowercase();
        if self.pages.contains(&host) {
            Some(Named::Page)
        } else {
            self.machine.contains(&host).then_some(Named::Machine)
        }
    }

    /// Returns the scheme.
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }
}

impl Scheme {
    /// Returns a host as browsers send it: with the port, unless it is the scheme's own.
    pub fn host(self, name: &str, port: Option<u16>) -> String {
        let own = match self {
            Self::Http => 80,
            Self::Https => 443,
        };
        match port {
            Some(port) if port != own => format!("{name}:{port}"),
            _ => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_are_answered_and_only_some_are_for_browsers() {
        let pages = [
            "Symphony.example.org".to_owned(),
            "symphony-k3f9a2xq.localhost:7667".to_owned(),
        ];
        let hosts = Hosts::new(Scheme::Http, Some(7667), &pages);
        for (host, expected) in [
            ("symphony.example.org", Some(Named::Page)),
            ("symphony-k3f9a2xq.localhost:7667", Some(Named::Page)),
            ("SYMPHONY-k3f9a2xq.localhost:7667", Some(Named::Page)),
            ("localhost:7667", Some(Named::Machine)),
            ("LOCALHOST:7667", Some(Named::Machine)),
            ("127.0.0.1:7667", Some(Named::Machine)),
            ("[::1]:7667", Some(Named::Machine)),
            ("symphony-k3f9a2xq.localhost", None),
            ("symphony-k3f9a2xq.localhost:7668", None),
            ("symphony-aaaaaaaa.localhost:7667", None),
            ("symphony.localhost:7667", None),
            ("localhost", None),
            ("localhost:7668", None),
            ("0.0.0.0:7667", None),
            ("127.0.0.2:7667", None),
            ("evil.example:7667", None),
            ("localhost:7667.evil.example", None),
            ("localhost.:7667", None),
            ("symphony.example.org:7667", None),
            ("", None),
        ] {
            assert_eq!(hosts.find(host), expected, "{host}");
        }
        let machine = |scheme, port| Hosts::new(scheme, port, &[]).find("localhost");
        assert_eq!(machine(Scheme::Http, Some(80)), Some(Named::Machine));
        assert_eq!(machine(Scheme::Https, None), Some(Named::Machine));
        assert_eq!(machine(Scheme::Https, Some(80)), None);
    }
}
