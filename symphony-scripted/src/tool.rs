//! Tools: which one a call means, and what it answers.

use std::path::PathBuf;

use serde_json::Value;

use crate::answer::Answer;
use crate::mcp_client::McpClients;
use crate::{bash, file_tools};

/// The built-in tools.
pub(crate) const BUILT_IN: [&str; 4] = ["Bash", "Read", "Write", "Edit"];

/// The tools of a run.
pub(crate) struct Tools {
    pub(crate) cwd: PathBuf,
    pub(crate) built_in: Vec<String>,
    pub(crate) mcp: McpClients,
}

impl Tools {
    /// Returns the names of all tools.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = self.built_in.clone();
        names.extend(self.mcp.tool_names());
        names
    }

    /// Calls a tool. Whatever goes wrong is an answer, as it is for a model.
    pub(crate) async fn call(&self, name: &str, input: &Value) -> Answer {
        let built_in = self.built_in.iter().any(|known| known == name);
        match name {
            "Bash" if built_in => bash::run(&self.cwd, input).await,
            "Read" if built_in => file_tools::read(&self.cwd, input),
            "Write" if built_in => file_tools::write(&self.cwd, input),
            "Edit" if built_in => file_tools::edit(&self.cwd, input),
            other => match self.mcp.call(other, input).await {
                Some(answer) => answer,
                None => Answer::error(format!(
                    "<tool_use_error>Error: No such tool available: {other}</tool_use_error>"
                )),
            },
        }
    }
}
