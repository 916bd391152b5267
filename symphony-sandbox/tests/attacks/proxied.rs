//! The way out of a row's sandbox: a proxy that allows one service, or everything that the attacks ask for at `off`.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use symphony_proxy::{Allowed, Limits, Proxy, Resolution, Resolve};
use symphony_sandbox::{CONFINE_COMMAND, CONFINE_FAILED, Confinement, Forward, Level};
use tokio::net::UnixListener;

/// The port of the proxy in a sandbox.
pub(crate) const PORT: u16 = 3128;

/// A name that everything resolves to this machine, as a server of names under an attacker's control does.
struct Rebinding;

impl Resolve for Rebinding {
    fn resolve<'a>(&'a self, _name: &'a str) -> Resolution<'a> {
        Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
    }
}

/// Serves the proxy of a row in a thread, until this program ends. Returns the port of the service that is allowed.
///
/// `victim` is the port of the service on the machine's loopback that no agent may reach.
pub(crate) fn serve(socket: &Path, victim: u64, level: Level, secret: &'static str) -> u16 {
    let service = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = service.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        for peer in service.incoming() {
            // a peer that is gone needs no answer
            drop(peer.and_then(|mut peer| peer.write_all(secret.as_bytes())));
        }
    });
    let mut entries = vec![
        format!("allowed.example:{port}"),
        format!("127.0.0.1:{port}"),
        // a name that is allowed, and that leads to a place that is not
        format!("rebound.example:{victim}"),
    ];
    if level == Level::Off {
        entries.extend([
            format!("127.0.0.1:{victim}"),
            format!("unlisted.example:{victim}"),
            format!("allowed.example:{victim}"),
            "169.254.169.254:80".to_owned(),
        ]);
    }
    let allowed =
        Allowed::parse(entries.iter().map(String::as_str)).expect("the entries are right");
    let listener = std::os::unix::net::UnixListener::bind(socket).expect("a socket");
    listener.set_nonblocking(true).expect("it does not block");
    std::thread::spawn(move || run(allowed, listener));
    port
}

fn run(allowed: Allowed, listener: std::os::unix::net::UnixListener) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = UnixListener::from_std(listener)?;
        let limits = Limits {
            connect: Duration::from_secs(1),
            ..Limits::default()
        };
        let proxy = Proxy::with_resolver(allowed, None, limits, Arc::new(Rebinding));
        let served = proxy.serve(&listener, std::future::pending()).await;
        served.map_err(io::Error::other)
    })
}

/// Ends with 7, or with 8 when a process other than the program itself has its words, as the forwarder must not.
const ALONE: &str = "for process in /proc/[0-9]*; do
    case $process in /proc/1 | /proc/$$) continue ;; esac
    grep -qa words-of-the-program $process/cmdline && exit 8
done; exit 7";

/// Checks that a program does not start without its way out, and that its exit code is its own with one.
///
/// # Errors
/// What was found instead.
pub(crate) fn check() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let socket = folder.path().join("proxy.sock");
    let _listener =
        std::os::unix::net::UnixListener::bind(&socket).map_err(|error| error.to_string())?;
    let missing = folder.path().join("none.sock");
    let failed = i32::from(CONFINE_FAILED);
    for (forwards, expected) in [
        (vec![(PORT, &socket)], 7),
        (vec![(PORT, &socket), (PORT + 1, &socket)], 7),
        // the port is taken
        (vec![(PORT, &socket), (PORT, &socket)], failed),
        (vec![(PORT, &missing)], failed),
    ] {
        let confinement = Confinement {
            read: vec!["/".into()],
            forwards: forwards
                .iter()
                .map(|(port, socket)| Forward {
                    port: *port,
                    socket: (*socket).clone(),
                })
                .collect(),
            ..Confinement::default()
        };
        let words = ["-c", ALONE, "words-of-the-program"].map(OsString::from);
        let words = confinement.arguments("/bin/sh".as_ref(), &words);
        let output = Command::new("bwrap")
            .args([
                "--unshare-user",
                "--unshare-pid",
                "--unshare-net",
                "--die-with-parent",
            ])
            .args([
                "--ro-bind",
                "/",
                "/",
                "--proc",
                "/proc",
                "--dev",
                "/dev",
                "--",
            ])
            .arg(std::env::current_exe().map_err(|error| error.to_string())?)
            .arg(CONFINE_COMMAND)
            .args(words)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.code() != Some(expected) {
            return Err(format!("{forwards:?}: {output:?}"));
        }
    }
    Ok(())
}
