//! What `demo` takes, and its course.

use std::path::PathBuf;

use clap::Args;
use symphony_core::config::ProviderName;

use super::drive::drive;
use super::leftovers::look;
use super::project::{Files, choose_folder, create};
use super::summary::DemoView;
use crate::app::App;
use crate::command::ServeOptions;
use crate::failure::{Context as _, Exit, Stop};
use crate::permission::identify_asker;
use crate::progress::{Progress, Stream};
use crate::value::named;

/// What `demo` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --provider the agents follow a script and need neither a model nor the network; worktrees, \
                  commits, \
                  tools, gates, review and merge are real. The project is kept, so that you can explore it.\n\n\
                  Examples:\n  symphony demo\n  symphony demo --serve\n  symphony demo --dir '/tmp/my demo'"
)]
pub(crate) struct DemoArgs {
    /// The folder of the project; by default a new temporary folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Which program runs the agents; a real one costs tokens
    #[arg(long, value_name = "PROVIDER", default_value = "scripted", value_parser = named(ProviderName::NAMES, ProviderName::parse))]
    provider: ProviderName,
    /// Afterwards serve the project's page until Ctrl-C; agents work on the issues that you add there
    #[arg(long, conflicts_with = "json")]
    serve: bool,
}

impl DemoArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let mut progress = Progress::new(app.out, Stream::Silent);
        let view = self.play(app, &mut progress).context("run the demo")?;
        app.out.answer(&view)?;
        if view.is_clean() {
            return if self.serve {
                Files::slow_down(&view.dir)?;
                app.out.note(
                    "Open this link to look around, add an issue, and watch an agent work on it:",
                );
                let surroundings = app
                    .surroundings
                    .within(view.dir.clone(), view.config.clone());
                ServeOptions::of_demo().serve(&App {
                    surroundings,
                    out: app.out,
                })
            } else {
                Ok(())
            };
        }
        let hint = format!("check what is left in {}", view.dir.display());
        Err(
            Stop::new(Exit::Failed, "the demo did not remove everything it made")
                .hint(hint)
                .into(),
        )
    }

    fn play(&self, app: &App, progress: &mut Progress) -> anyhow::Result<DemoView> {
        identify_asker(&app.surroundings)?;
        let wanted = self
            .dir
            .as_ref()
            .map(|dir| app.surroundings.current.join(dir));
        let folder = choose_folder(wanted.as_deref())?;
        progress.say(&format!("Creating a project in {}", folder.display()));
        let files = Files::write(&folder, self.provider)?;
        let surroundings = app.surroundings.within(folder, files.config.clone());
        let demo = App {
            surroundings,
            out: app.out,
        };
        let (mut session, sandbox) = create(&demo)?;
        progress.say(&sandbox);
        for issue in files.add_issues(&mut session)? {
            progress.say(&format!("{}: {}", issue.id, issue.title));
        }
        drive(&mut session, progress)?;
        let leftovers = look(&session)?;
        DemoView::load(&session, &files, leftovers)
    }
}
