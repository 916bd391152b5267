//! What a person or a program sees: one view value, written as text or as JSON.
//!
//! Text goes through [`Page`], which neutralises every stored text, so that no title or log line has power over the
//! terminal. Standard output carries data only; everything else is standard error.

mod page;
mod pager;
mod screen;
mod stream;
mod table;
mod terminal;
mod text;
mod time;
mod tone;
mod view;

pub(crate) use page::Page;
pub(crate) use pager::Paging;
pub(crate) use screen::Screen;
pub(crate) use stream::Output;
pub(crate) use table::Table;
pub(crate) use text::{one_line, plural};
pub(crate) use time::{Clock, ago, compact_duration, in_future};
pub(crate) use tone::painted_log;
pub(crate) use view::{List, View};
