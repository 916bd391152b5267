//! `symphony man`.

use std::path::PathBuf;

use clap::Args;
use clap_mangen::Man;

use crate::app::App;
use crate::failure::Context as _;
use crate::root::tree;

/// What `man` takes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  symphony man | man -l -")]
pub(crate) struct ManArgs {
    /// Write a page for every command into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(&self, app: &App) -> anyhow::Result<()> {
        let Some(dir) = &self.dir else {
            let mut page = Vec::new();
            Man::new(tree()).render(&mut page)?;
            return app.out.write_raw(&page);
        };
        let dir = app.surroundings.current.join(dir);
        let what = || format!("write the manual pages into {}", dir.display());
        std::fs::create_dir_all(&dir).with_context(what)?;
        clap_mangen::generate_to(tree(), &dir).with_context(what)
    }
}
