//! Handing an environment to a supervisor without making it the supervisor's own.
//!
//! The environment that a process is started with stays readable in `/proc/PID/environ` for its whole life, also for
//! the agent below it. A supervisor therefore starts with the few variables that are not secret, and gets all of them
//! in a nameless file as its standard output. It reads that file, and replaces it with its log.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::error::ProcessError;
use super::system;
use crate::environment::RUN_MARKER;

/// Marks standard output as such a file.
pub(super) const HANDED_OVER: &str = "SYMPHONY_ENVIRONMENT_HANDED_OVER";
/// How many bytes are read at most. The kernel limits the environment of a program to 6 MiB.
const BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Writes an environment into a nameless file, without the marker of the run that Symphony itself may be in.
pub(super) fn environment_file(environment: &BTreeMap<OsString, OsString>) -> io::Result<File> {
    let mut file = system::nameless_file("symphony-environment")?;
    let mut bytes = Vec::new();
    for (name, value) in environment {
        // With the marker of another run, the sweep of that run would kill this supervisor.
        if name == OsStr::new(RUN_MARKER) {
            continue;
        }
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    }
    file.write_all(&bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Returns the environment that was handed to this process, if one was. It first closes the memory of this process to
/// other processes of the user: only root may then trace it or read its memory, environment or descriptors.
///
/// # Errors
/// When what was handed over cannot be read.
pub fn adopt_environment() -> Result<Option<BTreeMap<OsString, OsString>>, ProcessError> {
    if std::env::var_os(HANDED_OVER).is_none() {
        return Ok(None);
    }
    let failed = |source: io::Error| ProcessError::System {
        action: "take over the environment",
        source,
    };
    // The memory is closed before anything is read: an agent of another run has the same user, and could read the
    // tokens from `/proc` in the moment between.
    system::close_memory().map_err(failed)?;
    let handed = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
    rustix::stdio::dup2_stdout(io::stderr()).map_err(|error| failed(error.into()))?;
    let mut bytes = Vec::new();
    File::from(handed)
        .take(BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(Some(parse(&bytes)))
}

fn parse(bytes: &[u8]) -> BTreeMap<OsString, OsString> {
    bytes
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let at = entry.iter().position(|byte| *byte == b'=')?;
            let (name, value) = entry.split_at(at);
            let value = value.get(1..)?;
            Some((
                OsString::from_vec(name.to_vec()),
                OsString::from_vec(value.to_vec()),
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_passes_whole_but_for_the_marker_of_a_run() {
        let raw = OsString::from_vec(b"/caf\xe9 = x\n".to_vec());
        let mut environment = BTreeMap::from([
            (OsString::from("A"), raw),
            (OsString::from("EMPTY"), OsString::new()),
        ]);
        let expected = environment.clone();
        environment.insert(RUN_MARKER.into(), "run-1".into());
        let mut bytes = Vec::new();
        let mut file = environment_file(&environment).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        assert_eq!(parse(&bytes), expected);
    }
}
