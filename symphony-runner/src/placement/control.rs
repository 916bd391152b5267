//! The name by which the control has runs that it took out of a pool, or away from a lost host, and the host that it is on.

use symphony_core::Timestamp;
use symphony_core::placement::{Host, NAME_CHARS_MAX};
use symphony_store::Store;

use crate::database::DatabaseRefusal;
use crate::error::RunnerError;
use crate::installation::Installation;

/// Where Linux shows the name of the host.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";
/// What the name begins with: a worker on the same machine must not take the control's runs for its own.
const PREFIX: &str = "control.";

/// Returns the name of this machine, by which others on its network may know it.
pub(crate) fn machine_name() -> String {
    match host_name() {
        Ok(name) if !name.is_empty() => name,
        Ok(_) | Err(_) => "localhost".to_owned(),
    }
}

/// Reads the name of this host, which may be empty.
///
/// # Errors
/// When Linux does not show it.
pub(crate) fn host_name() -> Result<String, RunnerError> {
    let name = std::fs::read_to_string(HOST_NAME)
        .map_err(|error| RunnerError::io("read the host's name from", HOST_NAME, error))?;
    Ok(name.trim().to_owned())
}

/// Refuses to start agents on a host where those of a server's database do not run: it cannot see that they are alive, and a tick would
/// take their runs for crashed. From then on, a claim is refused when another host has taken the database over.
pub(crate) fn take_host(installation: &Installation, store: &mut Store) -> Result<(), RunnerError> {
    if installation.config.database.server().is_none() {
        return Ok(());
    }
    let host = format!("{}:{}", host_name()?, installation.state_dir().display());
    match store.take_host(Timestamp::now(), &host)? {
        None => Ok(()),
        Some(other) => Err(DatabaseRefusal::OtherHost(other).into()),
    }
}

/// Returns the control's name as a host.
pub(crate) fn control_host() -> Host {
    named(&machine_name())
}

/// Returns whether a run is the control's: taken out of its pool, or away from its host.
pub(crate) fn is_control(host: &Host) -> bool {
    host.as_str().starts_with(PREFIX)
}

fn named(machine: &str) -> Host {
    let plain: String = machine
        .chars()
        .map(|c| match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() || "-._".contains(c) => c,
            _ => '-',
        })
        .take(NAME_CHARS_MAX - PREFIX.len())
        .collect();
    let plain = plain.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let plain = if plain.is_empty() { "host" } else { plain };
    Host::parse(format!("{PREFIX}{plain}"))
        .expect("letters and digits, and what may be between them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_a_name_that_no_worker_has() {
        for (machine, expected) in [
            ("build-7.example", "control.build-7.example"),
            ("Build_7", "control.build_7"),
            ("größe", "control.gr--e"),
            ("-x-", "control.x"),
            ("", "control.host"),
            ("ü", "control.host"),
        ] {
            let host = named(machine);
            assert_eq!(host.as_str(), expected, "{machine}");
            assert!(is_control(&host));
        }
        let longest = named(&"a".repeat(200));
        assert_eq!(longest.as_str().len(), NAME_CHARS_MAX);
    }
}
