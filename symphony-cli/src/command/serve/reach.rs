//! How a served page is reached: the address that it listens on, its certificate, and its names.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::str::FromStr;
use std::time::Duration;

use symphony_web::access::Scheme;
use symphony_web::{Found, ListenError, Part, TlsError};

use crate::failure::{Exit, Stop};

/// Time for a connection to a server on this machine.
const CONNECT: Duration = Duration::from_secs(1);

/// An address, perhaps with a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListenAddress {
    pub(super) ip: IpAddr,
    pub(super) port: Option<u16>,
}

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            let port = Some(address.port());
            let ip = address.ip();
            return Ok(Self { ip, port });
        }
        let bare = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let ip = bare.map_or_else(|| text.parse(), |ip| ip.parse::<Ipv6Addr>().map(IpAddr::V6));
        match ip {
            Ok(ip) => Ok(Self { ip, port: None }),
            Err(_not_an_address) => Err(
                "it is not an address of this machine such as `192.168.1.5`, `0.0.0.0:8443` or `[::]:8443`",
            ),
        }
    }
}

/// Parses the name of a host, with a port where browsers send one.
pub(super) fn host_name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '[' | ']');
    if text.is_empty() || !text.chars().all(fits) {
        return Err("it is not a host name such as `symphony.example.org`".to_owned());
    }
    let (name, _) = split_port(text);
    if matches!(name, "0.0.0.0" | "[::]") {
        return Err(format!(
            "{name} means every address of this machine, so no browser can ask for it: give the name that people type"
        ));
    }
    Ok(text.to_owned())
}

/// Splits a host into its name and its port.
pub(super) fn split_port(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        // an IPv6 address without a port ends with a bracket
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, None),
    }
}

/// Returns the hosts as browsers send them to a server with TLS: with its port, where the person gave none.
pub(super) fn with_port(hosts: &[String], port: Option<u16>) -> Vec<String> {
    let hosts = hosts.iter().map(|host| {
        let (name, given) = split_port(host);
        Scheme::Https.host(name, given.or(port))
    });
    hosts.collect()
}

/// Returns whether something listens where the page was served last.
pub(super) fn is_served(listens: SocketAddr) -> bool {
    let ip = match listens.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    TcpStream::connect_timeout(&SocketAddr::new(ip, listens.port()), CONNECT).is_ok()
}

/// Says what to do about an address or a port that cannot be had.
pub(super) fn no_listener(error: ListenError) -> anyhow::Error {
    let kind = match &error {
        ListenError::Port { source, .. } => source.kind(),
        ListenError::Socket { .. } => return error.into(),
    };
    let hint = match kind {
        ErrorKind::AddrInUse => {
            "`symphony serve --port 0` takes a free port; if this project is served already, `symphony serve url` prints a link"
        }
        ErrorKind::PermissionDenied => "take a port of 1024 or above, such as with `--port 7667`",
        ErrorKind::AddrNotAvailable => {
            "`ip address` lists the addresses of this machine; `--listen 0.0.0.0` listens on all of them"
        }
        _ => "`symphony serve --port 0` takes a free port",
    };
    Stop::new(Exit::Failed, error.to_string()).hint(hint).into()
}

/// Says what to do about a certificate or a key that cannot be used.
pub(super) fn no_tls(error: &TlsError) -> anyhow::Error {
    let stop = Stop::new(Exit::Failed, error.to_string());
    match hint_of(error) {
        Some(hint) => stop.hint(hint).into(),
        None => stop.into(),
    }
}

fn hint_of(error: &TlsError) -> Option<String> {
    let hint = match error {
        TlsError::Unreadable { source, path, part } => match source.kind() {
            ErrorKind::NotFound => format!("check the path after {}", option(*part)),
            ErrorKind::PermissionDenied => format!(
                "run as a user who may read it, or copy it: `sudo install -m 600 -o \"$USER\" {} FILE`",
                path.display()
            ),
            _ => return None,
        },
        TlsError::NotAFile { part, .. } => format!("check the path after {}", option(*part)),
        TlsError::Missing {
            part,
            path,
            found: Found::Der,
        } => {
            let command = match part {
                Part::Certificate => "x509",
                Part::Key => "pkey",
            };
            let path = path.display();
            format!("`openssl {command} -inform der -in {path} -out FILE.pem` writes it as PEM")
        }
        TlsError::Missing {
            part: Part::Certificate,
            ..
        } => "--cert takes the certificate together with the chain to its authority, such as `fullchain.pem`".to_owned(),
        TlsError::Missing {
            part: Part::Key, ..
        } => "--key takes the private key of the certificate, such as `privkey.pem`".to_owned(),
        TlsError::Damaged { .. } => "copy the file again".to_owned(),
        TlsError::EncryptedKey { path } => format!(
            "`umask 077; openssl pkey -in {} -out FILE` asks for the password and writes the key without it",
            path.display()
        ),
        TlsError::OpenKey { path, .. } => format!("run `chmod 600 {}`", path.display()),
        TlsError::OtherKey { .. } => {
            "give the key that belongs to the certificate; the server's certificate has to come first in its file, before those \
             of authorities"
                .to_owned()
        }
        TlsError::Unusable { part: Part::Key, .. } => {
            "use an RSA key of at least 2048 bits, or an ECDSA key on P-256 or P-384".to_owned()
        }
        _ => return None,
    };
    Some(hint)
}

const fn option(part: Part) -> &'static str {
    match part {
        Part::Certificate => "--cert",
        Part::Key => "--key",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_a_port() {
        for (text, expected) in [
            ("192.168.1.5", Some(("192.168.1.5", None))),
            ("0.0.0.0:8443", Some(("0.0.0.0", Some(8443)))),
            ("::1", Some(("::1", None))),
            ("[::1]", Some(("::1", None))),
            ("[::]:8443", Some(("::", Some(8443)))),
            ("localhost", None),
            ("example.org:8443", None),
            ("192.168.1.5:", None),
            ("192.168.1.5:70000", None),
            ("[192.168.1.5]", None),
            ("", None),
        ] {
            let found = text.parse::<ListenAddress>().ok();
            let expected = expected.map(|(ip, port)| ListenAddress {
                ip: ip.parse().unwrap(),
                port,
            });
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn browsers_send_the_port_with_the_name() {
        for (host, port, expected) in [
            ("symphony.example.org", 7667, "symphony.example.org:7667"),
            ("symphony.example.org", 443, "symphony.example.org"),
            ("symphony.example.org:443", 7667, "symphony.example.org"),
            (
                "symphony.example.org:8443",
                7667,
                "symphony.example.org:8443",
            ),
            ("[fd00::5]", 7667, "[fd00::5]:7667"),
            ("[fd00::5]:8443", 7667, "[fd00::5]:8443"),
            ("192.168.1.5", 7667, "192.168.1.5:7667"),
        ] {
            let found = with_port(&[host.to_owned()], Some(port));
            assert_eq!(found, [expected], "{host} {port}");
        }
    }

    #[test]
    fn every_address_at_once_is_no_name() {
        for wrong in [
            "0.0.0.0",
            "0.0.0.0:7667",
            "[::]",
            "[::]:7667",
            "",
            "a b",
            "a/b",
        ] {
            assert!(host_name(wrong).is_err(), "{wrong}");
        }
        for good in [
            "symphony.example.org",
            "symphony.example.org:8443",
            "[fd00::5]",
        ] {
            assert_eq!(host_name(good).as_deref(), Ok(good));
        }
    }
}
