//! Sessions of agents: whether a run resumes the session of an earlier one, and what people are shown about it.
//!
//! A session belongs to a task, a role, a provider and a model. The ledger always suffices: whatever is in doubt, a run
//! starts a new session with its full prompt (`docs/design/0041`).

mod id;
mod plan;
mod record;
mod refused;

pub use id::{SessionForm, SessionId};
pub use plan::{PastRun, ResumePlan, SESSION, SessionKey, SessionQuery, WhyNew, plan_session};
pub use record::{RESUMED, SessionRecord};
pub use refused::{ResumedEnd, is_refused};
