//! The dispatch paths: which layers and sections each agent gets, and in which order.

mod background;
mod content;
mod layers;
mod phase;
mod plan;
mod profile;
mod resumed;
mod wizard;

pub use background::{BackgroundDispatch, WorkspaceProject};
pub use phase::{PhaseAssignment, PhaseDispatch};
pub use plan::PlanPhaseDispatch;
pub use profile::ProfileDispatch;
pub use wizard::WizardDispatch;
