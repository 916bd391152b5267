//! The loop around attempts: settings, tracker, workspaces, workers, retries, and what people see of them.
