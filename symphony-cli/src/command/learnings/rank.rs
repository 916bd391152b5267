//! `symphony learnings rank`: the pure crate on a document.

use clap::Args;
use symphony_learning::{RankInput, rank_document};

use crate::app::App;
use crate::document::{DocumentSource, read_document};
use crate::failure::Context as _;

/// What a document looks like.
const FORM: &str =
    "expected an object with `now` (RFC 3339), `issue`, `learnings` and optionally `options`";

/// What `learnings rank` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "The output is JSON: `conventions`, `tactical` and `dropped`.\n\n\
                  Example:\n  symphony learnings rank --input learnings.json"
)]
pub(crate) struct RankArgs {
    #[command(flatten)]
    source: DocumentSource,
}

impl RankArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let input: RankInput = read_document(app, &self.source, FORM)?;
        let output = rank_document(&input).context("rank the learnings")?;
        app.out.json(&output)
    }
}
