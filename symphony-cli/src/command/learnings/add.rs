//! `symphony learnings add`.

use clap::Args;
use symphony_core::id::{IssueId, LearningId};
use symphony_core::learning::{LearningState, LearningType};
use symphony_store::{LearningAddition, LearningRecord, NewLearning};
use symphony_view::LearningView;

use crate::app::App;
use crate::failure::{Context as _, Exit, Stop};
use crate::value::{issue_id, named};

/// What `learnings add` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  symphony learnings add 'Tests run from the root of the repository' --type convention"
)]
pub(crate) struct AddArgs {
    /// What was learned, in a sentence or two, at most 600 characters; `-` reads it from standard input
    text: String,
    /// The kind of learning; conventions go into every prompt
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = named(LearningType::NAMES, LearningType::parse))]
    learning_type: Option<LearningType>,
    /// A path that it applies to; may be given several times
    #[arg(short = 'p', long = "applies-to", value_name = "PATH")]
    applies_to: Vec<String>,
    /// The issue that it comes from, whose labels it gets
    #[arg(short, long, value_name = "ISSUE", value_parser = issue_id)]
    issue: Option<IssueId>,
}

impl AddArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<()> {
        let pattern = app.text(&self.text)?;
        let mut session = app.session()?;
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
        let addition = session
            .store
            .add_learning(&App::as_human(), &new)
            .context("add the learning")?;
        let learning = match addition {
            LearningAddition::Added(learning) => learning,
            LearningAddition::Known(known) | LearningAddition::Seconded(known) => {
                return Err(refusal(&known).into());
            }
        };
        let sentence = format!("Added learning {}.", learning.learning.id);
        app.out.done(&LearningView::from(learning), &sentence)
    }
}

/// A second learning with the same text would only take space in prompts.
pub(super) fn refusal(same: &LearningRecord) -> Stop {
    let id = &same.learning.id;
    let (state, hint) = match same.state {
        LearningState::Accepted => {
            let message = format!("learning {id} already says this");
            let hint = "`symphony learnings search TEXT` shows what is known";
            return Stop::new(Exit::Refused, message).hint(hint);
        }
        LearningState::Retired => ("retired", "restore"),
        LearningState::Proposed => ("proposed", "accept"),
        LearningState::Dropped => ("dropped", "accept"),
    };
    let message = format!("learning {id} already says this and is {state}");
    Stop::new(Exit::Refused, message).hint(format!(
        "`symphony learnings {hint} {id}` gives it to the agents of every issue"
    ))
}
