//! The way out of a sandbox whose network is empty.
//!
//! Two kinds of listeners run outside of the sandbox, each on a unix socket: a [`Proxy`], which
//! connects to allowed hosts only, and an [`Endpoint`] for a provider's API, which adds the
//! credential. Inside, [`forward()`] leads from ports of the sandbox's loopback to these sockets.
//!
//! ```text
//! agent -> 127.0.0.1:3128 -> forward -> unix socket -> Proxy    -> allowed host
//! agent -> 127.0.0.1:PORT -> forward -> unix socket -> Endpoint -> the provider, with the key
//! ```
//!
//! The agent is not trusted: each byte that it sends is checked before it matters, every wait and
//! every list has a bound, and no name is resolved that the policy does not admit. What is decided
//! is in pure files (`address`, `host`, `policy`, `head`, `base_url`, `upstream`, `usage`). The crate
//! writes no log, so that no header can get into one; a [`Report`] says what happened.
//!
//! What it cannot prevent:
//!
//! - An allowed host is a way out: an agent can send data to it. What is inside of a tunnel is not read.
//! - A provider that returns a credential in another form (encoded, compressed, reversed, in pieces)
//!   gives it to the agent. Literal copies of at least eight bytes are overwritten.
//! - The agent can use every function of the provider's API below the base URL.
//!
//! Bounds are in [`Limits`] and in constants beside the code that they hold for. Sizes are in bytes.
//! Sources: HTTP semantics RFC 9110, HTTP/1.1 RFC 9112, URIs RFC 3986, special addresses RFC 6890,
//! connecting to several addresses RFC 8305.

mod address;
mod answer;
mod base_url;
mod counts;
mod dial;
mod endpoint;
mod entry;
mod error;
mod exchange;
mod forward;
mod head;
mod host;
mod json_walk;
mod limits;
mod listen;
mod policy;
mod pool;
mod redact;
mod report;
mod route;
mod secret;
mod server;
mod stream;
mod tls;
mod traffic;
mod upstream;
mod usage;

pub use address::{Range, closed_range};
pub use counts::{ANSWER_TOKENS_MAX, TokenUse};
pub use dial::{Resolution, Resolve, SystemResolver};
pub use endpoint::{Credential, Endpoint};
pub use error::{BaseUrlFault, ProxyError, UpstreamFault};
pub use forward::{Forward, Forwarder, forward};
pub use head::{HEAD_BYTES_MAX, HEADERS_MAX};
pub use host::{Host, HostFault, LABEL_BYTES_MAX, NAME_BYTES_MAX, Target};
pub use limits::Limits;
pub use policy::{Allowed, DEFAULT_PORTS, Decision, EntryError, EntryFault, Refusal};
pub use report::{REFUSED_MAX, Refused, Report};
pub use secret::Secret;
pub use server::Proxy;
pub use tls::Tls;
pub use traffic::{Failing, Failure, ModelTraffic};
pub use upstream::Upstream;
pub use usage::{AnswerForm, UsageReader};
