//! Lines of runs' and gates' logs, each as one fragment, so that a page can append them one by one while they come.

mod arguments;
mod call;
mod line;

pub use line::{log_line, log_line_at};
