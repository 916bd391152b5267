//! `symphony serve user`: the users of the page, besides the person who serves it.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use symphony_core::config::{FileRole, KeyPath, Source};
use symphony_core::user::{UserName, UserRole};
use symphony_runner::installation::Installation;
use symphony_view::text::{List, Listed, Page, Table, View};
use symphony_web::{SIGN_IN, random_secret};
use symphony_workspace::config_file::{CONFIG_FILE_NAME, set, unset};

use super::doors::doors_of;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::named;

/// What is below `serve user`.
#[derive(Debug, Subcommand)]
pub(super) enum UserCommand {
    /// Add a user, and print the token that signs them in
    Add(AddArgs),
    /// List the users
    List(ListArgs),
    /// Remove a user; their sessions end at once
    Remove(RemoveArgs),
}

/// What `serve user add` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "A viewer reads. A reviewer also adds issues, comments, answers, decides and retries. An admin also merges, cancels runs, \
                  aborts plans and pauses Symphony. The configuration stores only a hash of the token; the token itself is \
                  printed once and stored nowhere. If a user loses it, remove the user and add them again. `symphony config set web.users.NAME.role \
                  ROLE` changes a role.\n\n\
                  Example:\n  symphony serve user add ada --role reviewer"
)]
pub(super) struct AddArgs {
    /// The name, such as `ada`, which events, comments and verdicts show
    name: UserName,
    /// What the user may do
    #[arg(long, value_parser = named(UserRole::NAMES, UserRole::parse))]
    role: UserRole,
    /// Write to the file for all projects, `~/.config/symphony/config.json`
    #[arg(long)]
    global: bool,
}

/// What `serve user list` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony serve user list")]
pub(super) struct ListArgs {}

/// What `serve user remove` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony serve user remove ada")]
pub(super) struct RemoveArgs {
    /// The name
    name: UserName,
}

/// A user who was added.
#[derive(Debug, Serialize)]
struct AddedView {
    user: UserName,
    role: UserRole,
    /// The token; it is shown this once.
    token: String,
    file: PathBuf,
    /// Where the token is typed; none where the page was never served.
    sign_in: Option<String>,
}

impl View for AddedView {
    fn write(&self, page: &mut Page) {
        let Self {
            user, role, token, ..
        } = self;
        page.line(&format!(
            "Added the user {user} ({role}) to {}. The token, which is not shown again:",
            self.file.display()
        ));
        page.line("");
        page.line(&format!("  {token}"));
        page.line("");
        let place = match &self.sign_in {
            Some(address) => format!("at {address}"),
            None => "on the sign-in page of `symphony serve`".to_owned(),
        };
        page.line(&format!(
            "Give it to {user} over a safe channel. {user} signs in with it {place}; a program sends it as the header \
             `Authorization: Bearer TOKEN`."
        ));
    }
}

/// A user.
#[derive(Debug, Serialize)]
struct UserView {
    user: UserName,
    role: UserRole,
    file: Option<PathBuf>,
}

impl Listed for UserView {
    fn write_all(items: &[Self], page: &mut Page) {
        if items.is_empty() {
            page.line("No users. `symphony serve user add` adds one.");
            return;
        }
        let mut table = Table::new(["USER", "ROLE", "FILE"]);
        for view in items {
            let file = view.file.as_deref().unwrap_or_else(|| Path::new(""));
            table.row([
                view.user.to_string(),
                view.role.to_string(),
                file.display().to_string(),
            ]);
        }
        page.table(&table);
    }
}

/// A user who was removed.
#[derive(Debug, Serialize)]
struct RemovedView {
    user: UserName,
    file: PathBuf,
}

impl UserCommand {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        match self {
            Self::Add(add) => add.run(app).context("add the user"),
            Self::List(ListArgs {}) => list(app).context("list the users"),
            Self::Remove(remove) => remove.run(app).context("remove the user"),
        }
    }
}

impl AddArgs {
    fn run(&self, app: &App) -> anyhow::Result<()> {
        // a page is served for a project
        let _set_up = app.session()?;
        let installation = app.surroundings.installation()?;
        if installation.config.users.contains_key(&self.name) {
            let stop = Stop::new(Exit::Failed, format!("there is a user `{}`", self.name));
            let (name, role) = (&self.name, self.role);
            let hint = format!(
                "for a new token, run `symphony serve user remove {name}` and add the user again; for another role, run \
                 `symphony config set web.users.{name}.role {role}`"
            );
            return Err(stop.hint(hint).into());
        }
        let (file, of) = self.file(app)?;
        let token = random_secret()?;
        let user = serde_json::json!({
            "role": self.role,
            "token": format!("sha256:{}", token.hash().digits()),
        });
        set(&file, of, &key(&self.name), &user.to_string())?;
        app.out.answer(&AddedView {
            user: self.name.clone(),
            role: self.role,
            token: token.reveal().to_owned(),
            file,
            sign_in: sign_in_address(app),
        })
    }

    fn file(&self, app: &App) -> anyhow::Result<(PathBuf, FileRole)> {
        let paths = app.surroundings.config_paths();
        if self.global {
            let global = paths.global.ok_or_else(|| {
                Stop::new(Exit::Failed, "HOME is not set, so there is no global file")
                    .hint("set HOME, or leave out --global")
            })?;
            return Ok((global, FileRole::Global));
        }
        let file = match paths.explicit {
            Some(file) => file,
            None => app.surroundings.root()?.join(CONFIG_FILE_NAME),
        };
        Ok((file, FileRole::Project))
    }
}

fn list(app: &App) -> anyhow::Result<()> {
    let installation = app.surroundings.installation()?;
    let users = installation
        .config
        .users
        .iter()
        .map(|(name, user)| UserView {
            user: name.clone(),
            role: user.role,
            file: file_of(&installation, name),
        });
    app.out.answer(&users.collect::<List<_>>())
}

impl RemoveArgs {
    fn run(&self, app: &App) -> anyhow::Result<()> {
        let name = &self.name;
        let mut removed = None;
        // two files may both name the user
        loop {
            let installation = app.surroundings.installation()?;
            let Some(file) = file_of(&installation, name) else {
                break;
            };
            if !unset(&file, &key(name))? {
                break;
            }
            removed = Some(file);
        }
        let Some(file) = removed else {
            let stop = Stop::new(Exit::NotFound, format!("there is no user `{name}`"));
            return Err(stop
                .hint("`symphony serve user list` lists the users")
                .into());
        };
        let sentence = format!("Removed the user {name}. Their sessions have ended.");
        let user = name.clone();
        app.out.done(&RemovedView { user, file }, &sentence)
    }
}

/// Returns where users sign in; none where the page was never served.
fn sign_in_address(app: &App) -> Option<String> {
    let doors = doors_of(&app.session().ok()?).ok()?;
    let base = doors.address().ok()??;
    Some(format!("{base}{SIGN_IN}"))
}

fn key(name: &UserName) -> String {
    format!("web.users.{name}")
}

/// Returns the file that names a user.
fn file_of(installation: &Installation, name: &UserName) -> Option<PathBuf> {
    let role = KeyPath::of(&key(name)).key("role");
    let settings = installation.loaded().inspect_installation();
    match &settings.effective.get(&role)?.source {
        Source::File { path, .. } => Some(path.clone()),
        Source::Default | Source::Database => None,
    }
}
