//! `symphony pr merge`.

use clap::Args;
use serde::Serialize;
use symphony_core::issue::Comment;
use symphony_core::run_network::RunNetworkUse;
use symphony_runner::merge::{MergeOptions, Merged, Squash, merge_pr_until};
use symphony_runner::network::NetworkLog;
use symphony_view::read::unread_messages;
use symphony_view::{PrView, merged_sentence};

use super::find::find_pr;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::interrupt::Interrupts;
use crate::refused_hosts::warn_of_refused;
use crate::value::PrReference;

/// What `pr merge` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Merging an open pull request is your approval of its head. When the base has moved since the gates ran, they \
                  run on the merge result first. Without --squash the base is fast-forwarded if that keeps its \
                  history readable, and gets a merge commit otherwise.\n\n\
                  Examples:\n  symphony pr merge SYM-1\n  symphony pr merge SYM-1 --squash --message 'Say hello'"
)]
pub(crate) struct MergeArgs {
    /// The pull request's number, its issue, or its plan
    #[arg(value_name = "ID|ISSUE|PLAN")]
    pr: PrReference,
    /// Merge even if a required gate is red, a review point is open, or a submodule has unpushed commits
    #[arg(long)]
    force: bool,
    /// Merge everything that the pull request changes as one commit
    #[arg(long)]
    squash: bool,
    /// The message of that commit; by default the pull request's title and body. `-` reads it from standard input
    #[arg(short = 'm', long, value_name = "TEXT", requires = "squash")]
    message: Option<String>,
}

/// The result of a merge.
#[derive(Debug, Serialize)]
struct MergeView {
    #[serde(flatten)]
    pr: PrView,
    clean_up: String,
    /// What its gates reached for from their sandbox.
    #[serde(skip_serializing_if = "RunNetworkUse::is_idle")]
    network: RunNetworkUse,
}

/// Warns of messages that no agent has read, before anything is merged.
fn warn_of_unread(app: &App, unread: &[Comment]) {
    for message in unread {
        let first = message.content.lines().next().unwrap_or_default();
        app.out.warn(&format!(
            "no agent has read message {}: {}",
            message.id,
            first.chars().take(MESSAGE_CHARS_MAX).collect::<String>()
        ));
    }
}

/// How many characters of an unread message a warning shows.
const MESSAGE_CHARS_MAX: usize = 80;

impl MergeArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let network = NetworkLog::default();
        let merged = self.carry_out(app, &network);
        let network = network.used();
        warn_of_refused(app.out, &network);
        let merged = merged.context("merge the pull request")?;
        let sentence = merged_sentence(&merged);
        app.out.done(
            &MergeView {
                pr: merged.pr.into(),
                clean_up: merged.clean_up,
                network,
            },
            &sentence,
        )
    }

    fn carry_out(&self, app: &App, network: &NetworkLog) -> anyhow::Result<Merged> {
        let message = self
            .message
            .as_deref()
            .map(|typed| app.text(typed))
            .transpose()?;
        if message
            .as_deref()
            .is_some_and(|text| text.trim().is_empty())
        {
            let stop = Stop::new(Exit::Usage, "the commit needs a message");
            return Err(stop
                .hint("leave out --message to use the pull request's title and body")
                .into());
        }
        let squash = self.squash.then_some(Squash { message });
        let mut session = app.session()?;
        let pr = find_pr(app, &session, &self.pr)?;
        let options = MergeOptions {
            force: self.force,
            squash,
            network: network.clone(),
        };
        warn_of_unread(app, &unread_messages(&session.store, &pr)?);
        // a killed process would leave its gates to the next tick
        let interrupts = Interrupts::listen().context("listen to Ctrl-C")?;
        let stop = move || interrupts.count() > 0;
        let (installation, store) = (&session.installation, &mut session.store);
        Ok(merge_pr_until(
            installation,
            store,
            &App::as_human(),
            pr.id,
            &options,
            &stop,
        )?)
    }
}
