//! `symphony prompt build`.

use clap::Args;
use symphony_prompt::{PromptInput, build_document};
use symphony_view::text::{Clock, Page};

use crate::app::App;
use crate::document::{DocumentSource, read_document};
use crate::failure::Context as _;

/// What the file looks like.
const FORM: &str = "expected an object with one key, which says what the prompts are for, such as `profile_dispatch`; `symphony prompt schema` \
    prints the JSON Schema";

/// What `prompt build` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The file is an object with one key, which says what the prompts are for, such as \
                  `profile_dispatch` for an agent on an issue. `symphony prompt schema` prints its JSON Schema.\n\nWith --json: `system`, `user` and `report`.\n\nExample:\n  symphony prompt build --input agent.json --json"
)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    source: DocumentSource,
}

impl BuildArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let input: PromptInput = read_document(app, &self.source, FORM)?;
        let built = build_document(&input).context("build the prompts")?;
        if app.out.is_json() {
            return app.out.json(&built);
        }
        let mut page = Page::new(None, Clock::system());
        page.heading("System prompt");
        page.verbatim(&built.system);
        page.heading("User prompt");
        page.verbatim(&built.user);
        app.out.write(&page.into_text())
    }
}
