//! What a confined process may reach, and how it is handed to `symphony confine`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use super::ConfineError;

const READ: &str = "--read";
const WRITE: &str = "--write";
const DEVICE: &str = "--device";
const PROCESSES: &str = "--processes";
const FORWARD: &str = "--forward";
const END: &str = "--";

/// What a confined process may reach. Whatever is not listed, it cannot open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// Files, and folders with all below them, that can be read and executed. One that does not exist is passed over.
    pub read: Vec<PathBuf>,
    /// Files, and folders with all below them, that can also be written. Each must exist.
    pub write: Vec<PathBuf>,
    /// Devices, and folders of them, that can be read, written and controlled. One that does not exist is passed over.
    pub devices: Vec<PathBuf>,
    /// The most processes and threads of the user in its namespace; `None` keeps the limit that is there.
    pub processes: Option<u64>,
    /// Ports that lead to sockets.
    pub forwards: Vec<Forward>,
}

/// A port of the sandbox's own loopback (`127.0.0.1`) that leads to a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// The port.
    pub port: u16,
    /// The socket, by its path inside.
    pub socket: PathBuf,
}

impl Forward {
    /// Writes it as `PORT=PATH`.
    fn text(&self) -> OsString {
        let mut text = OsString::from(format!("{}=", self.port));
        text.push(&self.socket);
        text
    }

    fn parse(text: &OsStr) -> Option<Self> {
        let bytes = text.as_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=')?;
        let (port, socket) = bytes.split_at_checked(at)?;
        let port = std::str::from_utf8(port).ok()?.parse().ok()?;
        let socket = PathBuf::from(OsString::from_vec(socket.get(1..)?.to_vec()));
        Some(Self { port, socket })
    }
}

impl Confinement {
    /// Returns the arguments of the hidden command that confine and execute a program.
    pub fn arguments(&self, program: &OsStr, arguments: &[OsString]) -> Vec<OsString> {
        let mut all = Vec::new();
        for (option, paths) in [
            (READ, &self.read),
            (WRITE, &self.write),
            (DEVICE, &self.devices),
        ] {
            for path in paths {
                all.push(option.into());
                all.push(path.into());
            }
        }
        if let Some(processes) = self.processes {
            all.push(PROCESSES.into());
            all.push(processes.to_string().into());
        }
        for forward in &self.forwards {
            all.push(FORWARD.into());
            all.push(forward.text());
        }
        all.push(END.into());
        all.push(program.into());
        all.extend(arguments.iter().cloned());
        all
    }

    /// Reads the arguments. Returns what may be reached, and the program with its arguments.
    pub(super) fn parse(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<(Self, Vec<OsString>), ConfineError> {
        let mut arguments = arguments.into_iter();
        let mut parsed = Self::default();
        while let Some(option) = arguments.next() {
            if option == END {
                return Ok((parsed, arguments.collect()));
            }
            let unexpected = || ConfineError::Argument(option.display().to_string());
            let value = arguments.next().ok_or_else(unexpected)?;
            match option.to_str() {
                Some(READ) => parsed.read.push(value.into()),
                Some(WRITE) => parsed.write.push(value.into()),
                Some(DEVICE) => parsed.devices.push(value.into()),
                Some(PROCESSES) => {
                    let number = value.to_str().and_then(|number| number.parse().ok());
                    parsed.processes = Some(number.ok_or_else(unexpected)?);
                }
                Some(FORWARD) => {
                    let forward = Forward::parse(&value).ok_or_else(unexpected)?;
                    parsed.forwards.push(forward);
                }
                _ => return Err(unexpected()),
            }
        }
        Err(ConfineError::NoProgram)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn word() -> impl Strategy<Value = OsString> {
        prop_oneof![
            vec(1_u8..=255, 0..12).prop_map(OsString::from_vec),
            Just(OsString::from(END)),
            Just(OsString::from(READ)),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            read in vec(word(), 0..4), write in vec(word(), 0..4), devices in vec(word(), 0..2),
            processes in any::<Option<u64>>(), forwards in vec((any::<u16>(), word()), 0..3),
            words in vec(word(), 1..5),
        ) {
            let confinement = Confinement {
                read: read.into_iter().map(PathBuf::from).collect(),
                write: write.into_iter().map(PathBuf::from).collect(),
                devices: devices.into_iter().map(PathBuf::from).collect(),
                processes,
                forwards: forwards
                    .into_iter()
                    .map(|(port, socket)| Forward { port, socket: socket.into() })
                    .collect(),
            };
            let (program, rest) = words.split_first().unwrap();
            let written = confinement.arguments(program, rest);
            prop_assert_eq!(Confinement::parse(written).unwrap(), (confinement, words));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for arguments in [
            &["--read"][..],
            &["--read", "/usr"],
            &["--nothing", "x", "--", "true"],
            &["--processes", "many", "--", "true"],
            &["--forward", "3128", "--", "true"],
            &["--forward", "65536=/s", "--", "true"],
            &["true"],
            &[],
        ] {
            let arguments = arguments.iter().map(OsString::from);
            assert!(Confinement::parse(arguments).is_err());
        }
    }
}
