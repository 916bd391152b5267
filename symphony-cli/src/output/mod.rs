//! Where answers go: standard output and standard error, a pager, a screen that is redrawn.
//!
//! Standard output carries data only; everything else is standard error. What is written comes from `symphony-view`.

mod long;
mod pager;
mod screen;
mod stream;
mod terminal;

pub(crate) use long::LongAnswer;
pub(crate) use pager::{Paging, Wanted};
pub(crate) use screen::Screen;
pub(crate) use stream::Output;
