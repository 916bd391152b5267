//! What `serve` takes, and how it starts.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use symphony_core::Timestamp;
use symphony_runner::session::Session;
use symphony_web::access::{Hosts, Scheme, User};
use symphony_web::{
    Access, Doctor, DoorsFile, Listener, Opener, Refresher, Site, Tls, Users, sign_in_path,
};

use super::checking::doctor_of;
use super::doors::doors_of;
use super::reach::{
    ListenAddress, host_name, is_served, no_listener, no_tls, split_port, with_port,
};
use super::ticking::Ticking;
use super::user::UserCommand;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop, sentence};
use crate::interrupt::Interrupts;

/// The port by default.
const PORT: u16 = 7667;

/// Time between two checks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(100);

/// What `serve` takes.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "The page shows the board, the inbox, issues, runs with their live logs, pull requests with diffs and gates, \
                  plans, learnings and spending. On the page you can do most of what the commands do. The command prints a link \
                  that signs one browser in; it works once, within ten minutes. The session lasts 30 days, even if the server \
                  restarts. Agents keep running when the page is not served.\n\n\
                  Only this machine can reach the page. From another machine, forward the port: `ssh -L 7667:localhost:7667 HOST`. To serve it \
                  to others, use --listen with a certificate, or --behind-proxy behind a reverse proxy with TLS.\n\n\
                  Examples:\n  symphony serve\n  symphony serve --tick 30\n  symphony serve url\n  symphony serve user add ada --role reviewer\n  \
                  symphony serve --listen 0.0.0.0 --cert cert.pem --key key.pem --host symphony.example.org"
)]
pub(crate) struct ServeCommand {
    #[command(subcommand)]
    below: Option<Below>,
    #[command(flatten)]
    options: ServeOptions,
}

/// How the page is served.
#[derive(Debug, Args)]
pub(crate) struct ServeOptions {
    /// The port [default: 7667]; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Listen on this address, which other machines can reach; 0.0.0.0 is every IPv4 address of this machine
    #[arg(
        long,
        value_name = "ADDR[:PORT]",
        requires = "protection",
        conflicts_with = "socket"
    )]
    listen: Option<ListenAddress>,
    /// Serve over TLS with the certificate in this PEM file; Symphony notices a renewed file within a minute
    #[arg(long, value_name = "FILE", requires_all = ["key", "hosts"], group = "protection")]
    cert: Option<PathBuf>,
    /// The private key of the certificate, in a PEM file that other users cannot read
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Listen on this socket file instead of a port; only your own user can open it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "port",
        requires = "behind_proxy"
    )]
    socket: Option<PathBuf>,
    /// Serve behind a reverse proxy with TLS: cookies are sent over https only
    #[arg(long = "behind-proxy", requires = "hosts", group = "protection")]
    behind_proxy: bool,
    /// Accept requests for this host name, such as `symphony.example.org`; may be given several times
    #[arg(long = "host", value_name = "NAME", requires = "protection", value_parser = host_name)]
    hosts: Vec<String>,
    /// Show everything, but do not allow changes
    #[arg(long = "read-only")]
    read_only: bool,
    /// Also tick every SECONDS seconds, so that you need neither cron nor `symphony run`
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    tick: Option<u64>,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
}

impl ServeOptions {
    /// The options of a demo: the usual port or a free one, and a tick each second, so that what is added there is worked on at once.
    pub(crate) fn of_demo() -> Self {
        let port = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).map_or(0, |_free| PORT);
        Self {
            port: Some(port),
            listen: None,
            cert: None,
            key: None,
            socket: None,
            behind_proxy: false,
            hosts: Vec::new(),
            read_only: false,
            tick: Some(1),
            open: false,
        }
    }
}

/// What is below `serve`.
#[derive(Debug, Subcommand)]
enum Below {
    /// Print a new sign-in link; it works once, for one browser, within ten minutes
    Url(UrlArgs),
    /// Add, list and remove the users of the page
    #[command(subcommand)]
    User(UserCommand),
}

/// What `serve url` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony serve url")]
struct UrlArgs {}

/// How a page is served.
#[derive(Debug)]
struct Served {
    /// Where it listens.
    listener: Listener,
    /// Who is let in.
    access: Access,
    /// The file of its sessions.
    doors: DoorsFile,
    /// The address without a path.
    base: String,
}

impl ServeCommand {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        match &self.below {
            None => self.options.serve(app).context("serve the page"),
            Some(Below::Url(UrlArgs {})) => print_url(app).context("create a link"),
            Some(Below::User(user)) => user.run(app),
        }
    }
}

impl ServeOptions {
    /// Serves the page until Ctrl-C.
    ///
    /// # Errors
    /// When there is no project, or the page cannot be served.
    pub(crate) fn serve(&self, app: &App) -> anyhow::Result<()> {
        let session = app.session()?;
        let runtime = runtime()?;
        let served = runtime.block_on(self.listen(app, &session))?;
        let interrupts = Interrupts::listen().context("listen to Ctrl-C")?;
        let ticking = Ticking::start(
            session.installation.executable.clone(),
            session.project.root.clone(),
            self.tick.map(Duration::from_secs),
        );
        let link = link(&served.doors, &served.base)?;
        app.out.note(&format!(
            "Serving project {}. Press Ctrl-C to stop; agents continue. Open this link within ten minutes to sign in:",
            session.project.id
        ));
        app.out.write(&format!("{link}\n"))?;
        if self.open {
            open(&link);
        }
        let stop = async move {
            while interrupts.count() == 0 {
                tokio::time::sleep(LOOK).await;
            }
        };
        let doctor = doctor_of(
            session.installation.executable.clone(),
            session.project.root.clone(),
        );
        let ended = runtime.block_on(serve_until(
            app,
            served,
            (ticking.refresher(), doctor),
            stop,
        ));
        // a thread that is merging is not waited for: the next command settles what it began
        runtime.shutdown_background();
        drop(ticking);
        ended
    }

    async fn listen(&self, app: &App, session: &Session) -> anyhow::Result<Served> {
        let doors = doors_of(session)?;
        let tls = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => {
                let tls = Tls::load(cert.clone(), key.clone(), Instant::now());
                Some(tls.map_err(|error| no_tls(&error))?)
            }
            _ => None,
        };
        let listener = match &self.socket {
            Some(path) => Listener::socket(path).await?,
            None => match self.address()? {
                Some(address) => Listener::address(address).await,
                None => Listener::port(self.port.unwrap_or(PORT)).await,
            }
            .map_err(no_listener)?,
        };
        let listens = listener.local_address();
        let port = listens.map(|address| address.port());
        let (scheme, own_port) = match (&tls, self.behind_proxy) {
            (Some(_), _) => (Scheme::Https, port),
            (None, true) => (Scheme::Https, None),
            (None, false) => (Scheme::Http, port),
        };
        let pages = match &tls {
            Some(tls) => {
                self.note_other_names(app, tls);
                with_port(&self.hosts, port)
            }
            None if self.behind_proxy => self.hosts.clone(),
            None => vec![scheme.host(&Hosts::own_name(&doors.label()?), port)],
        };
        let host = pages.first().map(String::as_str).unwrap_or_default();
        let base = format!("{}://{host}", scheme.name());
        doors.note_address(&base, listens)?;
        let listener = match tls {
            Some(tls) => listener.with_tls(tls),
            None => listener,
        };
        let surroundings = app.surroundings.clone();
        let users = Users::new(move || {
            let installation = surroundings
                .installation()
                .map_err(|error| sentence(&error))?;
            Ok(User::all(&installation.config.users))
        });
        Ok(Served {
            listener,
            access: Access {
                hosts: Hosts::new(scheme, own_port, &pages),
                users,
                is_read_only: self.read_only,
            },
            doors,
            base,
        })
    }

    /// Returns the address that others reach; none where the page is for this machine.
    fn address(&self) -> anyhow::Result<Option<SocketAddr>> {
        let Some(listen) = self.listen else {
            return Ok(None);
        };
        if listen.port.is_some() && self.port.is_some() {
            let stop = Stop::new(Exit::Usage, "--listen and --port both name a port");
            return Err(stop.hint("leave one of them out").into());
        }
        let port = listen.port.or(self.port).unwrap_or(PORT);
        Ok(Some(SocketAddr::new(listen.ip, port)))
    }

    /// Names the hosts that the certificate is not for: browsers warn about them.
    fn note_other_names(&self, app: &App, tls: &Tls) {
        for host in &self.hosts {
            let (name, _) = split_port(host);
            if !tls.is_for(name) {
                app.out.note(&format!(
                    "The certificate is not valid for {name}: browsers that open that name will show a warning."
                ));
            }
        }
    }
}

fn print_url(app: &App) -> anyhow::Result<()> {
    let session = app.session()?;
    let doors = doors_of(&session)?;
    let Some(base) = doors.address()? else {
        let stop = Stop::new(
            Exit::NotFound,
            "the page of this project has never been served",
        );
        return Err(stop.hint("`symphony serve` serves it").into());
    };
    // what a proxy or a socket file leads to cannot be seen from here
    if doors.listens()?.is_some_and(|listens| !is_served(listens)) {
        let stop = Stop::new(
            Exit::Failed,
            "the page of this project is not being served now",
        );
        return Err(stop
            .hint("`symphony serve` serves it, and prints a link")
            .into());
    }
    let link = link(&doors, &base)?;
    app.out.write(&format!("{link}\n"))
}

/// Makes the runtime of a server.
///
/// # Errors
/// When the system has no room for it.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the server")
}

/// Serves the page until `stop` resolves.
///
/// # Errors
/// When the listener is broken.
async fn serve_until(
    app: &App,
    served: Served,
    (refresher, doctor): (Refresher, Doctor),
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let surroundings = app.surroundings.clone();
    let opener = Opener::new(move || surroundings.session().map_err(|error| sentence(&error)));
    let site: Arc<Site> = Site::new(served.access, served.doors, opener, refresher, doctor);
    Ok(symphony_web::serve(served.listener, site, stop).await?)
}

/// Makes a link that signs one browser in.
///
/// # Errors
/// When the file of the sessions cannot be written.
fn link(doors: &DoorsFile, base: &str) -> anyhow::Result<String> {
    let secret = doors.add_link(Timestamp::now())?;
    Ok(format!("{base}{}", sign_in_path(&secret)))
}

/// Opens a link in the person's browser, if there is one.
#[expect(
    clippy::disallowed_methods,
    reason = "a person's browser is nobody's to supervise"
)]
fn open(link: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let opened = Command::new(program)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = opened {
        tracing::warn!(%error, program, "no browser could be opened");
    }
}
