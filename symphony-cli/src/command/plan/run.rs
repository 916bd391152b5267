//! `symphony plan run`: begins a plan or takes it up, and carries it out.

use std::path::PathBuf;

use clap::Args;
use symphony_core::id::PlanId;
use symphony_core::plan::state::{OnFailure, PlanStatus, RetryMode};
use symphony_core::plan::{Dag, Isolation, Plan, PlanOptions};
use symphony_runner::plan::{BeginRequest, Begun, OptionChanges, begin_plan, recorded_path};
use symphony_runner::session::Session;
use symphony_view::{PlanPreview, PlanResult};

use super::dialog::is_possible;
use super::record::PlanChoice;
use super::run_loop::{AfterReview, PlanLoop, exit_after};
use super::source::load_plan;
use crate::app::App;
use crate::failure::{Context as _, Exit, Stop, exit_of, sentence};

/// Largest file of instructions: a prompt of the longest kind.
const INSTRUCTIONS_BYTES_MAX: u64 = 200_000;

/// What `plan run` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "If the plan is under way, the command continues it, however the last `plan run` ended; complete \
                  phases never run again. Ctrl-C leaves running phases to their supervisors; a second Ctrl-C within \
                  three seconds ends them.\n\n\
                  When every phase is complete, Symphony opens a pull request: ticks run its gates and have it \
                  judged, and `symphony pr merge` merges it. With --merge it is merged as soon as its gates are \
                  green.\n\nThe exit code is 1 if the plan did not complete or could not be \
                  merged.\n\nExample:\n  symphony plan run plan.md --max-parallel 2"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct RunArgs {
    /// The plan file; by default the one that `plan find` prints
    file: Option<PathBuf>,
    /// Continue a plan that was started before, by its id or its file, even if the file is gone
    #[arg(short, long, value_name = "PLAN|FILE", conflicts_with_all = ["file", "new"])]
    plan: Option<String>,
    /// Run at most this many phases at once; 4 by default
    #[arg(long = "max-parallel", value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    max_parallel: Option<u16>,
    /// Where phases work: `worktree` (the default: each in its own, merged when it is complete) or `none` (all in the project's folder)
    #[arg(long, value_name = "WHERE")]
    isolation: Option<Isolation>,
    /// What happens when a phase has failed for good: `ask` (the default on a terminal), `wait` for `plan decide` (the default elsewhere), `fail`, `skip`, `abort-branch` or `abort-all`
    #[arg(long = "on-failure", value_name = "WHAT")]
    on_failure: Option<OnFailure>,
    /// Do not retry failed phases
    #[arg(long = "no-retry")]
    no_retry: bool,
    /// Retry failed and aborted phases
    #[arg(long = "retry-failed")]
    retry_failed: bool,
    /// Continue with the file as it is now, even if it has changed since the plan began; complete phases stay complete
    #[arg(long = "accept-changes")]
    accept_changes: bool,
    /// Merge the work as soon as the gates are green, without a judge
    #[arg(long)]
    merge: bool,
    /// Start a new plan from this file, if the last one has ended
    #[arg(long, conflicts_with_all = ["retry_failed", "accept_changes"])]
    new: bool,
    /// A file of instructions for every phase
    #[arg(long, value_name = "FILE")]
    instructions: Option<PathBuf>,
    /// Print what would run, and change nothing
    #[arg(long = "dry-run")]
    dry_run: bool,
}

impl RunArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        let (mut session, meant) = self.meant(app)?;
        let options = self.options(app)?;
        if self.dry_run {
            let default = PlanOptions::default();
            let dag = Dag::new(&meant.document.phases).context("use the plan")?;
            let preview = PlanPreview::new(
                &dag,
                options.max_parallel.unwrap_or(default.max_parallel),
                options.isolation.unwrap_or(default.isolation),
            );
            app.out.answer(&preview)?;
            return Ok(Exit::Done);
        }
        self.carry_out(app, &mut session, meant, options)
            .context("run the plan")
    }

    /// Finds the plan: a file, or one that was begun, whatever became of its file.
    fn meant(&self, app: &App) -> anyhow::Result<(Session, Meant)> {
        if let Some(plan) = &self.plan {
            let mut session = app.session()?;
            let record = PlanChoice::of(plan).find(app, &mut session)?;
            let file = session.project.root.join(&record.path);
            let document = if file.exists() {
                load_plan(app, Some(&file))?.plan
            } else {
                app.out.note(&format!(
                    "{} no longer exists: plan {} continues with the version that was last read.",
                    record.path, record.id
                ));
                record.document
            };
            let meant = Meant {
                plan: Some(record.id),
                path: record.path,
                document,
            };
            return Ok((session, meant));
        }
        // an invalid file is reported in repositories that are not set up, too
        let source = load_plan(app, self.file.as_deref());
        let source = source.map_err(|error| with_open_plan(app, error))?;
        let session = app.session()?;
        let file = app.surroundings.current.join(&source.path);
        let meant = Meant {
            plan: None,
            path: recorded_path(&session.project, &file),
            document: source.plan,
        };
        Ok((session, meant))
    }

    fn options(&self, app: &App) -> anyhow::Result<OptionChanges> {
        let instructions = match &self.instructions {
            None => None,
            Some(file) => Some(read_instructions(app, file)?),
        };
        Ok(OptionChanges {
            max_parallel: self.max_parallel.map(usize::from),
            isolation: self.isolation,
            on_failure: self.on_failure,
            retry: self.no_retry.then_some(RetryMode::Never),
            instructions,
        })
    }

    fn carry_out(
        &self,
        app: &App,
        session: &mut Session,
        meant: Meant,
        options: OptionChanges,
    ) -> anyhow::Result<Exit> {
        let request = BeginRequest {
            plan: meant.plan,
            path: meant.path,
            document: meant.document,
            options,
            accept_changes: self.accept_changes,
            retry_failed: self.retry_failed,
            start_new: self.new,
        };
        let installation = session.installation.clone();
        let (mut drive, record, begun) = begin_plan(
            &installation,
            &mut session.store,
            &session.project,
            &request,
        )?;
        if begun == Begun::Ended {
            let conclusion = drive.conclude(&mut session.store)?;
            let result = PlanResult::new(
                &session.store,
                &record,
                conclusion,
                &session.configured_gates(),
            )?;
            app.out.answer(&result)?;
            let retry = match record.state.status {
                PlanStatus::Completed => "",
                _ => "`--retry-failed` retries what failed, ",
            };
            app.out.note(&format!(
                "Plan {} has already ended ({}): {retry}`--new` starts another.",
                record.id, record.state.status
            ));
            return Ok(exit_after(&result));
        }
        // a person at the terminal is asked, unless an option of this command says to wait
        let may_ask = self.on_failure != Some(OnFailure::Wait);
        let mode = match record.options.on_failure {
            OnFailure::Ask | OnFailure::Wait if may_ask && is_possible(app.out) => {
                Some(OnFailure::Ask)
            }
            OnFailure::Ask => Some(OnFailure::Wait),
            _ => None,
        };
        let after = if self.merge {
            AfterReview::Merge
        } else {
            AfterReview::LeaveToTicks
        };
        PlanLoop::new(app, drive, &mut session.store, mode, after)?.go_on(&record, begun)
    }
}

/// Names the plan under way, when there is no file to be run and one is.
fn with_open_plan(app: &App, error: anyhow::Error) -> anyhow::Error {
    let open = app.session().ok().and_then(|session| {
        let open = session.store.open_plans(&session.project.id).ok()?;
        open.into_iter().next()
    });
    match (open, exit_of(&error)) {
        (Some(plan), Exit::NotFound) => Stop::new(Exit::NotFound, sentence(&error))
            .hint(format!(
                "`symphony plan run --plan {plan}` continues the plan that is under way"
            ))
            .into(),
        _ => error,
    }
}

/// The plan that is to be carried out.
struct Meant {
    plan: Option<PlanId>,
    path: String,
    document: Plan,
}

fn read_instructions(app: &App, file: &std::path::Path) -> anyhow::Result<String> {
    let path = app.surroundings.current.join(file);
    let what = || format!("read the instructions in {}", file.display());
    let length = std::fs::metadata(&path).with_context(what)?.len();
    if length > INSTRUCTIONS_BYTES_MAX {
        let message = format!("they are longer than {INSTRUCTIONS_BYTES_MAX} bytes");
        return Err(Stop::new(Exit::Failed, message)).with_context(what);
    }
    std::fs::read_to_string(&path).with_context(what)
}
