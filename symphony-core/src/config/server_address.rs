//! The address of a database on a server: `postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full`.
//!
//! The password has no place in it: the address is shown in messages, logs and the marker of each repository.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// How an address begins.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// The port of PostgreSQL.
const PORT: u16 = 5432;
/// The schema of the database that holds Symphony's tables, unless the address names another one.
const SCHEMA: &str = "symphony";
/// Most characters of a schema's name: PostgreSQL cuts longer ones.
const SCHEMA_CHARS_MAX: usize = 63;

/// The address of a database on a server of PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    text: String,
    user: String,
    host: ServerHost,
    port: u16,
    database: String,
    schema: String,
    is_encrypted: bool,
    root_certificate: Option<PathBuf>,
    passfile: Option<PathBuf>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerHost {
    /// A name or an IP address.
    Name(String),
    /// The folder of a Unix socket.
    Socket(PathBuf),
}

/// What is wrong with an address. No text repeats the address: it may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each text shows what its fields are")]
#[non_exhaustive]
pub enum AddressError {
    /// It would be shown in many places.
    #[error("contains a password")]
    Password,
    /// It is of another kind.
    #[error("does not begin with `postgres://`")]
    Scheme,
    /// Nothing says as whom to connect.
    #[error("names no user")]
    NoUser,
    /// Nothing says where to connect.
    #[error("names no host")]
    NoHost,
    /// Nothing says which database of the server is meant.
    #[error("names no database")]
    NoDatabase,
    /// The port is not a valid number.
    #[error("has a port that is not a number from 1 to 65535")]
    Port,
    /// A `%` is not followed by two hexadecimal digits, or they make no text.
    #[error("has an invalid `%` escape")]
    Escape,
    /// A parameter that Symphony does not know.
    #[error("has the unknown parameter `{0}`")]
    UnknownParameter(String),
    /// A parameter has a value of the wrong kind.
    #[error("has a `{name}` that is not {expected}")]
    Parameter {
        name: &'static str,
        expected: &'static str,
    },
    /// Passwords and tasks would cross the network in the clear.
    #[error("switches TLS off for a host that is not this machine")]
    Unencrypted,
}

impl ServerAddress {
    /// Returns whether a text is meant as an address, not as a path.
    pub fn is_meant(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Parses an address.
    ///
    /// # Errors
    /// When a part is missing or wrong, when it contains a password, or when it switches TLS off for another machine.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let after = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme));
        let after = after.ok_or(AddressError::Scheme)?;
        let (place, query) = after.split_once('?').unwrap_or((after, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let parameters = Parameters::parse(query)?;
        let (user, at) = match authority.rsplit_once('@') {
            Some((user, at)) => (user, at),
            None => ("", authority),
        };
        if user.contains(':') {
            return Err(AddressError::Password);
        }
        if user.is_empty() {
            return Err(AddressError::NoUser);
        }
        let (host, port) = host_and_port(at)?;
        let host = match (host, parameters.socket) {
            (Some(_), Some(_)) => return Err(NO_SOCKET),
            (None, Some(folder)) => ServerHost::Socket(folder),
            (Some(name), None) => ServerHost::Name(name),
            (None, None) => return Err(AddressError::NoHost),
        };
        let database = decoded(database)?;
        if database.is_empty() {
            return Err(AddressError::NoDatabase);
        }
        let is_encrypted = match (parameters.is_encrypted, host.is_this_machine()) {
            (Some(false), false) => return Err(AddressError::Unencrypted),
            (wanted, is_here) => wanted.unwrap_or(!is_here),
        };
        Ok(Self {
            text: text.to_owned(),
            user: decoded(user)?,
            host,
            port,
            database,
            schema: parameters.schema.unwrap_or_else(|| SCHEMA.to_owned()),
            is_encrypted,
            root_certificate: parameters.root_certificate,
            passfile: parameters.passfile,
        })
    }

    /// Returns the user that connects.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns how the server is reached.
    pub const fn host(&self) -> &ServerHost {
        &self.host
    }

    /// Returns the port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the database's name on the server.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Returns the schema with Symphony's tables.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns whether the connection is encrypted, and the server's certificate checked.
    pub const fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// Returns the file of the authorities that may have signed the server's certificate; without one those of the system.
    pub fn root_certificate(&self) -> Option<&Path> {
        self.root_certificate.as_deref()
    }

    /// Returns the file with the password, in the form of `~/.pgpass`.
    pub fn passfile(&self) -> Option<&Path> {
        self.passfile.as_deref()
    }

    /// Returns a name for a folder of this database: the same for all users and parameters, another one for each schema.
    pub fn folder_name(&self) -> String {
        let host = match &self.host {
            ServerHost::Name(name) => name.clone(),
            ServerHost::Socket(folder) => format!("local{}", folder.display()),
        };
        let whole = format!("{host}-{}-{}-{}", self.port, self.database, self.schema);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        whole
            .chars()
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect()
    }
}

impl ServerHost {
    /// Returns whether nothing leaves this machine on the way to it.
    pub fn is_this_machine(&self) -> bool {
        match self {
            Self::Socket(_) => true,
            Self::Name(name) => {
                name == "localhost"
                    || name
                        .parse::<IpAddr>()
                        .is_ok_and(|address| address.is_loopback())
            }
        }
    }
}

impl fmt::Display for ServerHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Socket(folder) => folder.display().fmt(f),
        }
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What follows the `?`.
#[derive(Default)]
struct Parameters {
    is_encrypted: Option<bool>,
    root_certificate: Option<PathBuf>,
    passfile: Option<PathBuf>,
    schema: Option<String>,
    socket: Option<PathBuf>,
}

const NO_SOCKET: AddressError = AddressError::Parameter {
    name: "host",
    expected: "the folder of a Unix socket, without another host before the `?`",
};

impl Parameters {
    fn parse(query: &str) -> Result<Self, AddressError> {
        let mut found = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value)?;
            match name {
                "password" => return Err(AddressError::Password),
                "sslmode" => found.is_encrypted = Some(is_encrypted(&value)?),
                "sslrootcert" => {
                    found.root_certificate = absolute(&value);
                    require(found.root_certificate.is_some(), "sslrootcert", PATH)?;
                }
                "passfile" => {
                    found.passfile = absolute(&value);
                    require(found.passfile.is_some(), "passfile", PATH)?;
                }
                "schema" => {
                    require(is_schema(&value), "schema", SCHEMA_EXPECTED)?;
                    found.schema = Some(value);
                }
                "host" => {
                    found.socket = absolute(&value);
                    found.socket.as_ref().ok_or(NO_SOCKET)?;
                }
                _ => return Err(AddressError::UnknownParameter(shown(name))),
            }
        }
        Ok(found)
    }
}

const PATH: &str = "an absolute path";
const SCHEMA_EXPECTED: &str =
    "a name of lower-case letters, digits and `_` that begins with a letter";

const fn require(
    is_met: bool,
    name: &'static str,
    expected: &'static str,
) -> Result<(), AddressError> {
    if is_met {
        Ok(())
    } else {
        Err(AddressError::Parameter { name, expected })
    }
}

/// Encryption without a check of the certificate does not keep out someone in between: `require` checks it as well.
fn is_encrypted(mode: &str) -> Result<bool, AddressError> {
    match mode {
        "disable" => Ok(false),
        "require" | "verify-full" => Ok(true),
        _ => Err(AddressError::Parameter {
            name: "sslmode",
            expected: "one of `verify-full`, `require` (the same here) and `disable`",
        }),
    }
}

fn absolute(text: &str) -> Option<PathBuf> {
    text.starts_with('/').then(|| PathBuf::from(text))
}

fn is_schema(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= SCHEMA_CHARS_MAX
        && !name.starts_with("pg_")
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// A name of a parameter that a message may repeat: where a `&` of a password was not escaped, a part of it would be one.
fn shown(name: &str) -> String {
    let is_word = name.len() <= 20 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    if is_word {
        name.to_owned()
    } else {
        "…".to_owned()
    }
}

/// Splits `host:port` or `[::1]:port`; either may be missing.
fn host_and_port(text: &str) -> Result<(Option<String>, u16), AddressError> {
    let (host, port) = match text.strip_prefix('[') {
        Some(bracketed) => {
            let (host, after) = bracketed.split_once(']').ok_or(AddressError::NoHost)?;
            (host, after.strip_prefix(':'))
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        None => PORT,
        Some(port) => port
            .parse()
            .ok()
            .filter(|port| *port > 0)
            .ok_or(AddressError::Port)?,
    };
    let host = decoded(host)?;
    Ok(((!host.is_empty()).then_some(host), port))
}

/// Reads `%2F` as `/`.
fn decoded(text: &str) -> Result<String, AddressError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let digits = after.get(..2).ok_or(AddressError::Escape)?;
            let digits = std::str::from_utf8(digits).map_err(|_split| AddressError::Escape)?;
            let byte = u8::from_str_radix(digits, 16).map_err(|_other| AddressError::Escape)?;
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
        }
    }
    let text = String::from_utf8(bytes).map_err(|_bytes| AddressError::Escape)?;
    if text.contains(char::is_control) {
        return Err(AddressError::Escape);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> ServerAddress {
        ServerAddress::parse(text).unwrap()
    }

    #[test]
    fn an_address_names_where_whom_and_what() {
        let address = parsed("postgres://me%40work@db.example:6000/team?schema=symphony_two");
        assert_eq!(address.user(), "me@work");
        assert_eq!(*address.host(), ServerHost::Name("db.example".into()));
        assert_eq!((address.port(), address.database()), (6000, "team"));
        assert_eq!(address.schema(), "symphony_two");
        assert_eq!(address.folder_name(), "db.example-6000-team-symphony_two");
        let socket = parsed("postgresql://me@/team?host=%2Frun%2Fpostgresql&passfile=/s/pass");
        assert_eq!(*socket.host(), ServerHost::Socket("/run/postgresql".into()));
        assert_eq!((socket.port(), socket.schema()), (5432, "symphony"));
        assert_eq!(socket.passfile(), Some(Path::new("/s/pass")));
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted() {
        for (address, is_encrypted) in [
            ("postgres://u@db.example/d", true),
            ("postgres://u@db.example/d?sslmode=require", true),
            ("postgres://u@10.0.0.1/d?sslmode=verify-full", true),
            ("postgres://u@localhost/d", false),
            ("postgres://u@127.0.0.2/d?sslmode=disable", false),
            ("postgres://u@[::1]:5433/d", false),
            ("postgres://u@127.0.0.1/d?sslmode=verify-full", true),
            ("postgres://u@/d?host=/run", false),
        ] {
            assert_eq!(parsed(address).is_encrypted(), is_encrypted, "{address}");
        }
    }

    #[test]
    fn a_wrong_address_says_why_and_repeats_no_password() {
        for (address, why) in [
            ("mysql://u@h/d", "does not begin with `postgres://`"),
            ("postgres://u:hunter2@h/d", "contains a password"),
            ("postgres://u:hunter@2@h/d", "contains a password"),
            ("postgres://u@h/d?password=hunter2", "contains a password"),
            ("postgres://h/d", "names no user"),
            ("postgres://u@/d", "names no host"),
            ("postgres://u@h", "names no database"),
            (
                "postgres://u@h:0/d",
                "has a port that is not a number from 1 to 65535",
            ),
            (
                "postgres://u@h:hunter2/d",
                "has a port that is not a number from 1 to 65535",
            ),
            ("postgres://u@h/%2", "has an invalid `%` escape"),
            ("postgres://u@h/%0a", "has an invalid `%` escape"),
            (
                "postgres://u@h/d?options=-c",
                "has the unknown parameter `options`",
            ),
            (
                "postgres://u@h/d?a&hunter2",
                "has the unknown parameter `a`",
            ),
            ("postgres://u@h/d?hunter2", "has the unknown parameter `…`"),
            (
                "postgres://u@h/d?sslmode=prefer",
                "has a `sslmode` that is not one of `verify-full`, `require` (the same here) and `disable`",
            ),
            (
                "postgres://u@h/d?sslrootcert=ca.pem",
                "has a `sslrootcert` that is not an absolute path",
            ),
            (
                "postgres://u@h/d?schema=pg_x",
                "has a `schema` that is not a name of lower-case letters, digits and `_` that begins with a letter",
            ),
            (
                "postgres://u@h/d?sslmode=disable",
                "switches TLS off for a host that is not this machine",
            ),
        ] {
            let error = ServerAddress::parse(address).unwrap_err().to_string();
            assert_eq!(error, why, "{address}");
            assert!(!error.contains("hunter2"));
        }
    }
}
