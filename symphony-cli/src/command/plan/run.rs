//! `symphony plan run`: begins a plan or takes it up, and carries it out.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use symphony_core::plan::state::{OnFailure, RetryMode};
use symphony_core::plan::{Isolation, PlanOptions};
use symphony_runner::plan::{
    BeginRequest, Begun, OptionChanges, PlanDrive, begin_plan, recorded_path,
};
use symphony_runner::repository::open_repository;

use super::dialog::is_possible;
use super::run_loop::PlanLoop;
use super::source::{PlanSource, load_plan};
use crate::app::App;
use crate::failure::{Exit, Stop};
use crate::place::Session;
use crate::view::{PlanPreview, PlanResult};

/// Largest file of instructions: a prompt of the longest kind.
const INSTRUCTIONS_BYTES_MAX: u64 = 200_000;

/// What `plan run` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "A plan that is under way is taken up where it stands, whatever ended the last `plan run`; complete phases \
                  never run again. Ctrl-C leaves the phases at work to their supervisors; a second one within three seconds \
                  ends them.\n\nExit code 1 when the plan did not complete.\n\nExample:\n  symphony plan run plan.md --max-parallel 2"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct RunArgs {
    /// The plan file; the one that `plan find` names when left out
    file: Option<PathBuf>,
    /// Most phases at once; 4 unless said otherwise
    #[arg(long = "max-parallel", value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    max_parallel: Option<u16>,
    /// Where phases work: `worktree` (each in its own, merged when it is complete) or `none` (all in the project's folder)
    #[arg(long, value_name = "WHERE")]
    isolation: Option<Isolation>,
    /// What happens to a phase that failed for good: `ask` (on a terminal), `wait` for `plan decide`, `fail`, `skip`,
    /// `abort-branch`, `abort-all`
    #[arg(long = "on-failure", value_name = "WHAT")]
    on_failure: Option<OnFailure>,
    /// Let every failure be final
    #[arg(long = "no-retry")]
    no_retry: bool,
    /// Let failed and aborted phases begin anew
    #[arg(long = "retry-failed")]
    retry_failed: bool,
    /// Go on with the file as it is now, though it was changed since the plan began; complete phases stay
    #[arg(long = "accept-changes")]
    accept_changes: bool,
    /// Begin another plan of this file, though the last one has ended
    #[arg(long, conflicts_with_all = ["retry_failed", "accept_changes"])]
    new: bool,
    /// A file of instructions for every phase
    #[arg(long, value_name = "FILE")]
    instructions: Option<PathBuf>,
    /// Print what would be run, and change nothing
    #[arg(long = "dry-run")]
    dry_run: bool,
}

impl RunArgs {
    pub(super) fn run(&self, app: &App) -> anyhow::Result<Exit> {
        app.surroundings.refuse_agents()?;
        let source = load_plan(app, self.file.as_deref())?;
        let mut session = app.session()?;
        let options = self.options(app)?;
        if self.dry_run {
            let default = PlanOptions::default();
            let preview = PlanPreview::new(
                &source.dag,
                options.max_parallel.unwrap_or(default.max_parallel),
                options.isolation.unwrap_or(default.isolation),
            );
            app.out.answer(&preview)?;
            return Ok(Exit::Done);
        }
        self.carry_out(app, &mut session, source, options)
            .context("run the plan")
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
        source: PlanSource,
        options: OptionChanges,
    ) -> anyhow::Result<Exit> {
        let file = app.surroundings.current.join(&source.path);
        let request = BeginRequest {
            path: recorded_path(&session.project, &file),
            document: source.plan,
            options,
            accept_changes: self.accept_changes,
            retry_failed: self.retry_failed,
            anew: self.new,
        };
        let config = session.config()?;
        let repository = open_repository(&session.project, &config)?;
        let project = &session.project;
        let (record, begun) = begin_plan(&mut session.store, project, &repository, &request)?;
        let installation = session.installation.clone();
        let Some(mut drive) = PlanDrive::take(&installation, project, &record.id)? else {
            let message = format!("another process is at work with plan {}", record.id);
            return Err(Stop::new(Exit::Busy, message)
                .hint("`symphony plan status` shows how far it is")
                .into());
        };
        if begun == Begun::Ended {
            let conclusion = drive.conclude(&mut session.store)?;
            let result = PlanResult::new(&record, conclusion)?;
            app.out.answer(&result)?;
            app.out.note(&format!(
                "Plan {} has ended ({}): `--retry-failed` goes on with what failed, `--new` begins another.",
                record.id, record.state.status
            ));
            return Ok(result.exit());
        }
        // a person at the terminal is asked, unless this command was told to wait
        let may_ask = self.on_failure != Some(OnFailure::Wait);
        let mode = match record.options.on_failure {
            OnFailure::Ask | OnFailure::Wait if may_ask && is_possible(app.out) => {
                Some(OnFailure::Ask)
            }
            OnFailure::Ask => Some(OnFailure::Wait),
            _ => None,
        };
        PlanLoop::new(app, drive, &mut session.store, mode)?.go_on(&record, begun)
    }
}

fn read_instructions(app: &App, file: &std::path::Path) -> anyhow::Result<String> {
    let path = app.surroundings.current.join(file);
    let what = || format!("read the instructions {}", file.display());
    let length = std::fs::metadata(&path).with_context(what)?.len();
    if length > INSTRUCTIONS_BYTES_MAX {
        let message = format!("{}: longer than {INSTRUCTIONS_BYTES_MAX} bytes", what());
        return Err(Stop::new(Exit::Failed, message).into());
    }
    std::fs::read_to_string(&path).with_context(what)
}
