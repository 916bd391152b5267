//! The plan under way that a command is about.

use clap::Args;
use symphony_core::id::PlanId;
use symphony_runner::plan::recorded_path;
use symphony_runner::session::Session;
use symphony_store::PlanRecord;

use crate::app::App;
use crate::failure::{Exit, Stop};

/// Names a plan that was begun.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct PlanChoice {
    /// The plan's id or its file; by default the plan that is under way, or else the last one
    #[arg(short, long, value_name = "PLAN|FILE")]
    plan: Option<String>,
}

impl PlanChoice {
    /// Names a plan by its id or its file.
    pub(super) fn of(text: &str) -> Self {
        Self {
            plan: Some(text.to_owned()),
        }
    }

    /// Finds the plan.
    ///
    /// # Errors
    /// When there is none, or several are under way and none is named.
    pub(super) fn find(&self, app: &App, session: &mut Session) -> anyhow::Result<PlanRecord> {
        let id = match &self.plan {
            Some(text) => named(app, session, text)?,
            None => meant(session)?,
        };
        Ok(session.store.plan(&id)?)
    }
}

/// Finds a plan that was begun, by its id or by its file.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn find_plan(
    app: &App,
    session: &Session,
    text: &str,
) -> anyhow::Result<Option<PlanId>> {
    if let Ok(id) = PlanId::parse(text)
        && session.store.has_plan(&id)?
    {
        return Ok(Some(id));
    }
    let path = recorded_path(&session.project, &app.surroundings.current.join(text));
    Ok(session.store.last_plan_of(&session.project.id, &path)?)
}

/// Finds a plan that is named by its id or its file.
///
/// # Errors
/// When there is none.
pub(crate) fn named(app: &App, session: &Session, text: &str) -> anyhow::Result<PlanId> {
    find_plan(app, session, text)?.ok_or_else(|| {
        Stop::new(
            Exit::NotFound,
            format!("there is no plan with the id or file `{text}`"),
        )
        .hint("`symphony plan list` lists the plans that were started")
        .into()
    })
}

fn meant(session: &Session) -> anyhow::Result<PlanId> {
    let open = session.store.open_plans(&session.project.id)?;
    match open.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let last = session.store.plans(Some(&session.project.id))?;
            last.into_iter().next().map(|plan| plan.id).ok_or_else(|| {
                Stop::new(Exit::NotFound, "no plan was started here")
                    .hint("`symphony plan run FILE` starts one")
                    .into()
            })
        }
        several => {
            let names: Vec<&str> = several.iter().map(PlanId::as_str).collect();
            Err(Stop::new(
                Exit::Usage,
                format!("several plans are under way ({})", names.join(", ")),
            )
            .hint("name one with `--plan`")
            .into())
        }
    }
}
