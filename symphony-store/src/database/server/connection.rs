//! Connecting to a server, and what to say when that fails.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use symphony_core::config::{ServerAddress, ServerHost};
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, Error};

use super::SchemaChange;
use super::passfile::password_for;
use super::schema::{Found, look, prepare};
use crate::database::migration::SCHEMA_VERSION;
use crate::database::open::Store;
use crate::db::Connection;
use crate::db::postgres::{Client, ConnectError, Postgres, Server, Tls, is_overtaxed};
use crate::error::StoreError;

/// What the server lists its sessions as, before the schema that they use.
const APPLICATION: &str = "symphony";
/// What `tokio-postgres` reports where TLS is required and not offered. The test of TLS holds on to it.
const NO_TLS: &str = "server does not support TLS";

impl Store {
    /// Opens the database on a server.
    ///
    /// # Errors
    /// `NoAnswer` when it cannot be reached, `Server` when it refuses the user, `Empty` when it has no tables, and `NewerSchema` or `OlderSchema` when
    /// they are those of another version.
    pub fn open_on(address: &ServerAddress) -> Result<Self, StoreError> {
        let (server, client) = connect(address)?;
        let found = look(&client, address.schema());
        let found = found.map_err(|error| failed(address, &error))?;
        check(address, found)?;
        let server = Postgres::use_schema(server, client)?;
        Ok(Self {
            conn: Connection::Postgres(Box::new(server)),
            home: None,
        })
    }

    /// Opens the database on a server, and makes its tables if there are none.
    ///
    /// # Errors
    /// As [`Store::open_on`], and when the user may not make tables.
    pub fn create_on(address: &ServerAddress) -> Result<Self, StoreError> {
        match Self::open_on(address) {
            Err(StoreError::Empty { .. }) => {
                Self::prepare_on(address)?;
                Self::open_on(address)
            }
            opened => opened,
        }
    }

    /// Makes the tables on a server, or brings them up to date, and sets what the roles may do.
    ///
    /// # Errors
    /// As [`Store::open_on`], and when the user may not make or change tables.
    pub fn prepare_on(address: &ServerAddress) -> Result<SchemaChange, StoreError> {
        let (_, client) = connect(address)?;
        let (found, change) = prepare(&client.patient(), address.schema())
            .map_err(|error| failed(address, &error))?;
        match found {
            Found::Version(found) if found < SCHEMA_VERSION => {}
            Found::Nothing => {}
            found => check(address, found)?,
        }
        Ok(change)
    }
}

/// Refuses tables that this version cannot use.
fn check(address: &ServerAddress, found: Found) -> Result<(), StoreError> {
    let path = PathBuf::from(address.to_string());
    match found {
        Found::Version(SCHEMA_VERSION) => Ok(()),
        Found::Version(found) if found > SCHEMA_VERSION => Err(StoreError::NewerSchema {
            path,
            found,
            known: SCHEMA_VERSION,
        }),
        Found::Version(found) => Err(StoreError::OlderSchema {
            address: address.to_string(),
            found,
            needed: SCHEMA_VERSION,
        }),
        Found::Nothing => Err(StoreError::Empty { path }),
        Found::OfOthers => Err(StoreError::Server {
            address: address.to_string(),
            reason: not_allowed(address),
        }),
        Found::Other => Err(StoreError::Server {
            address: address.to_string(),
            reason: format!(
                "its schema `{}` has tables of another program: name another one with `schema=`",
                address.schema()
            ),
        }),
    }
}

/// Connects to a server, encrypted unless it is this machine.
pub(super) fn connect(address: &ServerAddress) -> Result<(Server, Client), StoreError> {
    let refused = |reason| StoreError::Server {
        address: address.to_string(),
        reason,
    };
    let mut config = Config::new();
    config
        .user(address.user())
        .dbname(address.database())
        .port(address.port())
        .application_name(format!("{APPLICATION} {}", address.schema()));
    match address.host() {
        ServerHost::Name(name) => config.host(name),
        ServerHost::Socket(folder) => config.host_path(folder),
    };
    if let Some(password) = password_for(address).map_err(refused)? {
        config.password(password);
    }
    let tls = if address.is_encrypted() {
        config.ssl_mode(SslMode::Require);
        Some(Tls::load(address.root_certificate()).map_err(refused)?)
    } else {
        config.ssl_mode(SslMode::Disable);
        None
    };
    let server = Server::new(&config, tls, address.schema());
    let client = server.client().map_err(|error| match error {
        ConnectError::Refused(error) => failed(address, &error),
        ConnectError::Silent => StoreError::NoAnswer {
            address: address.to_string(),
            reason: error.to_string(),
        },
        ConnectError::System(_) => refused(error.to_string()),
    })?;
    Ok((server, client))
}

/// Says why a server is of no use, and what to do.
fn failed(address: &ServerAddress, error: &Error) -> StoreError {
    let (reason, address) = (reason(address, error), address.to_string());
    let code = error.code().map(SqlState::code);
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    if is_away(code, cause.map(io::Error::kind), error.is_closed()) {
        StoreError::NoAnswer { address, reason }
    } else {
        StoreError::Server { address, reason }
    }
}

/// Decides whether a server is only away: nothing answers, it starts or stops, all its connections are taken, or it lacks time, memory or a
/// disk that answers. `code` is its own, `cause` that of the system. A certificate that is not trusted, for example, comes as invalid data.
fn is_away(code: Option<&str>, cause: Option<io::ErrorKind>, is_closed: bool) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, PermissionDenied};
    match (code, cause) {
        // PostgreSQL's manual, "PostgreSQL Error Codes": classes 08 and 57P, and too many connections
        (Some(code), _) => {
            code.starts_with("08")
                || matches!(code, "57P01" | "57P02" | "57P03" | "53300")
                || is_overtaxed(code)
        }
        (None, Some(cause)) => !matches!(cause, InvalidData | InvalidInput | PermissionDenied),
        (None, None) => is_closed,
    }
}

fn not_allowed(address: &ServerAddress) -> String {
    format!(
        "user `{user}` may not do this in the schema `{}`: ask the schema's owner to run `symphony db init` and to grant `{user}` one of the roles in docs/scale-out.md",
        address.schema(),
        user = address.user(),
    )
}

fn reason(address: &ServerAddress, error: &Error) -> String {
    let user = address.user();
    let cause = error.source().map(ToString::to_string);
    match (error.code(), cause) {
        (Some(code), Some(cause)) if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            format!("{} ({cause})", not_allowed(address))
        }
        (Some(_), Some(cause)) => cause,
        (_, Some(cause)) if cause.contains(NO_TLS) => format!(
            "the server offers no TLS, without which passwords and tasks would cross the network unencrypted: switch it on there \
             (`ssl = on`), or reach {} through a tunnel on this machine",
            address.host()
        ),
        (_, Some(cause)) if cause.contains("certificate") => {
            format!("{cause}: `sslrootcert=FILE` in the address names the authority that signed it")
        }
        (_, Some(cause)) if cause.contains("password missing") => format!(
            "the server asks for a password of `{user}`: put it into ~/.pgpass as `{}:{}:{}:{user}:PASSWORD`, with `chmod 600`",
            address.host(),
            address.port(),
            address.database()
        ),
        (_, Some(cause)) => format!("{error}: {cause}"),
        (_, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn a_server_that_is_away_differs_from_one_that_refuses() {
        for (code, cause, is_closed, expected) in [
            (None, Some(ErrorKind::ConnectionRefused), false, true),
            (None, Some(ErrorKind::HostUnreachable), false, true),
            (None, Some(ErrorKind::TimedOut), false, true),
            // the folder of a server on this machine that is stopped
            (None, Some(ErrorKind::NotFound), false, true),
            (None, Some(ErrorKind::UnexpectedEof), true, true),
            (None, None, true, true),
            (Some("57P03"), None, false, true),
            (Some("53300"), None, false, true),
            (Some("08006"), None, false, true),
            (Some("53200"), None, false, true),
            (None, Some(ErrorKind::InvalidData), false, false),
            (None, Some(ErrorKind::PermissionDenied), false, false),
            (None, None, false, false),
            (Some("28P01"), None, true, false),
            (Some("3D000"), None, false, false),
            (Some("42501"), None, false, false),
        ] {
            assert_eq!(
                is_away(code, cause, is_closed),
                expected,
                "{code:?} {cause:?}"
            );
        }
    }
}
