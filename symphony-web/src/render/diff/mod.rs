//! Unified diffs of git as tables: read, paired for the split view, drawn.

mod file;
mod marks;
mod pair;
mod parse;
mod path;
mod row;
mod view;

pub use file::{Change, Diff, FileDiff, Hunk, Line, Side, Token};
pub use pair::{Pair, pairs};
pub use parse::{DIFF_LINES_MAX, FILE_LINES_MAX, parse};
pub use view::{DiffPage, Layout, Place, diff, elsewhere, file_id, line_id};

pub(super) use row::edit_table;
