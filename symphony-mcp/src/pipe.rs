//! `symphony mcp --socket PATH`: copies bytes between an agent's CLI and the run's socket, nothing else.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::path::Path;
use std::thread;

use crate::error::McpError;
use crate::socket::connect;

/// Bytes copied at once; a request is rarely longer.
const BUFFER_BYTES: usize = 64 * 1024;

/// Copies bytes between standard input/output and the socket until either side ends.
///
/// # Errors
/// When the socket cannot be reached.
pub fn pipe_stdio(path: &Path) -> Result<(), McpError> {
    pipe(path, io::stdin(), &mut io::stdout().lock())
}

/// Copies bytes between an input and an output and the socket until either side ends. If the input never ends, its
/// thread lives until the process exits.
///
/// # Errors
/// As [`pipe_stdio`].
pub fn pipe(
    path: &Path,
    mut input: impl Read + Send + 'static,
    output: &mut impl Write,
) -> Result<(), McpError> {
    let socket = connect(path)?;
    let mut from_agent = socket.try_clone().map_err(McpError::Transport)?;
    let mut to_agent = socket;
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            // The agent's CLI closed its side or died. Only our sending side is closed, so that open calls are still
            // answered.
            let _ended = carry(&mut input, &mut from_agent);
            let _closed = from_agent.shutdown(Shutdown::Write);
        })
        .map_err(McpError::Transport)?;
    // When the supervisor closes the socket, this process ends, even if the input is still open.
    carry(&mut to_agent, output).map_err(McpError::Transport)
}

fn carry(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0_u8; BUFFER_BYTES];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // The supervisor closed the socket while data was on its way to it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error),
        };
        let bytes = buffer.get(..read).unwrap_or_default();
        match to.write_all(bytes).and_then(|()| to.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            other => other?,
        }
    }
}
