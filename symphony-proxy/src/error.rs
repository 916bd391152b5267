//! What can go wrong when the proxy is set up, by what the caller can do next.
//!
//! A failure of a single connection is an answer to the agent, not an error of this crate.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::host::HostFault;

/// A failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// Another program listens there, or the address is not one of this machine.
    #[error("failed to listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The socket cannot take connections any more.
    #[error("failed to accept a connection")]
    Accept {
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// No runtime for the forwarder.
    #[error("failed to start the forwarder to {}", socket.display())]
    Forwarder {
        /// The first socket that it should have forwarded to.
        socket: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The address of the user's own proxy is not understood.
    #[error("the address of the proxy is not valid: {fault}")]
    Upstream {
        /// What is wrong with it. The address itself may hold a password.
        fault: UpstreamFault,
    },
    /// The base URL of a provider is not understood.
    #[error("the base URL `{url}` is not valid: {fault}")]
    BaseUrl {
        /// The URL; one with a user in it is left out.
        url: String,
        /// What is wrong with it.
        fault: BaseUrlFault,
    },
    /// The credential is empty or has characters that no header can have.
    #[error("the credential is empty or has characters other than printable ASCII")]
    CredentialForm,
    /// The name of a header for a credential is not one, or is one that the proxy sets itself.
    #[error("a credential cannot be sent in the header `{name}`")]
    CredentialHeader {
        /// The name.
        name: String,
    },
    /// The system has no certificates of authorities: install them (`ca-certificates`).
    #[error("no root certificate was found ({problems} unreadable)")]
    NoRoots {
        /// How many files or certificates could not be read.
        problems: usize,
    },
    /// A root certificate that was added is not one.
    #[error("a root certificate cannot be read")]
    Root {
        /// The library's reason.
        #[source]
        source: tokio_rustls::rustls::Error,
    },
}

/// Says what is wrong with the address of the user's own proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamFault {
    /// A proxy that speaks another protocol.
    #[error("its scheme is `{0}`; expected `http`")]
    Scheme(String),
    /// The host or the port.
    #[error(transparent)]
    Host(#[from] HostFault),
    /// A path, a query or a fragment.
    #[error("it has something after the host and the port")]
    Rest,
    /// A `%` in the user or the password without two hexadecimal digits.
    #[error("its user or password has a `%` that is not an escape")]
    Escape,
}

/// Says what is wrong with a base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BaseUrlFault {
    /// A credential over plain HTTP could be read on the way.
    #[error("it is `http` to another machine; expected `https`")]
    PlainText,
    /// Neither `http` nor `https`.
    #[error("its scheme is not `https`, or `http` for a server on this machine")]
    Scheme,
    /// The host or the port.
    #[error(transparent)]
    Host(#[from] HostFault),
    /// A query, a fragment, or a path with `.` or `..`.
    #[error("it has a query, a fragment, or a path that is not plain")]
    Path,
}
