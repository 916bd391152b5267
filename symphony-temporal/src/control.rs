//! What a tick asks of the service: to hand a run over, and to forget one.

use symphony_core::config::TemporalSettings;
use symphony_core::id::RunId;
use symphony_core::placement::Pool;
use tokio::runtime::Runtime;

use crate::connect::Line;
use crate::error::TemporalError;
use crate::form::{Form, Standing, Submitted};
use crate::ticket::Times;
use crate::{activity, workflow};

/// A connection of whoever claims runs. Each call waits for its answer, for a few seconds at most.
#[derive(Debug)]
pub struct Control {
    runtime: Runtime,
    line: Line,
    /// What a run is there, once the service was asked.
    form: Option<Form>,
}

impl Control {
    /// Connects. `identity` names whoever asks, in the service's own pages.
    ///
    /// # Errors
    /// When a file with credentials cannot be read, or the service cannot be reached.
    pub fn connect(service: &TemporalSettings, identity: &str) -> Result<Self, TemporalError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(TemporalError::Start)?;
        let line = runtime.block_on(Line::connect(service, identity))?;
        Ok(Self {
            runtime,
            line,
            form: None,
        })
    }

    /// Hands a run over to the workers of a pool. One that the service has already is left alone, and one whose activity has ended, although
    /// no worker has begun the run, is handed over again: a worker may have died with it, or a person ended it in the service's own pages.
    ///
    /// # Errors
    /// When the service cannot be reached, or refuses.
    pub fn submit(
        &mut self,
        run: &RunId,
        pool: &Pool,
        times: Times,
    ) -> Result<Submitted, TemporalError> {
        // A look takes a tenth of the time of an attempt to start, and most runs that wait were handed over before.
        if self.standing(run)? == Standing::Open {
            return Ok(Submitted::Before);
        }
        match self.form()? {
            Form::Activity => self
                .runtime
                .block_on(activity::start(&self.line, run, pool, times)),
            Form::Workflow => self
                .runtime
                .block_on(workflow::start(&self.line, run, pool, times)),
        }
    }

    /// Checks that the namespace is there, and returns what a run is in it.
    ///
    /// # Errors
    /// When the service cannot be reached, or has no such namespace.
    pub fn check(&mut self) -> Result<Form, TemporalError> {
        let form = self.runtime.block_on(self.line.form())?;
        self.form = Some(form);
        Ok(form)
    }

    /// Returns what the service has of a run.
    ///
    /// # Errors
    /// When the service cannot be reached, or refuses.
    pub fn standing(&mut self, run: &RunId) -> Result<Standing, TemporalError> {
        match self.form()? {
            Form::Activity => self.runtime.block_on(activity::standing(&self.line, run)),
            Form::Workflow => self.runtime.block_on(workflow::standing(&self.line, run)),
        }
    }

    /// Asks the service to forget a run that no worker may begin any more.
    ///
    /// # Errors
    /// When the service cannot be reached, or refuses.
    pub fn cancel(&mut self, run: &RunId, why: &str) -> Result<(), TemporalError> {
        match self.form()? {
            Form::Activity => self
                .runtime
                .block_on(activity::cancel(&self.line, run, why)),
            Form::Workflow => self
                .runtime
                .block_on(workflow::terminate(&self.line, run, why)),
        }
    }

    fn form(&mut self) -> Result<Form, TemporalError> {
        self.form.map_or_else(|| self.check(), Ok)
    }
}
