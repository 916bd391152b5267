//! Integration tests of symphony-proxy: real sockets on loopback.

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod credentials;
#[cfg(test)]
mod endpoint;
#[cfg(test)]
mod forwarding;
#[cfg(test)]
mod metering;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod prop_policy;
#[cfg(test)]
mod prop_usage;
#[cfg(test)]
mod support;
#[cfg(test)]
mod throughput;
#[cfg(test)]
mod tunnels;
#[cfg(test)]
mod upstream;
