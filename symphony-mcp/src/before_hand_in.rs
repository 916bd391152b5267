//! What is done with a commit before it is recorded as handed in.

use std::fmt;
use std::sync::Arc;

use symphony_store::Store;

use crate::answer::ToolError;

type Step = dyn Fn(&mut Store, &str) -> Result<(), String> + Send + Sync;

/// A step before a commit is recorded as handed in: on a worker the commit goes to the hub, because a record of a commit that only one
/// host has is worth nothing once that host is lost. Without a step nothing is done. Clones share it.
#[derive(Clone, Default)]
pub struct BeforeHandIn(Option<Arc<Step>>);

impl BeforeHandIn {
    /// Makes it from a step that gets the commit's name, and says what is wrong, as the part of a sentence, when it fails.
    pub fn new(
        step: impl Fn(&mut Store, &str) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(step)))
    }

    /// Takes the step, if there is one.
    ///
    /// # Errors
    /// When it fails: then nothing may be recorded.
    pub(crate) fn take(&self, store: &mut Store, commit: &str) -> Result<(), ToolError> {
        let Some(step) = &self.0 else {
            return Ok(());
        };
        step(store, commit).map_err(|why| {
            ToolError::new(format!(
                "nothing was recorded, because your commits could not be brought to the project's shared repository: {why}. Your work \
                 is safe. Wait a minute, then make the same call again"
            ))
        })
    }
}

impl fmt::Debug for BeforeHandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.0.is_some() {
            "BeforeHandIn(step)"
        } else {
            "BeforeHandIn(nothing)"
        };
        f.write_str(name)
    }
}
