//! How an app-server is spoken to: in lines over its own input and output, or by WebSocket (RFC 6455) where it runs already. Then the
//! command is `codex app-server proxy`, which passes bytes on to its socket, and each text frame is a message.

use std::sync::{Arc, OnceLock};

use futures_util::{SinkExt as _, StreamExt as _};
use symphony_runner::InputWriter;
use symphony_runner::process::Agent;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::io::{DuplexStream, duplex, join};
use tokio_tungstenite::client_async_with_config;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};

/// Bytes that wait on each way.
const BUFFER_BYTES: usize = 64 * 1024;
/// Where the app-server answers. The name of the host means nothing to it.
const ADDRESS: &str = "ws://localhost/";

/// Returns whether a command starts the proxy: `app-server proxy`, as words.
fn is_proxy(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    words.windows(2).any(|pair| pair == ["app-server", "proxy"])
}

/// The ends at which an app-server is spoken to in lines.
pub(super) struct Connection {
    /// What it says.
    pub(super) lines: Option<Box<dyn AsyncRead + Send + Unpin>>,
    /// Where lines for it are written.
    pub(super) writer: Option<InputWriter>,
    /// What was wrong with the WebSocket; `None` where the app-server belongs to this attempt.
    pub(super) shared: Option<Arc<OnceLock<String>>>,
}

impl Connection {
    /// Takes the output and input of the process that a command started.
    pub(super) fn new(agent: &mut Agent, command: &str, message_bytes_max: usize) -> Self {
        match (agent.take_stdout(), agent.take_stdin()) {
            (Some(output), Some(input)) if is_proxy(command) => {
                Self::by_websocket(join(output, input), message_bytes_max)
            }
            (output, input) => Self {
                lines: output.map(|output| Box::new(output) as Box<_>),
                writer: input.map(InputWriter::new),
                shared: None,
            },
        }
    }

    /// Speaks WebSocket over a stream, and lines on this side.
    fn by_websocket(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        message_bytes_max: usize,
    ) -> Self {
        let (lines, mut received) = duplex(BUFFER_BYTES);
        let (writer, to_send) = duplex(BUFFER_BYTES);
        let fault = Arc::new(OnceLock::new());
        let noted = Arc::clone(&fault);
        tokio::spawn(async move {
            let carried = carry(stream, &mut received, to_send, message_bytes_max).await;
            if let Err(error) = carried {
                let _is_first = noted.set(error.to_string());
            }
        });
        Self {
            lines: Some(Box::new(lines)),
            writer: Some(InputWriter::new(writer)),
            shared: Some(fault),
        }
    }
}

async fn carry(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    received: &mut DuplexStream,
    to_send: DuplexStream,
    message_bytes_max: usize,
) -> Result<(), Error> {
    let limits = WebSocketConfig::default()
        .max_message_size(Some(message_bytes_max))
        .max_frame_size(Some(message_bytes_max));
    let (mut socket, _answer) = client_async_with_config(ADDRESS, stream, Some(limits)).await?;
    let mut to_send = BufReader::new(to_send).lines();
    loop {
        tokio::select! {
            line = to_send.next_line() => match line? {
                Some(line) => socket.send(Message::text(line)).await?,
                None => return socket.close(None).await,
            },
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    // a break of a line in JSON is white space
                    let line = text.replace('\n', " ") + "\n";
                    received.write_all(line.as_bytes()).await?;
                }
                Some(Ok(Message::Close(_))) | None => return Ok(()),
                // pings are answered by themselves
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_known_by_its_command() {
        for (command, expected) in [
            ("codex app-server", false),
            ("codex app-server proxy", true),
            (
                "codex app-server  proxy --sock \"$HOME/.codex/a.sock\"",
                true,
            ),
            ("ssh host codex app-server proxy --sock=/a.sock", true),
            ("codex --config 'proxy' app-server", false),
            ("codex app-server-proxy", false),
        ] {
            assert_eq!(is_proxy(command), expected, "{command}");
        }
    }
}
