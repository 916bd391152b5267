//! Integration tests of symphony-core.

mod config;
mod tool_table;
