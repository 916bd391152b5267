//! Integration tests of symphony-proxy: real sockets on loopback.

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod prop_policy;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tunnels;
