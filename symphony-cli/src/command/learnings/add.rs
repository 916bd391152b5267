//! `symphony learnings add`.

use anyhow::Context as _;
use clap::Args;
use symphony_core::id::{IssueId, LearningId};
use symphony_core::learning::LearningType;
use symphony_store::{LearningRecord, NewLearning};

use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::value::{issue_id, named, text_or_stdin};
use crate::view::LearningView;

/// What `learnings add` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony learnings add 'Tests run from the root of the repository' --type convention"
)]
pub(crate) struct AddArgs {
    /// What was learned, in a sentence or two; `-` reads it from standard input
    text: String,
    /// What kind it is; conventions go into every prompt
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = named(LearningType::NAMES, LearningType::parse))]
    learning_type: Option<LearningType>,
    /// A path that it is about; may be given several times
    #[arg(short = 'p', long = "applies-to", value_name = "PATH")]
    applies_to: Vec<String>,
    /// The issue it comes from; it takes its labels
    #[arg(short, long, value_name = "ISSUE", value_parser = issue_id)]
    issue: Option<IssueId>,
}

impl AddArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let pattern = text_or_stdin(&self.text)?;
        let mut session = app.session()?;
        let same = session
            .store
            .same_learning(&session.project.id, pattern.trim())
            .context("add the learning")?;
        if let Some(same) = same {
            return Err(refusal(&same).into());
        }
        let id =
            LearningId::parse(uuid::Uuid::now_v7().to_string()).expect("a UUID is a learning id");
        let new = NewLearning {
            id,
            project: session.project.id.clone(),
            issue: self.issue.clone(),
            commit: None,
            pattern,
            learning_type: self.learning_type,
            applies_to: self.applies_to.clone(),
        };
        let learning = session
            .store
            .add_learning(&App::as_human(), &new)
            .context("add the learning")?;
        let sentence = format!("Added learning {}.", learning.learning.id);
        app.out.done(&LearningView::from(learning), &sentence)
    }
}

/// A second learning with the same text would only take space in prompts.
fn refusal(same: &LearningRecord) -> Stop {
    let id = &same.learning.id;
    if same.retired {
        let message = format!("add the learning: {id} says the same and is retired");
        let hint = format!("`symphony learnings restore {id}` gives it to agents again");
        return Stop::new(Exit::Refused, message).hint(hint);
    }
    let message = format!("add the learning: {id} says the same");
    let hint = "`symphony learnings search TEXT` finds what is known";
    Stop::new(Exit::Refused, message).hint(hint)
}
