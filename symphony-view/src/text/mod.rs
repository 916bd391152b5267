//! Text for a person: a page under construction, its tables, lines and times.
//!
//! Text goes through [`Page`], which neutralises every stored text, so that no title or log line has power over the
//! terminal.

mod line;
mod page;
mod table;
mod time;
mod tone;
mod view;

pub use line::{one_line, plural};
pub use page::Page;
pub use table::Table;
pub use time::{Clock, ago, compact_duration, in_future};
pub use tone::painted_log;
pub use view::{Document, List, Listed, View};
