//! Why an exchange with a tracker or a forge ends early.

use symphony_store::StoreError;
use symphony_tracker::fault::Fault;

use crate::error::RunnerError;

/// Why an exchange ends early. The first kind holds the tracker or the forge; the second is an error of Symphony's.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The other side is not to be asked for now.
    Fault(Fault),
    /// Symphony cannot go on.
    Error(RunnerError),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<RunnerError> for Stop {
    fn from(error: RunnerError) -> Self {
        Self::Error(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Error(error.into())
    }
}
