//! What the service for openai/symphony's `WORKFLOW.md` knows: jobs of workers, retries, and what ended. Its tickets are a
//! tracker's: they are no issues, and nothing here touches those.

pub(crate) mod ended;
pub(crate) mod job;
pub(crate) mod retry;
